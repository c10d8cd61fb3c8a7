//go:build !race

package analysis

// simRuns is how many runs each line of a table has.
const simRuns = 10000
