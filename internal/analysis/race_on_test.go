//go:build race

package analysis

// simRuns is how many runs each line of a table has: fewer under the race detector.
const simRuns = 300
