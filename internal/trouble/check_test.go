//go:build linux

package trouble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/turns"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// problems are what is wrong with a judgement.
type problems []string

func (p *problems) addf(form string, args ...any) { *p = append(*p, fmt.Sprintf(form, args...)) }

// inTrouble makes a trouble and reports what is wrong with its judgement. Where
// the service itself stood still meanwhile, or never had what the prober sent in
// vain, the judgement has another truth than the test: then it is made again.
func inTrouble(t *testing.T, play func(t *testing.T) (problems, *record, *run.Outcome)) {
	t.Helper()
	wrong := turns.New(1).Play(t, func() (wrong string, spoiled bool) {
		p, truth, out := play(t)
		if len(p) == 0 {
			return "", false
		}
		excuse := truth.excuse(out)
		return fmt.Sprintf("%s\nexcuse: %q; the service was late by %v at most", strings.Join(p, "\n"), excuse, truth.Late), excuse != ""
	})
	if wrong != "" {
		t.Error(wrong)
	}
}

// excuse says why the service did not do what the test takes for granted; "": it did.
func (r *record) excuse(out *run.Outcome) string {
	if r.Late > stall {
		return fmt.Sprintf("the service itself was late by %v", r.Late)
	}
	for _, f := range out.Analysis.Failures {
		if !r.Asked[f.ID] && f.Attribution == analysis.ByDeploy {
			return "the service never had " + f.ID
		}
	}
	return ""
}

// checkBlameless is what must hold in every kind of trouble: the deploy was
// seen, and no failure is laid at its door.
func (p *problems) checkBlameless(out *run.Outcome) {
	a := out.Analysis
	if a.Deploy.Outcome != sample.Succeeded {
		p.addf("the deploy: %s (%s)", a.Deploy.Outcome, a.Deploy.Message)
	}
	if c := a.Cutover; c == nil || c.By != "version" || !c.Complete || c.RolledBack {
		p.addf("cutover %+v", c)
	}
	type kind struct{ lane, class, phase, attribution, reason string }
	count, example := map[kind]int{}, map[kind]analysis.Failure{}
	for _, f := range a.Failures {
		k := kind{f.Lane, f.Class, f.Phase, f.Attribution, f.Reason}
		if count[k]++; count[k] == 1 {
			example[k] = f
		}
	}
	for k, f := range example {
		if k.attribution != analysis.ByProber {
			p.addf("%d of %+v, like %s, from %v to %v, reused %v: %s; %s", count[k], k, f.ID, f.Started, f.Ended, f.Reused, f.Error, f.Evidence)
		}
	}
	for _, f := range a.Findings {
		if f.Severity == analysis.Error {
			p.addf("the diagnosis is that something is wrong with the deploy: %s: %s (%s)", f.Code, f.Summary, f.Evidence)
		}
	}
	if r := a.Requests; r.Deploy != 0 || r.ProberOwn != r.Failed {
		p.addf("of %d failures %d are the deploy's, %d the prober's", r.Failed, r.Deploy, r.ProberOwn)
	}
	if out.Verdict.Verdict == verdict.Fail {
		p.addf("verdict fail: %v", out.Verdict.Reasons)
	}
}

// checkHidden: what nobody saw was not passed.
func (p *problems) checkHidden(out *run.Outcome) {
	v := out.Verdict
	if v.Verdict != verdict.Inconclusive || len(v.Reasons) != 1 || v.Reasons[0].Code != "prober-trouble" {
		p.addf("verdict %s: %v, want inconclusive for prober-trouble alone", v.Verdict, v.Reasons)
	}
}
