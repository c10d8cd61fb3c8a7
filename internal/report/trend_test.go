package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// A trend runs from the oldest to this one; what was not known then is not
// known now.
func TestTrend(t *testing.T) {
	s := platformScene()
	this := report.NewResult(s.head, s.a, s.v)
	h := &sample.History{Runs: 2, Deploys: []sample.PastRun{
		{StartedAt: "2026-11-28T12:00:00.000Z", Verdict: "inconclusive", Requests: 999},
		{StartedAt: "2026-11-29T12:00:00.000Z", Verdict: "pass", Requests: 1000, Failed: 3, OverlapMS: ptr(-50.0), DrainMS: ptr(18400.0), P99BeforeMS: ptr(999.4)},
	}}
	got := report.Trend(h, this)
	want := [][]string{
		{"2026-11-28 12:00", "inconclusive", "999", "0", "0", "–", "–", "–", "–"},
		{"2026-11-29 12:00", "pass", "1,000", "3", "0", "−50 ms", "≥ 18.4 s", "999 ms", "–"},
		{"2026-11-30 12:00", "fail", "84,120", "3", "2", "10.0 s", "15.0 s", "80 ms", "77 ms"},
	}
	var cells [][]string
	for _, r := range got {
		cells = append(cells, r.Cells())
	}
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Errorf("- want + got:\n%s", diff)
	}
	for _, none := range []*sample.History{nil, {Runs: 1}} {
		if got := report.Trend(none, this); got != nil {
			t.Errorf("without earlier deploys the trend is %v, want none", got)
		}
	}
	h.Deploys = append(h.Deploys, report.AsPast(this)) // as the first deploy of a run is of its second
	series := &report.Result{Requests: report.Requests{Total: 7}, Runs: []*report.Result{this, this}}
	if got := report.Trend(h, series); len(got) != 4 || got[3] != got[2] {
		t.Errorf("with two deploys of its own the trend is %v, want a row each", got)
	}
}

// The terminal shows the trend where there is one, at every width.
func TestTerminalTrend(t *testing.T) {
	s := platformScene()
	s.head.History = &sample.History{Runs: 1, Deploys: []sample.PastRun{
		{StartedAt: "2026-11-29T12:00:00.000Z", Verdict: "inconclusive", Requests: 123456, Failed: 3, OverlapMS: ptr(-50.0), DrainMS: ptr(18400.0)},
	}}
	golden(t, "trend.txt", terminal(t, s, report.TerminalOptions{}))
	for _, width := range []int{60, 80, 120} {
		check(t, terminal(t, s, report.TerminalOptions{Width: width}), width)
	}
}

func TestSides(t *testing.T) {
	at := func(s report.Side) report.Side { return report.Side{Role: s.Role, IDs: s.IDs} }
	for name, tt := range map[string]struct {
		s    *scene
		want []report.Side
	}{
		"versions":  {platformScene(), []report.Side{{Role: "old", IDs: []string{"v1"}}, {Role: "new", IDs: []string{"v2"}}}},
		"instances": {restartScene(), []report.Side{{Role: "old", IDs: []string{"i-0a1"}}, {Role: "new", IDs: []string{"i-0b2"}}}},
		"nobody":    {noVersionScene(), nil},
	} {
		var got []report.Side
		for _, s := range report.Sides(tt.s.a) {
			got = append(got, at(s))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, - want + got:\n%s", name, diff)
		}
	}
	old := report.Sides(platformScene().a)[0]
	if old.From != 0 || old.To != seconds(55.9) {
		t.Errorf("old answered from %v to %v, want from the start to 55.9 s", old.From, old.To)
	}
}

func TestKinds(t *testing.T) {
	s := platformScene()
	n := 0
	for i, k := range report.Kinds(s.a.Failures) {
		n += len(k.Failures)
		if i == 0 && k.Attribution != analysis.ByDeploy {
			t.Errorf("first comes %s, want what is the deploy's", k.Attribution)
		}
		if k.Title == "" || k.When == "" || k.Facts == "" {
			t.Errorf("a kind without a word: %+v", k)
		}
	}
	if n != len(s.a.Failures) {
		t.Errorf("%d failures in the kinds, want all %d", n, len(s.a.Failures))
	}
}
