package report

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func num(f float64) *float64 { return &f }

func TestAsPast(t *testing.T) {
	r := &Result{
		StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "fail",
		Requests: Requests{Total: 1000, Failed: 5, Deploy: 2},
		Cutover:  &Cutover{OverlapMS: num(-12.5), Drain: &Drain{Lower: 15000, Exact: true}},
		Latency:  Latencies{Before: &Latency{P99: 80}, During: &Latency{P99: 90.125}},
	}
	want := sample.PastRun{
		StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "fail", Requests: 1000, Failed: 5, Deploy: 2,
		OverlapMS: num(-12.5), DrainMS: num(15000), DrainExact: true, P99BeforeMS: num(80), P99DuringMS: num(90.125),
	}
	if diff := cmp.Diff(want, AsPast(r)); diff != "" {
		t.Error(diff)
	}
	if got := AsPast(&Result{}); got != (sample.PastRun{}) {
		t.Errorf("the headline of nothing is %+v, want nothing", got)
	}
}

func TestSane(t *testing.T) {
	good := sample.PastRun{StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "pass", Requests: 10, Failed: 2, Deploy: 1, OverlapMS: num(-1)}
	if !Sane(good) {
		t.Errorf("%+v is refused", good)
	}
	for name, spoil := range map[string]func(*sample.PastRun){
		"no time":             func(p *sample.PastRun) { p.StartedAt = "" },
		"text for a time":     func(p *sample.PastRun) { p.StartedAt = "<b>" },
		"unknown verdict":     func(p *sample.PastRun) { p.Verdict = "splendid" },
		"less than none":      func(p *sample.PastRun) { p.Deploy = -1 },
		"more lost than lost": func(p *sample.PastRun) { p.Deploy = 3 },
		"more lost than sent": func(p *sample.PastRun) { p.Failed = 11 },
		"too many":            func(p *sample.PastRun) { p.Requests = math.MaxInt },
		"too long":            func(p *sample.PastRun) { p.DrainMS = num(1e300) },
		"no number":           func(p *sample.PastRun) { p.P99DuringMS = num(math.NaN()) },
	} {
		p := good
		spoil(&p)
		if Sane(p) {
			t.Errorf("%s: %+v is taken", name, p)
		}
	}
}

// The last 20 deploys, oldest first, whatever folders they lie in.
func TestHistoryOfDeploys(t *testing.T) {
	dir := t.TempDir()
	for i := range 25 {
		writeResult(t, filepath.Join(dir, fmt.Sprintf("%02d", 99-i)), fmt.Sprintf(
			`{"schema": 1, "verdict": "pass", "started_at": "2026-11-%02dT12:00:00.000Z", "requests": {"total": %d}}`, i+1, 100+i))
	}
	writeResult(t, filepath.Join(dir, "again"), `{"schema": 1, "verdict": "pass", "started_at": "2026-11-25T12:00:00.000Z", "requests": {"total": 124}}`)
	writeResult(t, filepath.Join(dir, "odd"), `{"schema": 1, "verdict": "<b>", "started_at": "2026-12-01T12:00:00.000Z", "requests": {"total": 1}}`)
	h, passed, err := ReadHistory(dir)
	if err != nil || len(passed) > 0 {
		t.Fatalf("passed over %q, error %v", passed, err)
	}
	var got []string
	for _, d := range h.Deploys {
		got = append(got, fmt.Sprintf("%s %d", d.StartedAt[8:10], d.Requests))
	}
	var want []string
	for i := 5; i < 25; i++ {
		want = append(want, fmt.Sprintf("%02d %d", i+1, 100+i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deploys, - want + got:\n%s", diff)
	}
	if h.Runs != 27 {
		t.Errorf("%d runs count as exposure, want every one of the 27", h.Runs)
	}
}
