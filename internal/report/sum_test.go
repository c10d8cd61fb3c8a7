package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// passed is a result of a deploy that lost nothing, started at so many seconds
// past noon.
func passed(second int) *report.Result {
	return &report.Result{
		Schema: 1, Cutwatch: "0.1.0", StartedAt: fmt.Sprintf("2026-11-30T12:%02d:%02d.000Z", second/60, second%60), DurationMS: 60_000,
		Verdict: verdict.Pass, Reasons: []report.Reason{{Code: "zero-drop", Message: "0 of 1,000 requests failed"}},
		Target: report.Target{URL: "http://shop/", Address: ptr("10.0.0.1:80"), Protocol: ptr("HTTP/1.1")},
		Versions: []report.Version{
			{ID: fmt.Sprint("v", second), Role: "old", FirstMS: 10, LastStartMS: 30_000, LastEndMS: 31_000, Instances: []string{"a"}},
			{ID: fmt.Sprint("v", second+100), Role: "new", FirstMS: 20_000, LastStartMS: 59_000, LastEndMS: 60_000, Instances: []string{"b"}},
		},
		Cutover: &report.Cutover{By: "version", OverlapMS: ptr(10_000.0), Drain: &report.Drain{Lower: 15_000, Upper: ptr(15_001.0), Exact: true}},
		Deploy: report.Deploy{StartedMS: ptr(15_000.0), EndedMS: ptr(40_000.0), Outcome: sample.Succeeded,
			Signals: []report.Signal{{AtMS: 15_000, Source: "box", Name: "DEPLOYING"}}},
		Requests: report.Requests{Total: 1000, OK: 1000, IdleRaceExpected: ptr(0.25)},
		Slow:     report.Slow{Total: 30, Completed: 28, Unfinished: 2, InFlightAtLastAccept: ptr(15), LongestOKMS: ptr(20_001.0)},
		Latency:  report.Latencies{Before: &report.Latency{N: 10, P50: 44.3}, During: &report.Latency{N: 5, P50: 42.9}},
		Power:    &report.Power{RequestsInCutover: 300, MaxFailureRate95: ptr(0.01), MinOutageMS: ptr(20.0)},
		Failures: []report.Failure{}, Diagnosis: []report.Finding{},
		Prober:   report.Prober{LateP99MS: ptr(1.0), LateMaxMS: ptr(3.0)},
		Platform: &report.Platform{Kind: "digitalocean", App: "shop", DeploymentID: ptr(fmt.Sprint("d", second))},
	}
}

// failed is passed with two slow requests cut, and one background failure.
func failed(second int) *report.Result {
	r := passed(second)
	r.Verdict, r.Reasons = verdict.Fail, []report.Reason{{Code: "deploy-failures", Message: "the deploy cut 2 requests"}}
	r.Requests.OK, r.Requests.Failed, r.Requests.Deploy, r.Requests.Background = 997, 3, 2, 1
	r.Slow.Completed, r.Slow.Cut = 26, 2
	cut := report.Failure{ID: "cw-1-7", Lane: "slow", StartedMS: 26_000, EndedMS: 45_000, Class: "status", Status: ptr(504),
		Attribution: "deploy", Reason: "cut-at-stop", Evidence: "it was in flight for 19 s when 2 requests ended at the same moment"}
	lone := report.Failure{ID: "cw-1-9", Lane: "kept", StartedMS: 58_000, EndedMS: 58_003, Class: "status", Status: ptr(502),
		Attribution: "background", Reason: "outside-window", Evidence: "3.0 s after the deploy window's end"}
	r.Failures = []report.Failure{cut, cut, lone}
	r.Failures[1].ID = "cw-1-8"
	r.Diagnosis = []report.Finding{{Code: "drain-too-short", Severity: "error", Summary: "old was stopped too early", Evidence: "2 ended together", Cure: "set termination.drain_seconds: 24"}}
	return r
}

func TestSum(t *testing.T) {
	last := failed(200)
	last.Power, last.Slow.InFlightAtLastAccept, last.Prober.LateMaxMS = nil, nil, ptr(9.0)
	got := report.Sum([]report.Part{{Name: "deploy 1", Result: failed(0)}, {Name: "deploy 2", Result: passed(100)}, {Name: "deploy 3", Result: last}})
	want := &report.Result{
		Schema: 1, Cutwatch: "0.1.0", StartedAt: "2026-11-30T12:00:00.000Z", DurationMS: 260_000,
		Verdict: verdict.Fail,
		Reasons: []report.Reason{
			{Code: "deploy-failures", Message: "deploy 1: the deploy cut 2 requests"}, {Code: "deploy-failures", Message: "deploy 3: the deploy cut 2 requests"},
		},
		Target: failed(0).Target,
		Versions: []report.Version{
			{ID: "v0", Role: "old", FirstMS: 10, LastStartMS: 30_000, LastEndMS: 31_000, Instances: []string{"a"}},
			{ID: "v100", Role: "new", FirstMS: 20_000, LastStartMS: 59_000, LastEndMS: 60_000, Instances: []string{"b"}},
			{ID: "v100", Role: "old", FirstMS: 100_010, LastStartMS: 130_000, LastEndMS: 131_000, Instances: []string{"a"}},
			{ID: "v200", Role: "new", FirstMS: 120_000, LastStartMS: 159_000, LastEndMS: 160_000, Instances: []string{"b"}},
			{ID: "v200", Role: "old", FirstMS: 200_010, LastStartMS: 230_000, LastEndMS: 231_000, Instances: []string{"a"}},
			{ID: "v300", Role: "new", FirstMS: 220_000, LastStartMS: 259_000, LastEndMS: 260_000, Instances: []string{"b"}},
		},
		Deploy: report.Deploy{StartedMS: ptr(15_000.0), EndedMS: ptr(240_000.0), Outcome: sample.Succeeded, Signals: []report.Signal{
			{AtMS: 15_000, Source: "box", Name: "DEPLOYING"}, {AtMS: 115_000, Source: "box", Name: "DEPLOYING"}, {AtMS: 215_000, Source: "box", Name: "DEPLOYING"},
		}},
		Requests: report.Requests{Total: 3000, OK: 2994, Failed: 6, Deploy: 4, Background: 2, IdleRaceExpected: ptr(0.75)},
		Slow:     report.Slow{Total: 90, Completed: 80, Cut: 4, Unfinished: 6, LongestOKMS: ptr(20_001.0)},
		Prober:   report.Prober{LateP99MS: ptr(1.0), LateMaxMS: ptr(9.0)},
		Platform: &report.Platform{Kind: "digitalocean", App: "shop", DeploymentID: ptr("d200")},
		Diagnosis: []report.Finding{{Code: "drain-too-short", Severity: "error", Summary: "deploy 1, deploy 3: old was stopped too early",
			Evidence: "2 ended together", Cure: "set termination.drain_seconds: 24"}},
	}
	for _, shift := range []float64{0, 200_000} {
		for _, f := range failed(0).Failures {
			f.StartedMS, f.EndedMS = f.StartedMS+shift, f.EndedMS+shift
			want.Failures = append(want.Failures, f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// A pass is the sum of passes alone, whatever the others are.
func TestSumIsTheWorst(t *testing.T) {
	of := func(v, outcome string) report.Part {
		r := passed(0)
		r.Verdict, r.Deploy.Outcome = v, outcome
		return report.Part{Name: "x", Result: r}
	}
	tests := []struct {
		name             string
		parts            []report.Part
		verdict, outcome string
	}{
		{"passes", []report.Part{of("pass", "succeeded"), of("pass", "succeeded")}, "pass", "succeeded"},
		{"a doubt", []report.Part{of("pass", "succeeded"), of("inconclusive", "timed-out")}, "inconclusive", "timed-out"},
		{"a drop and a doubt", []report.Part{of("inconclusive", "unknown"), of("fail", "succeeded")}, "fail", "unknown"},
		{"a failed deploy", []report.Part{of("inconclusive", "failed"), of("pass", "unknown")}, "inconclusive", "failed"},
		{"what nobody knows", []report.Part{of("splendid", "odd"), of("pass", "succeeded")}, "inconclusive", "unknown"},
	}
	for _, tt := range tests {
		got := report.Sum(tt.parts)
		if got.Verdict != tt.verdict || got.Deploy.Outcome != tt.outcome {
			t.Errorf("%s: %s, %s; want %s, %s", tt.name, got.Verdict, got.Deploy.Outcome, tt.verdict, tt.outcome)
		}
	}
}

// A sum holds no more failures than any other result.
func TestSumIsBounded(t *testing.T) {
	var parts []report.Part
	for range 3 {
		r := failed(0)
		for len(r.Failures) < 1000 {
			r.Failures = append(r.Failures, r.Failures[0])
		}
		r.FailuresOmitted = 7
		parts = append(parts, report.Part{Name: "x", Result: r})
	}
	if got := report.Sum(parts); len(got.Failures) != 1000 || got.FailuresOmitted != 2021 {
		t.Errorf("%d failures and %d omitted, want 1,000 and 2,021", len(got.Failures), got.FailuresOmitted)
	}
}

// series is three deploys after a control period.
func series() *report.Result {
	runs := []*report.Result{failed(0), passed(100), passed(200)}
	runs[2].Cutover, runs[2].Latency, runs[2].Slow.InFlightAtLastAccept = nil, report.Latencies{}, nil
	runs[2].Verdict, runs[2].Reasons = verdict.Inconclusive, []report.Reason{{Code: "no-cutover", Message: "no new version answered\x1b[2J"}}
	var parts []report.Part
	for i, r := range runs {
		parts = append(parts, report.Part{Name: report.DeployName(i + 1), Result: r})
	}
	out := report.Sum(parts)
	out.Control, out.Runs = passed(0), runs
	return out
}

func TestTerminalSeries(t *testing.T) {
	for name, width := range map[string]int{"series.txt": 120, "series-narrow.txt": 60} {
		var b bytes.Buffer
		err := report.TerminalSeries(&b, report.TerminalOptions{Width: width}, series(), func(name string) string { return "out/" + name })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s holds an escape", name)
		}
		golden(t, name, b.Bytes())
	}
}

// A result of several deploys counts in a history as its runs and its control.
func TestHistoryOfASeries(t *testing.T) {
	dir := t.TempDir()
	doc, err := series().JSON()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "result.json"), doc, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	h, left, err := report.ReadHistory(dir)
	if err != nil || len(left) > 0 {
		t.Fatal(err, left)
	}
	want := []sample.Past{{Class: "status", Status: 502, Episodes: 1, Largest: 1}}
	if diff := cmp.Diff(want, h.Kinds); h.Runs != 4 || h.Requests != 4000 || diff != "" {
		t.Errorf("%d runs, %d requests, kinds (-want +got):\n%s", h.Runs, h.Requests, diff)
	}
	more := report.AddHistory(h, []*report.Result{failed(300)})
	want[0].Episodes = 2
	if diff := cmp.Diff(want, more.Kinds); more.Runs != 5 || more.Requests != 5000 || diff != "" {
		t.Errorf("with another: %d runs, %d requests, kinds (-want +got):\n%s", more.Runs, more.Requests, diff)
	}
	if h.Runs != 4 || h.Kinds[0].Episodes != 1 {
		t.Errorf("what it was added to has changed: %+v", h)
	}
	if got := report.AddHistory(nil, nil); got != nil {
		t.Errorf("nothing added to nothing is %+v", got)
	}
}
