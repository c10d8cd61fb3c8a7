//go:build race

package sample_test

// manySamples is fewer under the race detector, which makes JSON some twenty times slower.
const manySamples = 30_000
