package html

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
)

var update = flag.Bool("update", false, "write the goldens in testdata anew")

func at(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func ptr[T any](v T) *T { return &v }

// rollout is twelve seconds with everything in them that a picture can show: of
// three instances of v1 two end in time, and one is cut.
func rollout() *analysis.Analysis {
	a := &analysis.Analysis{
		Duration: at(12), Series: analysis.Series{Step: 100 * time.Millisecond},
		Deploy: analysis.Deploy{
			Started: ptr(at(3)), Ended: ptr(at(8)), Outcome: "succeeded", Window: &analysis.Span{From: at(3), To: at(9)},
			Signals: []analysis.Signal{{At: at(3), Name: "BUILDING"}, {At: at(4), Name: "DEPLOYING"}, {At: at(8), Name: "ACTIVE"}},
		},
		Cutover:  &analysis.Cutover{By: "version", Start: at(4), End: at(6), Overlap: at(2), LastAccept: at(6), Complete: true},
		Stop:     &analysis.Stop{At: ptr(at(7.5)), End: at(7.5), Drain: analysis.Bounds{Lower: at(1.5), Exact: true}},
		Versions: []analysis.Version{{ID: "v1", Role: analysis.Old, LastEnd: at(7.5)}, {ID: "v2", Role: analysis.New, First: at(4), LastEnd: at(12)}},
	}
	for i := range 120 {
		var b analysis.Bucket
		switch now := float64(i) / 10; {
		case now < 4:
			b.Old = 10
		case now < 6:
			b.Old, b.New = 6, 4
		default:
			b.New = 10
		}
		a.Series.Buckets = append(a.Series.Buckets, b)
	}
	for i := range 12 {
		if i != 10 {
			a.Series.Seconds = append(a.Series.Seconds, &analysis.Latency{N: 100, P50: 20 * time.Millisecond, P99: time.Duration(40+10*i) * time.Millisecond})
		} else {
			a.Series.Seconds = append(a.Series.Seconds, nil)
		}
	}
	for i, role := range []string{analysis.Old, analysis.Old, analysis.New} {
		life := analysis.Instance{ID: fmt.Sprintf("web-%d", i), Role: role, First: at(float64(i)), LastEnd: at(7 + float64(i))}
		a.Versions[i/2].Instances = append(a.Versions[i/2].Instances, life)
	}
	a.Versions[0].Instances[1].Stop = ptr(at(7.5))
	a.Series.Bars = []analysis.Bar{
		{From: at(1), To: at(5), Role: analysis.Old, Outcome: "completed", ID: "cw-1-1"},
		{From: at(4), To: at(7.5), Role: analysis.Old, Outcome: "cut", ID: "cw-1-2"},
		{From: at(9), To: at(12), Role: "", Outcome: "unfinished", ID: "cw-1-3"},
	}
	failed := func(id string, end float64, by, lane string) {
		a.Failures = append(a.Failures, analysis.Failure{
			ID: id, Lane: lane, Started: at(end - 0.5), Ended: at(end), Class: "reset", Attribution: by, Reason: "in-cutover", Evidence: "why",
		})
		b := &a.Series.Buckets[min(int(end*10), 119)]
		switch by {
		case analysis.ByDeploy:
			b.Deploy++
		case analysis.Undecided:
			b.Unclear++
		default:
			b.NotDeploy++
		}
	}
	failed("cw-1-2", 7.5, analysis.ByDeploy, "slow")
	failed("cw-1-4", 3.3, analysis.Undecided, "kept")
	failed("cw-1-5", 1, analysis.ByBackground, "kept")
	failed("cw-1-6", 1.01, analysis.ByProber, "kept")
	failed("cw-1-7", 11.99, analysis.ByConfig, "fresh")
	return a
}

// TestPictureGolden: the picture, to the byte, in few columns.
func TestPictureGolden(t *testing.T) {
	a := rollout()
	p := newPicture(report.NewTimeline(a, 24), a)
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "picture", p); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", "rollout.svg")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("- want + got:\n%s", diff)
	}
}

// TestPictureSays: each thing is where its time is, and says what it is.
func TestPictureSays(t *testing.T) {
	a := rollout()
	p := newPicture(report.NewTimeline(a, columns), a)
	if got := p.Phases.Items; len(got) != 2 || got[0].X != "25%" || got[1].X != "33.33%" || !strings.Contains(got[1].Tip, "DEPLOYING") {
		t.Errorf("phases %+v, want the second from 4 s to 8 s", got)
	}
	if len(p.Brackets) != 2 || p.Brackets[0].Label.Text != "overlap 2.0 s" || p.Brackets[1].Label.Text != "drain 1.5 s" || p.Brackets[1].X2 != "62.5%" {
		t.Errorf("brackets %+v, want an overlap of 2 s and a drain to 7.5 s", p.Brackets)
	}
	if len(p.Cuts) != 1 || p.Cuts[0] != "62.5%" || len(p.Shades) != 1 || p.Shades[0].Class != report.SpanDrain {
		t.Errorf("cuts %v and shades %v, want one of each", p.Cuts, p.Shades)
	}
	cut := p.Bars.Items[1]
	if cut.Shape != "cross" || cut.EndX != "62.5%" || !strings.Contains(cut.Tip, "cut at old's stop") || !strings.Contains(cut.Tip, "the deploy's, in-cutover: why") {
		t.Errorf("the bar that was cut is %+v, want a mark at its end and whose it is", cut)
	}
	if open := p.Bars.Items[2]; !strings.Contains(open.Class, "hollow") || open.Shape != "" || !strings.Contains(open.Tip, "not finished") {
		t.Errorf("the bar that was left is %+v, want it hollow", open)
	}
	shapes := map[string]string{}
	for _, m := range p.Wide.Items {
		id, _, _ := strings.Cut(m.Tip, ",")
		shapes[id] = m.Shape
	}
	want := map[string]string{"cw-1-2": "cross", "cw-1-4": "triangle", "cw-1-5": "dot", "cw-1-6": "square", "cw-1-7": "diamond"}
	if diff := cmp.Diff(want, shapes); diff != "" {
		t.Errorf("marks, - want + got:\n%s", diff)
	}
	if n := strings.Count(p.Latency.P50, "M"); n != 2 {
		t.Errorf("the median is drawn in %d pieces, want 2: one second has no answer", n)
	}
	if len(p.Notes) != 0 {
		t.Errorf("it says that something is left out: %q", p.Notes)
	}
}

// TestTableSays: the table holds the failures that the picture holds, and its events.
func TestTableSays(t *testing.T) {
	rows, other := tableRows(report.NewTimeline(rollout(), columns))
	if other || len(rows) == 0 || len(rows) > mostTableRows {
		t.Fatalf("%d rows, others: %v", len(rows), other)
	}
	all := fmt.Sprint(rows)
	for _, want := range []string{"0:03.0 deploy: BUILDING", "0:06.0 drain begins", "0:07.5 1 request in flight on old cut", "1 the deploy's failure", "1 failure undecided", "60.0 % 40.0 %"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
	if rows[0].Old != "100 %" || rows[0].New != "0 %" || rows[0].P50 != "20 ms" {
		t.Errorf("the first row is %+v", rows[0])
	}
}

func TestPack(t *testing.T) {
	bar := func(from, to float64, outcome string) analysis.Bar {
		return analysis.Bar{From: at(from), To: at(to), Outcome: outcome}
	}
	rows, n := pack([]analysis.Bar{bar(0, 2, ""), bar(1, 3, ""), bar(2.05, 4, ""), bar(2.5, 4, "")}, at(0.1))
	if diff := cmp.Diff([]int{0, 1, 2, 0}, rows); diff != "" || n != 3 {
		t.Errorf("%d rows; - want + got:\n%s", n, diff)
	}
	var many []analysis.Bar
	for i := range 1000 {
		outcome := "completed"
		if i%100 == 0 {
			outcome = "cut"
		}
		many = append(many, bar(float64(i), float64(i+20), outcome))
	}
	drawn, _, n := thin(many, 0)
	cut := 0
	for _, b := range drawn {
		if b.Outcome == "cut" {
			cut++
		}
	}
	if len(drawn) > mostBars || n > mostBarRows || cut != 10 || len(drawn) < mostBars/2 {
		t.Errorf("%d of %d are drawn in %d rows, %d of 10 cut ones", len(drawn), len(many), n, cut)
	}
}

func TestLogScale(t *testing.T) {
	s := newLogScale(2*time.Millisecond, 80*time.Millisecond, 100)
	for d, want := range map[time.Duration]float64{time.Millisecond: 100, 10 * time.Millisecond: 50, 100 * time.Millisecond: 0} {
		if got := s.y(d); got < want-0.01 || got > want+0.01 {
			t.Errorf("%v is drawn at %v, want %v", d, got, want)
		}
	}
	if diff := cmp.Diff([]time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond}, s.decades()); diff != "" {
		t.Errorf("decades, - want + got:\n%s", diff)
	}
	if flat := newLogScale(time.Millisecond, time.Millisecond, 100); flat.high <= flat.low {
		t.Errorf("a scale of one moment from %v to %v", flat.low, flat.high)
	}
}

func TestAxisSteps(t *testing.T) {
	for _, c := range []struct {
		length time.Duration
		want   time.Duration
	}{{at(1), 100 * time.Millisecond}, {at(12), time.Second}, {at(13), 2 * time.Second}, {time.Hour, 5 * time.Minute}, {1000 * time.Hour, 42 * 24 * time.Hour}} {
		if got := stepOf(c.length, 12); got != c.want {
			t.Errorf("%v is marked every %v, want %v", c.length, got, c.want)
		}
	}
}

// TestFits: a label is shown from the width on in which it fits.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		text  string
		share float64
		want  string
	}{{"old", 1, "always"}, {"old", 0.05, "wide"}, {"old", 0.01, ""}, {strings.Repeat("x", 60), 1, "wide"}, {strings.Repeat("x", 200), 1, ""}} {
		if got := fits(c.text, c.share); got != c.want {
			t.Errorf("%q in %v of the width: %q, want %q", c.text, c.share, got, c.want)
		}
	}
}
