//go:build race

package run

// manySamples is fewer under the race detector, which makes JSON some twenty times slower.
const manySamples = 30_000
