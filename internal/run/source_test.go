package run

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// source is a deploy that a test plays.
type source func(ctx context.Context, emit deploy.Emit) error

func (source) Name() string                                      { return "test" }
func (s source) Run(ctx context.Context, emit deploy.Emit) error { return s(ctx, emit) }

// shortRun is the options of a run of a second against a service that answers v1.
func shortRun(t *testing.T, s source) Options {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Version", "v1") }))
	t.Cleanup(server.Close)
	cfg := config.Default()
	for name, value := range map[string]string{
		"url": server.URL, "baseline": "400ms", "settle": "0s", "tail": "0s", "cutover-timeout": "200ms", "connections": "2", "report-dir": t.TempDir(),
	} {
		if err := cfg.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Config: cfg, Deploy: s, Version: "0.0.0"}
}

func TestRunRecordsTheSourcesSignals(t *testing.T) {
	before := time.Now()
	o := shortRun(t, func(_ context.Context, emit deploy.Emit) error {
		emit(sample.Signal{Kind: sample.SignalStart, Name: "begun"})
		emit(sample.Signal{Kind: sample.SignalPhase, Name: "BUILDING", At: int64(450 * time.Millisecond)})
		return errors.New("the platform went away")
	})
	out, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var signals []sample.Signal
	in, err := sample.Open(o.Config.ReportDir + "/" + SamplesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.Signal == nil {
			continue
		}
		if l.Signal.At <= 0 || l.Signal.At > int64(time.Since(before)) {
			t.Errorf("signal %+v is not of this run", l.Signal)
		}
		s := *l.Signal
		if s.Name != "BUILDING" { // stamped by the run
			s.At = 0
		}
		signals = append(signals, s)
	}
	want := []sample.Signal{
		{Kind: sample.SignalBaseline, Source: "run", Name: "baseline-in"},
		{Kind: sample.SignalStart, Source: "test", Name: "begun"},
		{Kind: sample.SignalPhase, Source: "test", Name: "BUILDING", At: int64(450 * time.Millisecond)},
		{Kind: sample.SignalEnd, Source: "test", Name: "deploy-lost", Outcome: sample.Unknown, Message: "the platform went away"},
	}
	if d := cmp.Diff(want, signals); d != "" {
		t.Errorf("signals (-want +got):\n%s", d)
	}
	if out.Head.Deploy != "test" || out.Analysis.End != sample.EndCutoverTimeout {
		t.Errorf("deploy %q, end %q", out.Head.Deploy, out.Analysis.End)
	}
}

func TestRunEndsTheSourceWithTheSignal(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := deploy.Interrupt{Signal: syscall.SIGINT}
	var cause error
	o := shortRun(t, func(ctx context.Context, emit deploy.Emit) error {
		emit(sample.Signal{Kind: sample.SignalStart, Name: "begun"})
		cancel(interrupt)
		<-ctx.Done()
		cause = context.Cause(ctx)
		return nil
	})
	out, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if cause != interrupt {
		t.Errorf("the source was ended with %v, want %v", cause, interrupt)
	}
	if out.Analysis.End != sample.EndSignal {
		t.Errorf("end %q, want %q", out.Analysis.End, sample.EndSignal)
	}
}

func TestRunGoesOnWithAPanicOfTheSource(t *testing.T) {
	o := shortRun(t, func(context.Context, deploy.Emit) error { panic("broken source") })
	defer func() {
		if got := recover(); got != "broken source" {
			t.Errorf("recovered %v", got)
		}
	}()
	_, err := Run(t.Context(), o)
	t.Errorf("returned %v", err)
}
