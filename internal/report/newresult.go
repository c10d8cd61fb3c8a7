package report

import (
	"math"
	"net/url"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// NewResult writes down a judged run. It keeps nothing of what it is given.
func NewResult(head sample.Run, a *analysis.Analysis, v verdict.Verdict) *Result {
	r := &Result{
		Schema:     1,
		Cutwatch:   head.Cutwatch,
		StartedAt:  head.StartedAt,
		DurationMS: ms(a.Duration),
		Verdict:    v.Verdict,
		Reasons:    make([]Reason, 0, len(v.Reasons)),
		Target: Target{
			URL: redacted(head.Config.URL), Address: text(a.Target.Address),
			Protocol: text(a.Target.Protocol), Edge: text(a.Target.Edge),
		},
		Versions:  newVersions(a.Versions),
		Cutover:   newCutover(a.Cutover, a.Stop),
		Deploy:    newDeploy(a.Deploy),
		Requests:  newRequests(a.Requests),
		Slow:      newSlow(a.Slow),
		Latency:   Latencies{Before: newLatency(a.Before), During: newLatency(a.During), After: newLatency(a.After)},
		Power:     newPower(a.Power),
		Diagnosis: make([]Finding, 0, len(a.Findings)),
		Prober:    newProber(head, a),
		Platform:  newPlatform(a.Platform),
	}
	for _, reason := range v.Reasons {
		r.Reasons = append(r.Reasons, Reason(reason))
	}
	for _, f := range a.Findings {
		r.Diagnosis = append(r.Diagnosis, Finding{f.Code, f.Severity, f.Summary, f.Evidence, f.Cure})
	}
	kept := sampleFailures(a.Failures, maxFailures, kindOf)
	r.FailuresOmitted = len(a.Failures) - len(kept)
	r.Failures = make([]Failure, 0, len(kept))
	for _, f := range kept {
		r.Failures = append(r.Failures, newFailure(f))
	}
	return r
}

func newPlatform(p *analysis.Platform) *Platform {
	if p == nil {
		return nil
	}
	return &Platform{
		Kind: p.Kind, App: p.App, DeploymentID: text(p.DeploymentID),
		DrainSeconds: p.DrainSeconds, GracePeriodSeconds: p.GracePeriodSeconds,
	}
}

func newVersions(versions []analysis.Version) []Version {
	out := make([]Version, 0, len(versions))
	for _, v := range versions {
		ids := make([]string, 0, len(v.Instances))
		for _, i := range v.Instances {
			ids = append(ids, i.ID)
		}
		out = append(out, Version{
			ID: v.ID, Role: v.Role, FirstMS: ms(v.First),
			LastStartMS: ms(v.LastStart), LastEndMS: ms(v.LastEnd), Instances: ids,
		})
	}
	return out
}

func newCutover(c *analysis.Cutover, stop *analysis.Stop) *Cutover {
	if c == nil {
		return nil
	}
	out := &Cutover{
		By: c.By, StartMS: ms(c.Start), EndMS: ms(c.End), OverlapMS: overlap(c),
		FreshOverlapMS: optMS(c.FreshOverlap), ShareNew: finite(c.ShareNew),
	}
	if stop != nil {
		out.OldStopMS = optMS(stop.At)
		out.Drain = &Drain{Lower: ms(stop.Drain.Lower), Upper: optMS(stop.Drain.Upper), Exact: stop.Drain.Exact}
	}
	return out
}

func newDeploy(d analysis.Deploy) Deploy {
	out := Deploy{
		StartedMS: optMS(d.Started), EndedMS: optMS(d.Ended),
		Outcome: d.Outcome, Signals: make([]Signal, 0, len(d.Signals)),
	}
	if out.Outcome == "" {
		out.Outcome = sample.Unknown
	}
	if d.Window != nil {
		out.WindowMS = &[2]float64{ms(d.Window.From), ms(d.Window.To)}
	}
	for _, s := range d.Signals {
		out.Signals = append(out.Signals, Signal{AtMS: ms(s.At), Source: s.Source, Name: s.Name})
	}
	return out
}

func newRequests(c analysis.Counts) Requests {
	return Requests{
		Total: c.Total, OK: c.OK, Failed: c.Failed,
		Deploy: c.Deploy, Background: c.Background, Prober: c.ProberOwn, Config: c.Config, Undecided: c.Undecided,
		NotSent: c.NotSent, Reconnects: c.Reconnects, HiddenRetries: c.HiddenRetries,
		IdleRace: c.IdleRace, IdleRaceExpected: finite(c.IdleRaceExpected),
	}
}

// overlap is null where the cutover is taken from the deploy's marks: these
// are not when old and new answered.
func overlap(c *analysis.Cutover) *float64 {
	if c.By == "marks" {
		return nil
	}
	v := ms(c.Overlap)
	return &v
}

func newSlow(s analysis.Slow) Slow {
	return Slow{
		Total: s.Total, Completed: s.Completed, Cut: s.Cut, Failed: s.Failed, Unfinished: s.Unfinished,
		InFlightAtLastAccept: s.InFlightAtLastAccept, ReExecuted: s.ReExecuted, LongestOKMS: optMS(s.LongestOK),
	}
}

func newLatency(l *analysis.Latency) *Latency {
	if l == nil || l.N == 0 {
		return nil
	}
	return &Latency{N: l.N, P50: ms(l.P50), P95: ms(l.P95), P99: ms(l.P99), Max: ms(l.Max)}
}

func newPower(p *analysis.Power) *Power {
	if p == nil {
		return nil
	}
	return &Power{
		RequestsInCutover: p.RequestsInCutover,
		MaxFailureRate95:  finite(p.MaxFailureRate95), MinOutageMS: optMS(p.MinOutage),
	}
}

func newProber(head sample.Run, a *analysis.Analysis) Prober {
	var p Prober
	if a.Requests.Total > 0 {
		p99, longest := ms(a.Prober.LateP99), ms(a.Prober.LateMax)
		p.LateP99MS, p.LateMaxMS = &p99, &longest
	}
	if head.Config.ControlURL != "" {
		n := a.Prober.ControlFailures
		p.ControlFailures = &n
	}
	return p
}

func newFailure(f analysis.Failure) Failure {
	return Failure{
		ID: f.ID, Lane: f.Lane, StartedMS: ms(f.Started), EndedMS: ms(f.Ended),
		Class: f.Class, Status: f.Status, Phase: f.Phase, Error: f.Error, AnsweredBy: text(f.AnsweredBy),
		Connection: f.Connection, Reused: f.Reused, Version: text(f.Version), Instance: text(f.Instance),
		Attribution: f.Attribution, Reason: f.Reason, Evidence: f.Evidence,
	}
}

// ms is a duration in milliseconds, rounded to a thousandth.
func ms(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)/time.Microsecond) / 1000
}

func optMS(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	m := ms(*d)
	return &m
}

// text is nil where s is empty, which in an analysis means unknown.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// finite leaves out what JSON cannot hold: a quotient whose divisor was zero is
// unknown.
func finite(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}

// redacted is an address without the password that it may hold.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
