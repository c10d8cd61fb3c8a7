package host

import (
	"context"
	"time"

	"github.com/cutwatch/cutwatch/internal/host/sidecar"
)

// Probe is a probe that goes on in the background, in a container beside ours,
// in a process of its own or in another step.
type Probe interface {
	// Mark leaves a mark for it; Read reads one of its and tells whether it was there.
	Mark(ctx context.Context, name string, mark any) error
	Read(ctx context.Context, name string, mark any) (bool, error)
	// Wait waits for its end and returns its exit code; -1 where it was killed.
	Wait(ctx context.Context) (int, error)
	// Follow passes on the lines of its log from a moment on, until it ends.
	Follow(ctx context.Context, since time.Time, line func(string)) error
	// Interrupt has it stop and judge what there is.
	Interrupt(ctx context.Context) error
	// Fetch brings its record into a folder, which it may be in already.
	Fetch(ctx context.Context, dir string) error
	// Remove ends it, if it still runs, and removes what is left of it but the record.
	Remove(ctx context.Context) error
}

// Sibling is the probe in a container.
type Sibling struct{ *sidecar.Probe }

var _ Probe = Sibling{}

// Interrupt sends it SIGINT.
func (s Sibling) Interrupt(ctx context.Context) error { return s.Signal(ctx, "SIGINT") }

// Fetch copies its files into dir.
func (s Sibling) Fetch(ctx context.Context, dir string) error {
	_, err := s.Probe.Fetch(ctx, dir)
	return err
}
