package report_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
)

// TestMarks: slots of one second, and how its failures share at most four marks.
func TestMarks(t *testing.T) {
	const d, u, b = analysis.ByDeploy, analysis.Undecided, analysis.ByBackground
	for _, c := range []struct {
		name  string
		fails map[float64]string // the attributions of those that end then
		want  string             // slot.row: owner×failures
	}{
		{"one", map[float64]string{3.2: d}, "3.0: deploy×1"},
		{"as many as fit", map[float64]string{3.2: d + " " + d, 3.9: d + " " + d}, "3.0: deploy×1, 3.1: deploy×1, 3.2: deploy×1, 3.3: deploy×1"},
		{"five in four marks", map[float64]string{3: strings.Repeat(d+" ", 5)}, "3.0: deploy×1, 3.1: deploy×1, 3.2: deploy×1, 3.3: deploy×2"},
		{"the deploy's at the bottom", map[float64]string{3.2: b, 3.3: d, 3.4: u}, "3.0: deploy×1, 3.1: undecided×1, 3.2: background×1"},
		{"no owner goes without", map[float64]string{3: strings.Repeat(b+" ", 97), 3.1: d}, "3.0: deploy×1, 3.1: background×32, 3.2: background×32, 3.3: background×33"},
		{"two slots", map[float64]string{3.99: b, 4: d}, "3.0: background×1, 4.0: deploy×1"},
		{"the last moment", map[float64]string{9.99: d}, "9.0: deploy×1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := &report.Timeline{To: 10 * time.Second}
			for _, at := range slices.Sorted(maps.Keys(c.fails)) {
				for _, by := range strings.Fields(c.fails[at]) {
					tl.Failures = append(tl.Failures, analysis.Failure{Ended: seconds(at), Attribution: by})
				}
			}
			var got []string
			drawn := 0
			for _, m := range tl.Marks(10, 4) {
				got = append(got, fmt.Sprintf("%d.%d: %s×%d", m.Slot, m.Row, m.Failures[0].Attribution, len(m.Failures)))
				drawn += len(m.Failures)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("- want + got:\n%s", diff)
			}
			if drawn != len(tl.Failures) {
				t.Errorf("%d failures drawn, want %d", drawn, len(tl.Failures))
			}
		})
	}
}

// TestJoin: joining loses no request, and leaves no hole.
func TestJoin(t *testing.T) {
	tl := report.NewTimeline(platformScene().a, 68)
	want := 0
	for _, c := range tl.Columns {
		want += c.Total()
	}
	for _, n := range []int{1, 7, 30, 68, 100} {
		got, next, most := 0, tl.From, 0
		joined := tl.Join(n)
		for _, c := range joined {
			if c.From != next {
				t.Errorf("joined into %d: a column begins at %v, want %v", n, c.From, next)
			}
			got, next, most = got+c.Total(), c.To, max(most, c.InFlightOld)
		}
		if len(joined) > n || got != want || next != tl.To || most != 21 {
			t.Errorf("joined into %d: %d columns of %d requests until %v, %d in flight at most; want %d until %v, 21", n, len(joined), got, next, most, want, tl.To)
		}
	}
}

func TestLatencyOfAStretch(t *testing.T) {
	s := newScene(4, swap(1, 2, 2))
	ms := func(n int, p50, p99 float64) *analysis.Latency { return latency(n, p50, p99, p99, p99) }
	s.a.Series.Seconds = []*analysis.Latency{ms(10, 5, 9), ms(20, 4, 80), nil, ms(5, 6, 7)}
	tl := report.NewTimeline(s.a, 40)
	if len(tl.Latency) != 3 {
		t.Fatalf("%d seconds with a latency, want 3", len(tl.Latency))
	}
	got := tl.Within(0, 2*time.Second)
	want := &report.Quantiles{To: 2 * time.Second, N: 30, P50: 5 * time.Millisecond, P99: 80 * time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the worst of two seconds, - want + got:\n%s", diff)
	}
	if got := tl.Within(2100*time.Millisecond, 2200*time.Millisecond); got != nil {
		t.Errorf("a second without an answer has %+v, want none", got)
	}
	if got := tl.Within(3500*time.Millisecond, 3600*time.Millisecond); got == nil || got.N != 5 {
		t.Errorf("a tenth of a second has %+v, want that of its second", got)
	}
}

// TestSteps: each verdict is explained from the baseline to the reasons.
func TestSteps(t *testing.T) {
	for name, s := range scenes() {
		steps := report.Steps(s.head, s.a, s.v)
		last := steps[len(steps)-1]
		if steps[0].Name != "The baseline" || !strings.HasPrefix(last.Text, strings.ToUpper(s.v.Verdict)+": ") || !strings.Contains(last.Text, s.v.Reasons[0].Message) {
			t.Errorf("%s: the steps go from %q to %q, want the baseline first and the verdict with its reasons last", name, steps[0], last)
		}
	}
	got := report.Steps(platformScene().head, platformScene().a, platformScene().v)
	for _, want := range []string{"from 0:30.0 to 1:06.0", "3 failed: 2 the deploy's, 1 background. 2 × status 504, the deploy's (cut-at-stop)", "drain: 15.0 s"} {
		found := false
		for _, f := range got {
			found = found || strings.Contains(f.Text, want)
		}
		if !found {
			t.Errorf("no step says %q in %q", want, got)
		}
	}
}
