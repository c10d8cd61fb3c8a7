package report_test

import (
	"math"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// scene is a judged run built by hand.
type scene struct {
	head sample.Run
	a    *analysis.Analysis
	v    verdict.Verdict
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

func ptr[T any](v T) *T { return &v }

// newScene is a run of so many seconds in which split tells who answers each
// bucket of requests.
func newScene(length float64, split func(at float64) (old, new, other int)) *scene {
	s := &scene{
		head: sample.Run{
			Schema: 1, Cutwatch: "0.1.0", ID: "1a2b", StartedAt: "2026-11-30T12:00:00.000Z",
			Config: config.Config{URL: "https://shop.example.com/health"},
		},
		a: &analysis.Analysis{
			Duration: seconds(length), End: sample.EndComplete,
			Target: analysis.Target{Address: "203.0.113.7:443", Protocol: "HTTP/1.1"},
			Deploy: analysis.Deploy{Outcome: sample.Unknown},
			Series: analysis.Series{Step: 100 * time.Millisecond},
			Prober: analysis.Prober{LateP99: 400 * time.Microsecond, LateMax: 3100 * time.Microsecond},
		},
	}
	for i := range int(math.Round(length * 10)) {
		var b analysis.Bucket
		b.Old, b.New, b.Other = split(float64(i) / 10)
		s.a.Series.Buckets = append(s.a.Series.Buckets, b)
		s.a.Requests.Total += b.Old + b.New + b.Other
		s.a.Requests.OK += b.Old + b.New + b.Other
	}
	return s
}

// version adds a version with its instances, all alike.
func (s *scene) version(id, role string, first, lastStart, lastEnd float64, instances ...string) {
	v := analysis.Version{ID: id, Role: role, First: seconds(first), LastStart: seconds(lastStart), LastEnd: seconds(lastEnd)}
	for _, i := range instances {
		v.Instances = append(v.Instances, analysis.Instance{
			ID: i, Role: role, First: v.First, LastStart: v.LastStart, LastEnd: v.LastEnd, LastFreshStart: v.LastStart,
		})
	}
	s.a.Versions = append(s.a.Versions, v)
}

// fail adds a failure and counts it everywhere.
func (s *scene) fail(f analysis.Failure) {
	f.N = int64(60000 + len(s.a.Failures))
	f.ID = sample.RequestID(s.head.ID, f.N)
	s.a.Failures = append(s.a.Failures, f)
	c := &s.a.Requests
	c.Total++
	c.Failed++
	b := &s.a.Series.Buckets[min(int(f.Ended/s.a.Series.Step), len(s.a.Series.Buckets)-1)]
	switch f.Attribution {
	case analysis.ByDeploy:
		c.Deploy++
		b.Deploy++
	case analysis.Undecided:
		c.Undecided++
		b.Unclear++
	case analysis.ByConfig:
		c.Config++
		b.NotDeploy++
	case analysis.ByProber:
		c.ProberOwn++
		b.NotDeploy++
	default:
		c.Background++
		b.NotDeploy++
	}
}

// slow adds a slow request.
func (s *scene) slow(from, to float64, role, outcome string) {
	s.a.Series.Bars = append(s.a.Series.Bars, analysis.Bar{From: seconds(from), To: seconds(to), Role: role, Outcome: outcome})
	s.head.Config.SlowURL = "https://shop.example.com/slow"
	s.a.Requests.Total++
	c := &s.a.Slow
	c.Total++
	switch outcome {
	case "completed":
		c.Completed++
		s.a.Requests.OK++
	case "cut":
		c.Cut++
		s.a.Requests.Total-- // fail counts it
	case "failed":
		c.Failed++
		s.a.Requests.Total--
	default:
		c.Unfinished++
	}
}

// deploy sets the deploy's own life and its signals' names, evenly over it.
func (s *scene) deploy(from, to, windowTo float64, outcome, source string, names ...string) {
	s.a.Baseline = &analysis.Span{To: seconds(from)}
	s.a.Deploy = analysis.Deploy{
		Started: ptr(seconds(from)), Ended: ptr(seconds(to)), Outcome: outcome,
		Window: &analysis.Span{From: seconds(from), To: seconds(windowTo)},
	}
	for i, n := range names {
		at := seconds(from + (to-from)*float64(i)/float64(len(names)-1))
		s.a.Deploy.Signals = append(s.a.Deploy.Signals, analysis.Signal{At: at, Source: source, Name: n})
	}
}

// swap is who answers where old gives way to new between two moments, by
// halves, with some unevenness that is the same every time.
func swap(rate int, from, to float64) func(at float64) (int, int, int) {
	return func(at float64) (int, int, int) {
		switch {
		case at < from:
			return rate, 0, 0
		case at >= to:
			return 0, rate, 0
		}
		share := 0.5 + 0.12*math.Sin(at*3)
		n := int(math.Round(share * float64(rate)))
		return rate - n, n, 0
	}
}

func latency(n int, p50, p95, p99, longest float64) *analysis.Latency {
	ms := func(f float64) time.Duration { return seconds(f / 1000) }
	return &analysis.Latency{N: n, P50: ms(p50), P95: ms(p95), P99: ms(p99), Max: ms(longest)}
}
