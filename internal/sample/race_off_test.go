//go:build !race

package sample_test

// manySamples is two and a half hours at the default rates.
const manySamples = 1_000_000
