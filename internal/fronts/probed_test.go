//go:build linux

package fronts

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	connections  = 20
	slowSeconds  = 2.5
	slowInterval = 250 * time.Millisecond

	overlapped = 40 // requests that new has answered before a deploy goes on
	refused    = 20 // that have failed before a deploy that killed old goes on
)

// rollout is a deploy that a test does itself.
type rollout func(ctx context.Context) error

func (rollout) Name() string { return "fronts" }

// Run does the deploy, within patience.
func (r rollout) Run(ctx context.Context, emit deploy.Emit) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	emit(sample.Signal{Kind: sample.SignalStart, Name: "deploy-started"})
	end := sample.Signal{Kind: sample.SignalEnd, Name: "deploy-ended", Outcome: sample.Succeeded}
	if err := r(ctx); err != nil {
		end.Outcome, end.Message = sample.Failed, err.Error()
	}
	emit(end)
	return nil
}

// probed is a run's judgement and what it was made from.
type probed struct {
	*run.Outcome
	start   time.Time
	samples []*sample.Sample // in order of their end
	ids     map[string]*sample.Sample
}

// probe watches a deploy behind the front on port.
func probe(t *testing.T, port int, deploy rollout) *probed {
	t.Helper()
	cfg := config.Default()
	cfg.URL = "http://" + address(port) + "/"
	cfg.SlowURL = "http://" + address(port) + "/slow?seconds={seconds}"
	cfg.SlowSeconds, cfg.SlowInterval = config.Seconds{slowSeconds}, config.Duration(slowInterval)
	cfg.Connections, cfg.Rate = connections, config.Rate{PerSecond: 100}
	cfg.Baseline = config.Duration(3500 * time.Millisecond)
	cfg.Settle, cfg.Tail = config.Duration(2*time.Second), config.Duration(2*time.Second)
	cfg.CutoverTimeout, cfg.MaxDuration = config.Duration(10*time.Second), config.Duration(time.Minute)
	cfg.ReportDir = t.TempDir()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	out, err := run.Run(t.Context(), run.Options{Config: cfg, Deploy: deploy, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if d := out.Analysis.Deploy; d.Outcome != sample.Succeeded {
		t.Fatalf("the deploy %s: %s", d.Outcome, d.Message)
	}
	p := &probed{Outcome: out, ids: map[string]*sample.Sample{}}
	if p.start, err = time.Parse(time.RFC3339, out.Head.StartedAt); err != nil {
		t.Fatal(err)
	}
	p.read(t, filepath.Join(cfg.ReportDir, run.SamplesFile))
	return p
}

// read reads the samples.
func (p *probed) read(t *testing.T, path string) {
	t.Helper()
	r, err := sample.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // read only
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.Sample != nil {
			p.samples = append(p.samples, l.Sample)
			p.ids[sample.RequestID(p.Head.ID, l.Sample.N)] = l.Sample
		}
	}
}

// since is a moment of the wall clock as a time of the run.
func (p *probed) since(at time.Time) time.Duration { return at.Sub(p.start) }

// tolerance is how far a time that was measured from outside may be from what
// the apps recorded, on a machine that is busy with other things.
func (p *probed) tolerance() time.Duration {
	return max(100*time.Millisecond, 3*p.Analysis.Prober.LateMax)
}
