package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/format"
)

// Log takes lines about what goes on. They are safe to print.
type Log struct {
	Note  func(line string) // of ours
	Probe func(line string) // that a probe printed
}

const maxLine = 4000

// note says something of ours.
func (l Log) note(text string, args ...any) {
	l.Note(format.Clean(fmt.Sprintf(text, args...), maxLine))
}

// passOn passes on a line of a probe's.
func (l Log) passOn(line string) { l.Probe(format.Clean(line, maxLine)) }

// Ended is the error of a probe that ended before the deploy could begin.
type Ended struct{ ExitCode int }

func (e Ended) Error() string {
	return fmt.Sprintf("the probe ended, with exit code %d, before the deploy could begin", e.ExitCode)
}

// AwaitReady waits until the probe's baseline is in and passes on what it prints
// until then. Its error is [Ended], ctx's, or that the probe cannot be reached.
func AwaitReady(ctx context.Context, p Probe, log Log) (marker.Ready, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	printing := follow(ctx, p, time.Time{}, log)
	defer printing.end(0)
	type end struct {
		code int
		err  error
	}
	over := make(chan end, 1)
	go func() {
		code, err := p.Wait(ctx)
		over <- end{code, err}
	}()
	ticker := time.NewTicker(marker.Poll)
	defer ticker.Stop()
	for {
		var ready marker.Ready
		if ok, err := p.Read(ctx, marker.ReadyFile, &ready); err == nil && ok {
			return ready, stillThere(context.WithoutCancel(ctx), p)
		}
		select {
		case e := <-over:
			if e.err != nil {
				return ready, e.err
			}
			printing.end(lastLines)
			return ready, Ended{e.code}
		case <-ticker.C:
		}
	}
}

// stillThere is an [Ended] where the probe has ended since: a deploy that begins
// now would not be watched.
func stillThere(ctx context.Context, p Probe) error {
	var done marker.Done
	ok, err := p.Read(ctx, marker.DoneFile, &done)
	if err == nil && ok {
		return Ended{done.ExitCode}
	}
	return err
}

// A following passes on a probe's log beside what else goes on.
type following struct {
	stop context.CancelFunc
	over chan error // how it ended; closed then
	log  Log
}

// follow begins to pass on the probe's log, until that ends or is told to.
func follow(ctx context.Context, p Probe, since time.Time, log Log) *following {
	ctx, stop := context.WithCancel(ctx)
	f := &following{stop, make(chan error, 1), log}
	go func() {
		defer close(f.over)
		f.over <- p.Follow(ctx, since, log.passOn)
	}()
	return f
}

// end waits so long for the log's own end, and ends it then. Nothing is passed
// on afterwards.
func (f *following) end(patience time.Duration) {
	defer f.stop()
	timer := time.AfterFunc(patience, f.stop)
	defer timer.Stop()
	if err := <-f.over; err != nil {
		f.log.note("the probe's own log cannot be shown: %v", err)
	}
}

// Bounds of the wait for a probe's end.
const (
	// afterMax is how long after its max-duration a probe may take to judge.
	afterMax = time.Minute
	// flush is how long a probe that was interrupted may take to write its record.
	flush = 4 * time.Second
	// lastLines is how long the log of a probe that has ended is waited for.
	lastLines = 2 * time.Second
)

// AwaitEnd tells the probe how the deploy's step ended and waits for its own
// end, passing on what it prints. When ctx is done, or its maximum duration is
// over for long, it is interrupted, and what there is is left to be judged. The
// error says that the probe could not be reached or brought to its end.
func AwaitEnd(ctx context.Context, p Probe, outcome string, log Log) error {
	steady := context.WithoutCancel(ctx)
	var ready marker.Ready
	if _, err := p.Read(steady, marker.ReadyFile, &ready); err != nil {
		ready = marker.Ready{} // only from where on the log is shown
	}
	var begun marker.Begun
	if _, err := p.Read(steady, marker.BegunFile, &begun); err != nil {
		begun = marker.Begun{} // only how long at most is waited
	}
	if err := p.Mark(steady, marker.StopFile, marker.Stop{Outcome: outcome}); err != nil {
		return fmt.Errorf("the probe cannot be told that the deploy is over: %w", err)
	}
	printing := follow(steady, p, ready.At, log)
	defer printing.end(0)

	waiting, stop := ctx, context.CancelFunc(func() {})
	if begun.MaxDuration > 0 {
		waiting, stop = context.WithDeadlineCause(ctx, begun.At.Add(begun.MaxDuration+afterMax), errOverdue)
	}
	defer stop()
	code, err := p.Wait(waiting)
	if err != nil && waiting.Err() != nil {
		log.note("%v: the probe is stopped, and what it recorded is judged", context.Cause(waiting))
		code, err = interrupt(steady, p)
	}
	if err != nil {
		return err
	}
	printing.end(lastLines)
	if code == -1 || code == 137 {
		log.note("the probe was killed; what it recorded until then is judged")
	}
	return nil
}

// errOverdue is why a probe is stopped that has not ended by itself.
var errOverdue = errors.New("max-duration is over")

// interrupt has the probe stop at once.
func interrupt(ctx context.Context, p Probe) (int, error) {
	if err := p.Interrupt(ctx); err != nil {
		return 0, fmt.Errorf("the probe cannot be stopped: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, flush)
	defer cancel()
	code, err := p.Wait(ctx)
	if ctx.Err() != nil {
		return -1, nil // its record is whole up to the last quarter of a second
	}
	return code, err
}
