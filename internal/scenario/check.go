package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/audit"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Row is one scenario's line in the table.
type Row struct {
	Name, Kind, Verdict, Reason string
	Failures                    map[string]int // measured, by owner
	Truth                       int
	Match                       audit.Match
	Off                         []string   // expectations that do not hold
	Held                        audit.Held // by a busy machine
	Took                        time.Duration
}

// Good tells whether all came out as it must.
func (r *Row) Good() bool {
	return len(r.Off)+len(r.Match.Missed)+len(r.Match.Invented)+len(r.Match.Misattributed) == 0
}

// Check holds what came out to what is expected, and to the box's own record.
func (s *Scenario) Check(p *Played) (*Row, error) {
	start, err := time.Parse(time.RFC3339, p.Outcome.Head.StartedAt)
	if err != nil {
		return nil, fmt.Errorf("the run's start: %w", err)
	}
	a, v := p.Outcome.Analysis, p.Outcome.Verdict
	r := &Row{
		Name: s.Name, Kind: s.Kind, Verdict: v.Verdict, Failures: map[string]int{}, Held: audit.HeldUp(p.Truth, a.Prober),
		Match: audit.Of(p.Truth, a.Failures, audit.Run{ID: p.Outcome.Head.ID, Start: start, Left: p.Left}),
	}
	if len(v.Reasons) > 0 {
		r.Reason = v.Reasons[0].Code
	}
	for _, f := range a.Failures {
		r.Failures[f.Attribution]++
	}
	r.Truth = r.Match.Truth
	e := &s.Expect
	r.expectSameBooks(p)
	r.expectVerdict(e, v)
	r.expectFailures(e, a)
	r.expectFindings(e, a)
	if (a.Cutover != nil) != e.Cutover {
		r.off("cutover seen: %v, want %v", a.Cutover != nil, e.Cutover)
	}
	if got := a.Slow.ReExecuted; !e.ReExecuted.Holds(got) {
		r.off("%d slow requests re-executed, want %v", got, e.ReExecuted)
	}
	return r, nil
}

func (r *Row) off(text string, args ...any) { r.Off = append(r.Off, fmt.Sprintf(text, args...)) }

// expectSameBooks holds the recording's good answers to the box's record, both
// ways: nothing is good that the box did not answer, and all is there that it did.
func (r *Row) expectSameBooks(p *Played) {
	unknown, lost := 0, 0
	dropped := map[string]bool{}
	for _, d := range p.Truth.Drops {
		dropped[d.ID] = true
	}
	for id := range p.Good {
		if _, answered := p.Truth.By[id]; !answered && !dropped[id] {
			unknown++
		}
	}
	own := strings.TrimSuffix(sample.RequestID(p.Outcome.Head.ID, 0), "0")
	for id := range p.Truth.By {
		if strings.HasPrefix(id, own) && !p.Good[id] && !p.Left[id] {
			lost++
		}
	}
	if unknown+lost > 0 || p.Sent != p.Outcome.Analysis.Requests.Total {
		r.off("%d good answers that the box gave none of, %d that it gave and that are not good; %d requests recorded, %d counted",
			unknown, lost, p.Sent, p.Outcome.Analysis.Requests.Total)
	}
}

func (r *Row) expectVerdict(e *Expect, v verdict.Verdict) {
	exit := map[string]int{verdict.Pass: 0, verdict.Fail: 1, verdict.Inconclusive: 3}[e.Verdict]
	if e.Exit != nil {
		exit = *e.Exit
	}
	var codes []string
	for _, reason := range v.Reasons {
		codes = append(codes, reason.Code)
	}
	if v.Verdict != e.Verdict || r.Reason != e.Reason || v.ExitCode != exit {
		r.off("%s for %s, exit %d; want %s for %s, exit %d", v.Verdict, strings.Join(codes, ", "), v.ExitCode, e.Verdict, e.Reason, exit)
		for _, reason := range v.Reasons {
			r.off("%s: %s", reason.Code, format.Clean(reason.Message, 300))
		}
	}
	for _, code := range e.Also {
		if !slices.Contains(codes, code) {
			r.off("no reason %s among %s", code, strings.Join(codes, ", "))
		}
	}
}

func (r *Row) expectFailures(e *Expect, a *analysis.Analysis) {
	for _, o := range owners {
		if n := r.Failures[o]; !e.Failures[o].Holds(n) {
			r.off("%d failures are %s's, want %v", n, o, e.Failures[o])
		}
	}
	said := map[string]bool{}
	for _, f := range a.Failures {
		reasons, named := e.Reasons[f.Attribution]
		wrongReason := named && !slices.Contains(reasons, f.Reason)
		wrongClass := len(e.Classes) > 0 && !slices.Contains(e.Classes, f.Class)
		if key := f.Reason + f.Class; (wrongReason || wrongClass) && !said[key] {
			said[key] = true
			r.off("%s is %s's for %s, class %s: %s", f.ID, f.Attribution, f.Reason, f.Class, f.Evidence)
		}
		if f.Evidence == "" {
			r.off("%s has no evidence", f.ID)
		}
	}
}

func (r *Row) expectFindings(e *Expect, a *analysis.Analysis) {
	var codes []string
	for _, f := range a.Findings {
		codes = append(codes, f.Code)
	}
	for _, code := range e.Diagnosis {
		if !slices.Contains(codes, code) {
			r.off("no diagnosis %s among %q", code, codes)
		}
	}
	for _, code := range e.NotDiagnosis {
		if slices.Contains(codes, code) {
			r.off("diagnosis %s", code)
		}
	}
}
