// Package appspec knows the numbers of App Platform's app spec that decide how
// an old instance ends, and writes the lines that change them.
//
// An instance that is to be replaced is sent no new requests any more;
// drain_seconds later it gets SIGTERM, and grace_period_seconds later SIGKILL.
package appspec

import (
	"fmt"
	"math"
	"time"
)

// What termination is where the spec does not set it, and the most it can be,
// in seconds (the reference of the app spec).
const (
	DefaultDrain = 15
	DefaultGrace = 120
	MaxDrain     = 110
)

// Drain is the drain_seconds that requests of that length need, a quarter more
// than they take, and whether the platform allows so many.
func Drain(need time.Duration) (seconds int, enough bool) {
	n := int(math.Ceil(need.Seconds()*1.25)) + 1
	if n > MaxDrain {
		return MaxDrain, need < MaxDrain*time.Second
	}
	return max(n, 1), true
}

// Termination is the line for a service that sets both, in YAML's flow style, so
// that it can be pasted as it is.
func Termination(drain, grace int) string {
	return fmt.Sprintf("termination: {drain_seconds: %d, grace_period_seconds: %d}", drain, grace)
}
