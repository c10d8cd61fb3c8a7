package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/audit"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func ptr[T any](v T) *T { return &v }

// agreeing is a truth and a judgement that say the same: two drops of the
// rollout's, one lost unread, one of the background's.
func agreeing() (box.Truth, *analysis.Analysis, verdict.Verdict) {
	truth := box.Truth{
		Drops: []box.Drop{
			{ID: "cw-1-5", Kind: box.DropCut, Instance: "web-1", At: ms(9000), ByRollout: true, Owner: "deploy"},
			{ID: "cw-1-6", Kind: box.DropCut, Instance: "web-1", At: ms(9000), ByRollout: true, Owner: "deploy"},
			{ID: "cw-1-9", Kind: box.DropNoise, Owner: "background"},
		},
		Blind:          []box.BlindDrop{{Port: 4001, At: ms(9100)}, {Port: 4002, At: ms(9100)}},
		NewFirstAnswer: ptr(ms(5000)),
		Overlap:        ptr(ms(2000)),
		LastStop:       ptr(ms(9000)),
		Drain:          ptr(ms(1900)),
		DrainAtMost:    ptr(ms(1900)),
		CutAtStop:      true,
	}
	a := &analysis.Analysis{
		Failures: []analysis.Failure{
			{ID: "cw-1-5", Attribution: analysis.ByDeploy},
			{ID: "cw-1-6", Attribution: analysis.ByDeploy},
			{ID: "cw-1-9", Attribution: analysis.ByBackground},
			{ID: "cw-1-7", Attribution: analysis.ByDeploy, LocalPort: 4001, Started: ms(9100), Ended: ms(9101)},
		},
		Cutover: &analysis.Cutover{Overlap: ms(2010)},
		Stop:    &analysis.Stop{Drain: analysis.Bounds{Lower: ms(1895), Upper: ptr(ms(1896)), Exact: true}},
	}
	return truth, a, verdict.Verdict{Verdict: verdict.Fail}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name   string
		change func(*box.Truth, *analysis.Analysis, *verdict.Verdict)
		want   []string // rows that do not agree
	}{
		{"all agrees", func(*box.Truth, *analysis.Analysis, *verdict.Verdict) {}, nil},
		{"another verdict", func(_ *box.Truth, _ *analysis.Analysis, v *verdict.Verdict) { v.Verdict = verdict.Pass }, []string{"verdict"}},
		{"a drop missed", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures = a.Failures[1:]
		}, []string{"dropped", "missed", "attributed"}},
		{"a failure invented", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures = append(a.Failures, analysis.Failure{ID: "cw-1-10", LocalPort: 4003, Started: ms(9100), Ended: ms(9100)})
		}, []string{"dropped", "invented"}},
		{"one missed and one invented", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures[0].ID = "cw-1-11"
		}, []string{"missed", "invented", "attributed"}},
		{"the port of an ended connection, much later", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures[3].Started, a.Failures[3].Ended = ms(15000), ms(15001)
		}, []string{"dropped", "invented"}},
		{"the port of an ended connection, and an answer", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures[3].Status = ptr(500)
		}, []string{"dropped", "invented"}},
		{"a rollout's drop called background", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Failures[0].Attribution = analysis.ByBackground
		}, []string{"attributed"}},
		{"overlap off", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) { a.Cutover.Overlap = ms(2051) }, []string{"overlap"}},
		{"overlap off, by a prober that was late", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Cutover.Overlap, a.Prober.LateMax = ms(2051), ms(17)
		}, nil},
		{"no cutover seen", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) { a.Cutover, a.Stop = nil, nil }, []string{"overlap", "drain"}},
		{"drain off", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Stop.Drain = analysis.Bounds{Lower: ms(1849), Upper: ptr(ms(1849)), Exact: true}
		}, []string{"drain"}},
		{"drain off by a request that may have crossed", func(truth *box.Truth, _ *analysis.Analysis, _ *verdict.Verdict) {
			truth.Drain = ptr(ms(3))
		}, nil},
		{"drain off, and nothing may have crossed", func(truth *box.Truth, _ *analysis.Analysis, _ *verdict.Verdict) {
			truth.Drain, truth.DrainAtMost = ptr(ms(3)), ptr(ms(3))
		}, []string{"drain"}},
		{"drain measured as an interval that holds the truth", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Stop.Drain.Lower, a.Stop.Drain.Upper = ms(1870), ptr(ms(1920))
		}, nil},
		{"drain measured as a wide interval that holds the truth", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Stop.Drain = analysis.Bounds{Lower: ms(1860), Upper: ptr(ms(1920))}
		}, []string{"drain"}},
		{"drain as wide in truth as measured", func(truth *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			truth.Drain, truth.DrainAtMost = ptr(ms(2)), ptr(ms(52))
			a.Stop.Drain = analysis.Bounds{Lower: ms(1), Upper: ptr(ms(52))}
		}, nil},
		{"drain measured as an interval below the truth", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Stop.Drain.Lower, a.Stop.Drain.Upper = ms(1700), ptr(ms(1840))
		}, []string{"drain"}},
		{"stop not seen", func(_ *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			a.Stop.Drain = analysis.Bounds{Lower: ms(1895)}
		}, []string{"drain"}},
		{"stop seen that cut nothing", func(truth *box.Truth, _ *analysis.Analysis, _ *verdict.Verdict) { truth.CutAtStop = false }, []string{"drain"}},
		{"a lower bound that holds", func(truth *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			truth.CutAtStop = false
			a.Stop.Drain = analysis.Bounds{Lower: ms(1200)}
		}, nil},
		{"a lower bound that does not", func(truth *box.Truth, a *analysis.Analysis, _ *verdict.Verdict) {
			truth.CutAtStop = false
			a.Stop.Drain = analysis.Bounds{Lower: ms(1951)}
		}, []string{"drain"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			truth, a, v := agreeing()
			tt.change(&truth, a, &v)
			rows := Compare(truth, a, v)
			var off []string
			for _, r := range rows {
				if !r.Agrees {
					off = append(off, r.What)
				}
			}
			if diff := cmp.Diff(tt.want, off); diff != "" {
				t.Errorf("rows that do not agree, want (-), got (+):\n%s", diff)
			}
			if Agree(rows) != (len(tt.want) == 0) {
				t.Errorf("Agree says %v", Agree(rows))
			}
		})
	}
}

func TestBusyMachineIsSaid(t *testing.T) {
	if got := Busy(audit.Held{ProberP99: ms(1), ProberMax: ms(49), App: ms(49)}, false); got != "" {
		t.Errorf("a quiet machine: got %q, want nothing", got)
	}
	held := audit.Held{ProberP99: ms(1), ProberMax: ms(3), App: ms(1600)}
	want := "This machine was busy: the prober was late by 1.0 ms at the 99th percentile and 3.0 ms at most, and an app of the box stood still for up to 1.6 s."
	if got := Busy(held, true); got != want+"\n" {
		t.Errorf("got %q, want %q", got, want)
	}
	want += " Play the scene again on a quieter one."
	if got := Busy(held, false); got != want+"\n" {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExpectedVerdict(t *testing.T) {
	change := ptr(ms(5000))
	tests := []struct {
		name  string
		truth box.Truth
		want  string
	}{
		{"nothing changed", box.Truth{}, verdict.Inconclusive},
		{"nothing dropped", box.Truth{NewFirstAnswer: change}, verdict.Pass},
		{"noise alone", box.Truth{NewFirstAnswer: change, Drops: []box.Drop{{Kind: box.DropNoise}}}, verdict.Pass},
		{"a drop", box.Truth{NewFirstAnswer: change, Drops: []box.Drop{{Kind: box.DropCut, ByRollout: true, Owner: "deploy"}}}, verdict.Fail},
	}
	for _, tt := range tests {
		if got := Expected(tt.truth); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	err := WriteTable(&b, []Row{
		{What: "drain", Truth: "−1 ms", Measured: "≥ 1 ms", Agrees: true},
		{What: "missed", Truth: "0", Measured: "2", Difference: "+2", Detail: []string{"one", "two"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"          truth  measured  difference  agrees",
		"  drain   −1 ms  ≥ 1 ms                yes",
		"  missed  0      2         +2          NO",
		"      one",
		"      two",
		"",
	}, "\n")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestFew(t *testing.T) {
	got := few([]string{"1", "2", "3", "4", "5", "6", "7"})
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "and 2 more"}, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}
