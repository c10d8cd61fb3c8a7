//go:build !race

package run

const manySamples = 1_000_000
