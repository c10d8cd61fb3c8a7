package box

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func ignoreSignals(sample.Signal) {}

// A deploy that ends early returns while old still drains.
func TestRolloutEndsEarly(t *testing.T) {
	s := tiny(FrontEdge)
	s.Rollout.End, s.Rollout.Drain = EndEarly, 1500*ms
	b := startBox(t, s)
	var signals []sample.Signal
	if err := b.Rollout().Run(t.Context(), func(s sample.Signal) { signals = append(signals, s) }); err != nil {
		t.Fatal(err)
	}
	if b.current()[0].gone() {
		t.Error("old is gone at the deploy's end")
	}
	if end := signals[len(signals)-1]; end.Kind != sample.SignalEnd || end.Outcome != sample.Succeeded {
		t.Errorf("the last signal is %+v", end)
	}
	told := len(signals)
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !b.current()[0].gone() {
		t.Error("old runs on")
	}
	if len(signals) != told {
		t.Errorf("signals after the end: %+v", signals[told:])
	}
}

func TestRolloutRunsOnce(t *testing.T) {
	b := startBox(t, tiny(FrontDirect))
	if err := b.Rollout().Run(t.Context(), ignoreSignals); err != nil {
		t.Fatal(err)
	}
	if err := b.Rollout().Run(t.Context(), ignoreSignals); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second run: %v", err)
	}
}

func TestRolloutStopsWithItsContext(t *testing.T) {
	s := tiny(FrontEdge)
	s.Rollout.Overlap = 60_000 * ms
	b := startBox(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	err := b.Rollout().Run(ctx, func(s sample.Signal) {
		if s.Name == "DEPLOYING" {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want the context's cause", err)
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// Close in the middle of a rollout ends it, and everything else.
func TestCloseInTheMiddle(t *testing.T) {
	s := tiny(FrontEdge)
	s.Rollout.End, s.Rollout.Drain = EndEarly, 60_000*ms
	b := startBox(t, s)
	if err := b.Rollout().Run(t.Context(), ignoreSignals); err != nil {
		t.Fatal(err)
	}
	c := onInstance(t, b, "inflight")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.read(); err == nil {
		t.Error("answered by a closed box")
	}
	for _, in := range b.instances {
		if alive(in.proc.Pid) {
			t.Errorf("%s lives", in.id)
		}
	}
	if truth := b.Truth(); truth.InFlight != 1 || truth.LastStop != nil || len(truth.Drops) > 0 {
		t.Errorf("the closing itself is in the books: %d in flight, %v, %v", truth.InFlight, truth.LastStop, drops(truth))
	}
}

// SIGKILL comes once the grace is over.
func TestGraceEnds(t *testing.T) {
	s := tiny(FrontDirect)
	s.App.OnTerm, s.Rollout.Grace = TermIgnore, 300*ms
	b := startBox(t, s)
	old := b.current()[0]
	begin := time.Now()
	if err := b.stop(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 300*time.Millisecond || !old.gone() {
		t.Errorf("gone %v after %v", old.gone(), took)
	}
}

// A version that does not start is a failed deploy.
func TestRolloutFails(t *testing.T) {
	s := tiny(FrontDirect)
	s.App.NewFault = Fault{Kind: FaultSlowStart, Delay: 60_000 * ms}
	b := startBox(t, s)
	b.startLimit = 300 * time.Millisecond
	var last sample.Signal
	if err := b.Rollout().Run(t.Context(), func(s sample.Signal) { last = s }); err != nil {
		t.Errorf("a failed deploy is no error, got %v", err)
	}
	if last.Kind != sample.SignalEnd || last.Outcome != sample.Failed || !strings.Contains(last.Message, "did not say where it listens") {
		t.Errorf("the last signal is %+v", last)
	}
}
