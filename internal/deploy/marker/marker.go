// Package marker is the source of a deploy whose beginning and end are told from
// outside, by other steps of the same job: a probe in the background and those
// who steer it leave each other small JSON files in a folder, the marks. The
// same files serve a process on the same machine, a step in the background and
// a container (whose folder is written and read through the engine's API).
package marker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	// Poll is how often a mark is looked for.
	Poll = 250 * time.Millisecond
	// Pulse is how often a living probe touches its begun mark.
	Pulse = time.Second
	// patience is how long a mark may be unreadable: half written, say.
	patience = 5 * time.Second
)

// Source is the deploy of which the marks tell.
type Source struct {
	dir    string
	strict bool
	skip   context.CancelCauseFunc
	ready  Ready
	at     int64 // of the run's clock: when the baseline was in
}

// ErrSkipped is why a run ends whose deploy did not take place.
var ErrSkipped = errors.New("no deploy ran: its step was skipped")

var _ deploy.Source = (*Source)(nil)

// New is the source of the marks in dir. A strict one begins with the
// baseline's end and waits for the stop mark; another waits for the go mark
// first, and a stop mark without one means that the deploy began with the
// baseline's end. skip is called with [ErrSkipped] when the deploy's step turns
// out to have been skipped.
func New(dir string, strict bool, skip context.CancelCauseFunc) *Source {
	return &Source{dir: dir, strict: strict, skip: skip}
}

// Name is "marker".
func (s *Source) Name() string { return "marker" }

// Saw takes what the baseline showed, and when it was in (ns since the run's
// start). It is called before Run.
func (s *Source) Saw(ready Ready, at int64) { s.ready, s.at = ready, at }

// Run tells the deploy's start, leaves the ready mark, and waits for the stop mark.
func (s *Source) Run(ctx context.Context, emit deploy.Emit) error {
	w := wait{Source: s, emit: emit}
	if s.strict {
		w.begin(0)
	}
	s.ready.At = time.Now().UTC()
	if err := Write(s.dir, ReadyFile, s.ready); err != nil {
		return fmt.Errorf("nobody can be told that the baseline is in: %w", err)
	}
	ticker := time.NewTicker(Poll)
	defer ticker.Stop()
	for {
		if over, err := w.look(); over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if w.started && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				emit(sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.TimedOut, Message: "nobody said that the deploy is over"})
			}
			return nil
		case <-ticker.C:
		}
	}
}

// wait is a source that waits for marks.
type wait struct {
	*Source
	emit       deploy.Emit
	started    bool
	unreadable time.Time // since when the stop mark cannot be read; zero: it can
}

// begin tells that the deploy began at a moment of the run's; 0: now.
func (w *wait) begin(at int64) {
	w.started = true
	w.emit(sample.Signal{At: at, Kind: sample.SignalStart, Name: "deploy-started"})
}

// look looks for marks once, and tells whether the deploy is over.
func (w *wait) look() (over bool, err error) {
	if !w.started {
		var begun Go
		if ok, err := Read(w.dir, GoFile, &begun); ok && err == nil {
			w.begin(0)
		}
	}
	var stop Stop
	found, err := Read(w.dir, StopFile, &stop)
	switch {
	case found && stop.Outcome == Skipped:
		w.skip(ErrSkipped)
		return true, nil
	case found:
		if !w.started {
			w.begin(w.at)
		}
		w.emit(end(stop.Outcome))
		return true, nil
	case err == nil:
		w.unreadable = time.Time{}
	case w.unreadable.IsZero():
		w.unreadable = time.Now()
	case time.Since(w.unreadable) > patience:
		return false, fmt.Errorf("the mark of the deploy's end cannot be read: %w", err)
	}
	return false, nil
}

// end is the signal of a step's outcome.
func end(outcome string) sample.Signal {
	s := sample.Signal{Kind: sample.SignalEnd, Name: "deploy-ended"}
	switch outcome {
	case Success:
		s.Outcome, s.Message = sample.Succeeded, "the deploy's step succeeded"
	case Failure:
		s.Outcome, s.Message = sample.Failed, "the deploy's step failed"
	case Cancelled:
		s.Outcome, s.Message = sample.Failed, "the deploy's step was cancelled"
	default:
		s.Outcome, s.Message = sample.Unknown, "nobody said how the deploy's step ended"
	}
	return s
}

// ErrGone is why a probe ends whose folder of marks was removed.
var ErrGone = errors.New("the folder of the probe's marks is gone, so nobody can finish it")

// KeepAlive touches the begun mark until ctx is done, so that others can tell a
// probe that lives from one that was killed. What it cannot touch looks dead.
// Once the mark is gone it calls gone with [ErrGone] and returns.
func KeepAlive(ctx context.Context, dir string, gone context.CancelCauseFunc) {
	ticker := time.NewTicker(Pulse)
	defer ticker.Stop()
	for {
		now := time.Now()
		if err := os.Chtimes(filepath.Join(dir, BegunFile), now, now); errors.Is(err, fs.ErrNotExist) {
			gone(ErrGone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
