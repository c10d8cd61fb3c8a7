package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/probe"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// A panic in the probe ends the run with an error that is no fault of the
// user's, once the deploy that was under way has ended.
func TestAFaultOfTheProbeEndsTheRun(t *testing.T) {
	deploying, over := make(chan struct{}), false
	o := shortRun(t, func(_ context.Context, emit deploy.Emit) error {
		emit(sample.Signal{Kind: sample.SignalStart, Name: "begun"})
		close(deploying)
		time.Sleep(100 * time.Millisecond) // what a deploy does meanwhile
		over = true
		return nil
	})
	r, _, err := begin(o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := probe.New(o.Config, "test", r.start, func(l sample.Line) {
		r.record(l)
		select {
		case <-deploying:
			panic("out of paper")
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	end, err := r.live(t.Context(), p)
	if closeErr := r.out.Close(end); closeErr != nil {
		t.Error(closeErr)
	}
	if _, ok := errors.AsType[*probe.Fault](err); !ok {
		t.Fatalf("error %v, want a fault of the probe", err)
	}
	if _, bad := errors.AsType[*config.InputError](err); bad {
		t.Errorf("it is blamed on the user: %v", err)
	}
	if !over {
		t.Error("the deploy was left")
	}
	if end.Reason != "" {
		t.Errorf("the record ends with %q, as if the run were whole", end.Reason)
	}
}
