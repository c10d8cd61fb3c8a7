package merge

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// check refuses a result that no run can have written: what it leaves out, or
// says against itself, would pass unproven beside those of others. The error
// names the field.
func check(r *report.Result) error {
	for _, one := range r.Runs {
		if one == nil {
			return errors.New("runs: got null, where each is a result")
		}
		if err := check(one); err != nil {
			return fmt.Errorf("runs: %w", err)
		}
	}
	if !slices.Contains([]string{verdict.Pass, verdict.Fail, verdict.Inconclusive}, r.Verdict) {
		return fmt.Errorf("verdict: got %s, where it is pass, fail or inconclusive", format.Quote(r.Verdict, 40))
	}
	if _, err := time.Parse(time.RFC3339Nano, r.StartedAt); err != nil {
		return fmt.Errorf("started_at: got %s, where it is a time like 2006-01-02T15:04:05.000Z", format.Quote(r.StartedAt, 40))
	}
	if len(r.Reasons) == 0 {
		return errors.New("reasons: there is none, where every verdict has one")
	}
	if r.Verdict == verdict.Pass {
		return checkPass(r)
	}
	return nil
}

// checkPass refuses a pass without what it must have been earned with.
func checkPass(r *report.Result) error {
	has := func(code string) bool {
		return slices.ContainsFunc(r.Reasons, func(reason report.Reason) bool { return reason.Code == code })
	}
	n := r.Requests
	switch {
	case !has(verdict.ZeroDrop) && !has(verdict.WithinLimit):
		return fmt.Errorf("reasons: the first is %s, where a pass has %s or %s", format.Quote(r.Reasons[0].Code, 40), verdict.ZeroDrop, verdict.WithinLimit)
	case n.Total <= 0:
		return fmt.Errorf("requests.total: got %d, where a pass has sent some", n.Total)
	case n.Deploy < 0 || n.Deploy > 0 && !has(verdict.WithinLimit):
		return fmt.Errorf("requests.deploy: got %d, where a pass for %s has 0", n.Deploy, verdict.ZeroDrop)
	case n.Undecided != 0:
		return fmt.Errorf("requests.undecided: got %d, where a pass has 0", n.Undecided)
	case r.Deploy.Outcome == "":
		return errors.New("deploy.outcome: got nothing, where a pass says what became of the deploy")
	case r.Versions == nil:
		return errors.New("versions: got null, where it is a list")
	}
	return checkSeen(r)
}

// checkSeen refuses a pass whose cutover and what was measured in it do not
// agree. A sum has no cutover of its own, and neither has a first deploy.
func checkSeen(r *report.Result) error {
	roles := map[string]bool{}
	for _, v := range r.Versions {
		roles[v.Role] = true
	}
	lost := 0
	for _, f := range r.Failures {
		if f.Attribution == analysis.ByDeploy {
			lost++
		}
	}
	c := r.Cutover
	switch {
	case lost > r.Requests.Deploy:
		return fmt.Errorf("requests.deploy: got %d, where failures lists %d of the deploy's", r.Requests.Deploy, lost)
	case len(r.Runs) > 0:
		return nil
	case c == nil && (r.Latency.During != nil || r.Latency.After != nil):
		return errors.New("cutover: got null, where latency_ms was measured around one")
	case r.Power == nil && (c != nil || roles[analysis.Old] && roles[analysis.New]):
		return errors.New("power: got null, where a pass over a cutover says what it is worth")
	case c == nil:
		return nil
	case c.By == "version" && !roles[analysis.New]:
		return errors.New("versions: none is new, where the cutover was seen by version")
	case c.By != "marks" && r.Power.RequestsInCutover <= 0:
		return fmt.Errorf("power.requests_in_cutover: got %d, where a pass has some", r.Power.RequestsInCutover)
	}
	return nil
}
