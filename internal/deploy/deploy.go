// Package deploy tells when the deploy begins, what it goes through and how it
// ends. Each source of such signals has its own file or folder.
package deploy

import (
	"context"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Source makes a deploy, or follows one.
type Source interface {
	// Name is the source in signals and in the file's head: "command", "box", "digitalocean".
	Name() string
	// Run begins once the baseline is in, blocks until the deploy is over and
	// emits its start, phases and end. A failed deploy is an end signal with
	// its outcome, not an error; an error means that the deploy could not be
	// begun or followed. When ctx is done it ends what it started and returns.
	Run(ctx context.Context, emit Emit) error
}

// Emit takes a signal as it happens. Where At is 0 the receiver stamps it with
// the present; an empty Source is that of the one that is run.
type Emit func(sample.Signal)

// Timed is a source whose signals carry times of their own, like those of a
// platform's phases: it is told when the run started before Run is called, and
// sets At by that. A time before the start is the start's.
type Timed interface {
	Source
	StartedAt(start time.Time)
}
