package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
)

// TestTimelineCounts: whatever the width, every request of the stretch that is
// shown is in one column, and the columns follow each other without a hole.
func TestTimelineCounts(t *testing.T) {
	for name, s := range scenes() {
		for _, n := range []int{1, 7, 68, 500, 100000} {
			tl := report.NewTimeline(s.a, n)
			if len(tl.Columns) > n {
				t.Errorf("%s in %d columns has %d", name, n, len(tl.Columns))
			}
			want := 0
			for i, b := range s.a.Series.Buckets {
				if at := time.Duration(i)*s.a.Series.Step + s.a.Series.Step/2; at >= tl.From && at <= tl.To {
					want += b.Old + b.New + b.Other + b.Deploy + b.NotDeploy + b.Unclear
				}
			}
			got, next := 0, tl.From
			for i, c := range tl.Columns {
				got += c.Total()
				if c.From != next || c.To != c.From+tl.Step {
					t.Errorf("%s in %d columns: column %d is %v to %v, want it to begin at %v", name, n, i, c.From, c.To, next)
				}
				next = c.To
			}
			if got != want || next != tl.To {
				t.Errorf("%s in %d columns: %d requests until %v, want %d until %v", name, n, got, next, want, tl.To)
			}
			if tl.From < 0 || tl.Step < s.a.Series.Step {
				t.Errorf("%s in %d columns: from %v in steps of %v, want steps of the series' or longer", name, n, tl.From, tl.Step)
			}
		}
	}
}

// TestTimelineFocus: the whole run, unless what happened is a small part of it.
func TestTimelineFocus(t *testing.T) {
	for _, c := range []struct {
		name      string
		run, at   float64 // a cutover of one second begins at
		fail      float64 // a failure of the deploy's ends then; 0: none
		from, to  float64
		wholeSpan bool
	}{
		{name: "short run", run: 6, at: 3, wholeSpan: true},
		{name: "two thirds of the run are the run", run: 8.9, at: 4, wholeSpan: true},
		{name: "less is not", run: 9.1, at: 4, from: 1.25, to: 7.25},
		{name: "long run", run: 600, at: 300, from: 297.25, to: 303.25},
		{name: "at the beginning", run: 600, at: 1, from: 0, to: 6},
		{name: "at the end", run: 600, at: 598, from: 594, to: 600},
		{name: "a late outage is part of it", run: 600, at: 300, fail: 330, from: 217, to: 397},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(c.run, swap(1, c.at, c.at+1))
			s.a.Cutover = &analysis.Cutover{By: "version", Start: seconds(c.at), End: seconds(c.at + 1), Overlap: time.Second}
			if c.fail > 0 {
				s.fail(analysis.Failure{Ended: seconds(c.fail), Attribution: analysis.ByDeploy})
			}
			const n = 30 // 6 s are two tenths of a second a column
			tl := report.NewTimeline(s.a, n)
			if c.wholeSpan {
				c.from, c.to = 0, c.run
			}
			// The ends move by no more than a column.
			if d := tl.From - seconds(c.from); d < -tl.Step || d > tl.Step {
				t.Errorf("begins at %v, want about %v s", tl.From, c.from)
			}
			if d := tl.To - seconds(c.to); d < -tl.Step || d > tl.Step {
				t.Errorf("ends at %v, want about %v s", tl.To, c.to)
			}
			if _, ok := tl.Index(seconds(c.at)); !ok {
				t.Errorf("the cutover at %v s is not in %v to %v", c.at, tl.From, tl.To)
			}
		})
	}
}

func TestTimelineInFlight(t *testing.T) {
	s := newScene(10, swap(1, 5, 5))
	s.slow(0, 3, analysis.Old, "completed")
	s.slow(1, 2, analysis.Old, "completed")
	s.slow(2, 4.5, analysis.Old, "completed") // begins as the one before ends
	s.slow(4, 8, "", "cut")                   // answered by nobody: on old all the same
	s.slow(4.2, 8.2, analysis.Old, "cut")     // 0.2 s later: one cut
	s.slow(6, 9.5, analysis.Old, "cut")       // a second one
	s.slow(5, 9, analysis.New, "completed")
	tl := report.NewTimeline(s.a, 10)
	var got []int
	for _, c := range tl.Columns {
		got = append(got, c.InFlightOld)
	}
	if diff := cmp.Diff([]int{1, 2, 2, 1, 3, 2, 3, 3, 2, 1}, got); diff != "" {
		t.Errorf("most in flight on old in each second, - want + got:\n%s", diff)
	}
	if diff := cmp.Diff([]report.Cut{{At: 8 * time.Second, N: 2}, {At: 9500 * time.Millisecond, N: 1}}, tl.Cuts); diff != "" {
		t.Errorf("cuts, - want + got:\n%s", diff)
	}
}

func TestTimelineSpans(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *scene
		want []report.Span
	}{
		{"overlap and an exact drain", platformScene(), []report.Span{
			{Kind: report.SpanBaseline, To: seconds(30)}, {Kind: report.SpanWindow, From: seconds(30), To: seconds(66)},
			{Kind: report.SpanOverlap, From: seconds(31), To: seconds(41)}, {Kind: report.SpanDrain, From: seconds(41), To: seconds(56)},
		}},
		{"a gap, and a drain of which the least is known", gapScene(), []report.Span{
			{Kind: report.SpanBaseline, To: seconds(19)}, {Kind: report.SpanWindow, From: seconds(19), To: seconds(35)},
			{Kind: report.SpanGap, From: seconds(19.99), To: seconds(23.2)}, {Kind: report.SpanDrain, From: seconds(19.99), To: seconds(20), Open: true},
		}},
		{"an overlap whose end was not seen", probeDiedScene(), []report.Span{
			{Kind: report.SpanBaseline, To: seconds(30)}, {Kind: report.SpanWindow, From: seconds(30), To: seconds(36.4)},
			{Kind: report.SpanOverlap, From: seconds(31), To: seconds(36.3), Open: true},
		}},
		{"marks are no overlap", noVersionScene(), []report.Span{
			{Kind: report.SpanBaseline, To: seconds(20)}, {Kind: report.SpanWindow, From: seconds(20), To: seconds(40)},
		}},
	} {
		if diff := cmp.Diff(c.want, report.NewTimeline(c.s.a, 60).Spans); diff != "" {
			t.Errorf("%s, - want + got:\n%s", c.name, diff)
		}
	}
}

func TestTimelinePhases(t *testing.T) {
	s := platformScene()
	s.a.Deploy.Signals = append([]analysis.Signal{{At: seconds(29), Name: "before"}}, s.a.Deploy.Signals...)
	s.a.Deploy.Signals = append([]analysis.Signal{s.a.Deploy.Signals[0], {At: seconds(30), Name: "deploy-started"}}, s.a.Deploy.Signals[1:]...)
	want := []report.Phase{
		{From: seconds(30), To: seconds(30)}, // what only says that it began has no name
		{Name: "PENDING_DEPLOY", From: seconds(30), To: seconds(35.5)},
		{Name: "DEPLOYING", From: seconds(35.5), To: seconds(52)}, // said three times, and ended by ACTIVE
	}
	if diff := cmp.Diff(want, report.NewTimeline(s.a, 60).Phases); diff != "" {
		t.Errorf("- want + got:\n%s", diff)
	}
}

func TestTimelineOfNothing(t *testing.T) {
	if tl := report.NewTimeline(&analysis.Analysis{}, 60); tl != nil {
		t.Errorf("timeline of nothing = %v, want nil", tl)
	}
	if tl := report.NewTimeline(passScene().a, 0); tl != nil {
		t.Errorf("timeline in no columns = %v, want nil", tl)
	}
}
