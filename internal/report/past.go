package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// maxDeploys is how many earlier runs a trend goes back.
const maxDeploys = 20

// AsPast is the headline of a result, as later runs see it.
func AsPast(r *Result) sample.PastRun {
	p := sample.PastRun{
		StartedAt: r.StartedAt, Verdict: r.Verdict,
		Requests: r.Requests.Total, Failed: r.Requests.Failed, Deploy: r.Requests.Deploy,
		P99BeforeMS: p99(r.Latency.Before), P99DuringMS: p99(r.Latency.During), P99AfterMS: p99(r.Latency.After),
	}
	if c := r.Cutover; c != nil {
		p.OverlapMS = c.OverlapMS
		if c.Drain != nil {
			p.DrainMS, p.DrainExact = &c.Drain.Lower, c.Drain.Exact
		}
	}
	return p
}

func p99(l *Latency) *float64 {
	if l == nil {
		return nil
	}
	return &l.P99
}

// Sane tells whether a headline that comes from outside can be one: a time, a
// verdict, and figures that a run can have.
func Sane(p sample.PastRun) bool {
	if _, err := time.Parse(time.RFC3339Nano, p.StartedAt); err != nil || len(p.StartedAt) > 40 {
		return false
	}
	if !slices.Contains([]string{verdict.Pass, verdict.Fail, verdict.Inconclusive}, p.Verdict) {
		return false
	}
	if p.Deploy < 0 || p.Failed < p.Deploy || p.Requests < p.Failed || p.Requests > maxRequests {
		return false
	}
	const longest = 31 * 24 * float64(time.Hour/time.Millisecond)
	for _, ms := range []*float64{p.OverlapMS, p.DrainMS, p.P99BeforeMS, p.P99DuringMS, p.P99AfterMS} {
		if ms != nil && !(*ms >= -longest && *ms <= longest) {
			return false
		}
	}
	return true
}

// lastDeploys puts headlines in order of their start and keeps the last ones. A
// result that is there twice counts once.
func lastDeploys(runs []sample.PastRun) []sample.PastRun {
	slices.SortStableFunc(runs, func(a, b sample.PastRun) int {
		return cmp.Compare(startOf(a), startOf(b))
	})
	runs = slices.CompactFunc(runs, func(a, b sample.PastRun) bool { return a.StartedAt == b.StartedAt })
	return runs[max(0, len(runs)-maxDeploys):]
}

// startOf is when a run began; what is not a time is before all others.
func startOf(p sample.PastRun) int64 {
	t, err := time.Parse(time.RFC3339Nano, p.StartedAt)
	if err != nil {
		return 0
	}
	return t.UnixNano()
}
