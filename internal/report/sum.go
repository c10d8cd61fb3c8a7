package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Part is one of several results that are judged together, and what it is
// called: "deploy 2".
type Part struct {
	Name   string
	Result *Result
}

// Sum is one result of several: several deploys in one run, or one deploy seen
// from several places.
//
//   - the verdict is the worst one, and the reasons are those of all parts, the
//     worst part's first, each behind its part's name; of a pass only where all pass;
//   - counts are added; one that a part does not know is not known. Of power and
//     of the prober's lateness the worst counts;
//   - failures, signals and versions are joined, in order of time, on one clock:
//     milliseconds since the first part's start. A version that is old in one
//     part and new in another is there as both;
//   - findings that say the same are one, with all their parts' names;
//   - what is one deploy's own (cutover, window, latency) is null: see the parts.
//
// There must be at least one part. The parts are not kept, and not changed.
func Sum(parts []Part) *Result {
	first := parts[0].Result
	began := beganAt(first.StartedAt)
	for _, p := range parts {
		if at := beganAt(p.Result.StartedAt); at.Before(began) {
			began, first = at, p.Result
		}
	}
	out := &Result{
		Schema: 1, Cutwatch: first.Cutwatch, StartedAt: first.StartedAt,
		Verdict: worstVerdict(parts), Reasons: joinReasons(parts),
		Target: first.Target, Deploy: Deploy{Outcome: worstOutcome(parts), Signals: []Signal{}},
		Versions: []Version{}, Failures: []Failure{},
		Diagnosis: joinFindings(parts), Prober: sumProber(parts),
	}
	s := sums{out: out, offset: func(r *Result) float64 { return ms(beganAt(r.StartedAt).Sub(began)) }}
	for i, p := range parts {
		s.add(p.Result, i == 0)
	}
	s.finish()
	return out
}

// beganAt is when a result began; the zero time where it does not say.
func beganAt(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// sums is a sum being made.
type sums struct {
	out    *Result
	offset func(*Result) float64 // of a part's times, ms
}

func (s *sums) add(r *Result, first bool) {
	out, shift := s.out, s.offset(r)
	out.DurationMS = max(out.DurationMS, shift+r.DurationMS)
	if r.Target.URL != out.Target.URL {
		out.Target.URL = ""
	}
	out.Target.Address = same(out.Target.Address, r.Target.Address)
	out.Target.Protocol = same(out.Target.Protocol, r.Target.Protocol)
	out.Target.Edge = same(out.Target.Edge, r.Target.Edge)
	out.Requests = addRequests(out.Requests, r.Requests, first)
	out.Slow = addSlow(out.Slow, r.Slow, first)
	out.Power = worstPower(out.Power, r.Power, first)
	if r.Platform != nil { // the deployment is the last one
		out.Platform = new(*r.Platform)
	}
	s.deploy(r.Deploy, shift)
	for _, v := range r.Versions {
		s.version(v, shift)
	}
	for _, f := range r.Failures {
		f.StartedMS, f.EndedMS = f.StartedMS+shift, f.EndedMS+shift
		out.Failures = append(out.Failures, f)
	}
	out.FailuresOmitted += r.FailuresOmitted
}

func (s *sums) deploy(d Deploy, shift float64) {
	out := &s.out.Deploy
	if d.StartedMS != nil && (out.StartedMS == nil || *d.StartedMS+shift < *out.StartedMS) {
		out.StartedMS = new(*d.StartedMS + shift)
	}
	if d.EndedMS != nil && (out.EndedMS == nil || *d.EndedMS+shift > *out.EndedMS) {
		out.EndedMS = new(*d.EndedMS + shift)
	}
	for _, g := range d.Signals {
		g.AtMS += shift
		out.Signals = append(out.Signals, g)
	}
}

func (s *sums) version(v Version, shift float64) {
	v.FirstMS, v.LastStartMS, v.LastEndMS = v.FirstMS+shift, v.LastStartMS+shift, v.LastEndMS+shift
	for i := range s.out.Versions {
		had := &s.out.Versions[i]
		if had.ID != v.ID || had.Role != v.Role {
			continue
		}
		had.FirstMS = min(had.FirstMS, v.FirstMS)
		had.LastStartMS, had.LastEndMS = max(had.LastStartMS, v.LastStartMS), max(had.LastEndMS, v.LastEndMS)
		for _, id := range v.Instances {
			if !slices.Contains(had.Instances, id) {
				had.Instances = append(had.Instances, id)
			}
		}
		return
	}
	v.Instances = slices.Clone(v.Instances)
	s.out.Versions = append(s.out.Versions, v)
}

// finish puts what was joined in order.
func (s *sums) finish() {
	out := s.out
	slices.SortStableFunc(out.Failures, func(a, b Failure) int { return cmp.Compare(a.StartedMS, b.StartedMS) })
	kept := sampleFailures(out.Failures, maxFailures, func(f Failure) kind { return kind{f.Attribution, f.Class} })
	out.FailuresOmitted += len(out.Failures) - len(kept)
	out.Failures = kept
	slices.SortStableFunc(out.Deploy.Signals, func(a, b Signal) int { return cmp.Compare(a.AtMS, b.AtMS) })
	slices.SortStableFunc(out.Versions, func(a, b Version) int { return cmp.Compare(a.FirstMS, b.FirstMS) })
}

func addRequests(a, b Requests, first bool) Requests {
	return Requests{
		Total: a.Total + b.Total, OK: a.OK + b.OK, Failed: a.Failed + b.Failed,
		Deploy: a.Deploy + b.Deploy, Background: a.Background + b.Background, Prober: a.Prober + b.Prober,
		Config: a.Config + b.Config, Undecided: a.Undecided + b.Undecided,
		NotSent: a.NotSent + b.NotSent, Reconnects: a.Reconnects + b.Reconnects, HiddenRetries: a.HiddenRetries + b.HiddenRetries,
		IdleRace: a.IdleRace + b.IdleRace, IdleRaceExpected: both(a.IdleRaceExpected, b.IdleRaceExpected, first, plus),
	}
}

func addSlow(a, b Slow, first bool) Slow {
	return Slow{
		Total: a.Total + b.Total, Completed: a.Completed + b.Completed, Cut: a.Cut + b.Cut,
		Failed: a.Failed + b.Failed, Unfinished: a.Unfinished + b.Unfinished, ReExecuted: a.ReExecuted + b.ReExecuted,
		InFlightAtLastAccept: both(a.InFlightAtLastAccept, b.InFlightAtLastAccept, first, plus),
		LongestOKMS:          larger(a.LongestOKMS, b.LongestOKMS),
	}
}

func worstPower(a, b *Power, first bool) *Power {
	switch {
	case first:
		if b == nil {
			return nil
		}
		copied := *b
		return &copied
	case a == nil || b == nil:
		return nil
	}
	return &Power{
		RequestsInCutover: a.RequestsInCutover + b.RequestsInCutover,
		MaxFailureRate95:  both(a.MaxFailureRate95, b.MaxFailureRate95, false, math.Max),
		MinOutageMS:       both(a.MinOutageMS, b.MinOutageMS, false, math.Max),
	}
}

// sumProber is the worst of their lateness and all of their control's failures.
func sumProber(parts []Part) Prober {
	var out Prober
	for i, p := range parts {
		r := p.Result.Prober
		out.LateP99MS, out.LateMaxMS = larger(out.LateP99MS, r.LateP99MS), larger(out.LateMaxMS, r.LateMaxMS)
		out.ControlFailures = both(out.ControlFailures, r.ControlFailures, i == 0, plus)
	}
	return out
}

func plus[T int | float64](a, b T) T { return a + b }

// both joins two values that are known; the first of all stands by itself.
func both[T any](a, b *T, first bool, join func(T, T) T) *T {
	switch {
	case first && b != nil:
		return new(*b)
	case a == nil || b == nil:
		return nil
	}
	return new(join(*a, *b))
}

// larger is the larger one of what is known.
func larger(a, b *float64) *float64 {
	switch {
	case b == nil:
		return a
	case a == nil:
		return new(*b)
	}
	return new(max(*a, *b))
}

// same is what two agree on.
func same(a, b *string) *string {
	if a == nil || b == nil || *a != *b {
		return nil
	}
	return a
}

// rankIn is where a value stands in an order from the worst on.
func rankIn(order []string, value string) int {
	if i := slices.Index(order, value); i >= 0 {
		return i
	}
	return 1 // what is not known proves nothing, and earns nothing
}

var verdictOrder = []string{verdict.Fail, verdict.Inconclusive, verdict.Pass}

func worstVerdict(parts []Part) string {
	at := len(verdictOrder) - 1
	for _, p := range parts {
		at = min(at, rankIn(verdictOrder, p.Result.Verdict))
	}
	return verdictOrder[at]
}

func worstOutcome(parts []Part) string {
	order := []string{sample.Failed, sample.Unknown, sample.TimedOut, sample.Succeeded}
	at := len(order) - 1
	for _, p := range parts {
		at = min(at, rankIn(order, p.Result.Deploy.Outcome))
	}
	return order[at]
}

func joinReasons(parts []Part) []Reason {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b Part) int {
		return cmp.Compare(rankIn(verdictOrder, a.Result.Verdict), rankIn(verdictOrder, b.Result.Verdict))
	})
	out := []Reason{}
	bad := sorted[0].Result.Verdict != verdict.Pass
	for _, p := range sorted {
		if bad && p.Result.Verdict == verdict.Pass {
			continue
		}
		for _, r := range p.Result.Reasons {
			out = append(out, Reason{r.Code, p.Name + ": " + r.Message})
		}
	}
	return out
}

// joinFindings makes one of those whose code and cure are the same.
func joinFindings(parts []Part) []Finding {
	out := []Finding{}
	var names [][]string
	for _, p := range parts {
		for _, f := range p.Result.Diagnosis {
			i := slices.IndexFunc(out, func(had Finding) bool { return had.Code == f.Code && had.Severity == f.Severity && had.Cure == f.Cure })
			if i < 0 {
				out, names = append(out, f), append(names, []string{p.Name})
				continue
			}
			names[i] = append(names[i], p.Name)
		}
	}
	for i := range out {
		out[i].Summary = fmt.Sprintf("%s: %s", strings.Join(names[i], ", "), out[i].Summary)
	}
	return out
}
