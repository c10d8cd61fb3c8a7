package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/appspec"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Platform is the platform that was followed: what it said of the app before the
// deploy, and which deployment it was.
type Platform struct {
	sample.Platform
	DeploymentID string // "": none was seen
}

// readPlatform takes the deployment that ended, else the last one of which
// something was told.
func (s *state) readPlatform() {
	if s.facts == nil {
		return
	}
	p := &Platform{Platform: *s.facts}
	for _, g := range s.signals {
		if g.Deployment != "" {
			p.DeploymentID = g.Deployment
		}
	}
	s.out.Platform = p
}

// onAppPlatform tells whether App Platform was followed.
func (s *state) onAppPlatform() bool {
	return s.out.Platform != nil && s.out.Platform.Kind == config.PlatformDigitalOcean
}

// seconds is a number of them that may be unknown.
func seconds(n *int) (time.Duration, bool) {
	if n == nil {
		return 0, false
	}
	return time.Duration(*n) * time.Second, true
}

// driftBy is how far a measured drain may be from the configured one.
const driftBy = time.Second

// driftFinding compares the drain that was measured with the one that is
// configured. Between drain and drain + grace it is the app that decides.
func (s *state) driftFinding() *Finding {
	st := s.out.Stop
	if !s.onAppPlatform() || st == nil {
		return nil
	}
	drain, known := seconds(s.out.Platform.DrainSeconds)
	grace, knownToo := seconds(s.out.Platform.GracePeriodSeconds)
	if !known || !knownToo {
		return nil
	}
	var summary string
	switch d := st.Drain; {
	case d.Upper != nil && *d.Upper < drain-driftBy:
		summary = fmt.Sprintf("old was stopped %s after its last new request, before the %s of termination.drain_seconds were over", format.Duration(*d.Upper), format.Duration(drain))
	case d.Lower > drain+grace+driftBy:
		summary = fmt.Sprintf("old still ran %s after its last new request, beyond drain_seconds and grace_period_seconds together (%s)", format.Duration(d.Lower), format.Duration(drain+grace))
	default:
		return nil
	}
	return &Finding{Code: "config-drift", Severity: Warning, Summary: summary,
		Evidence: fmt.Sprintf("the spec of the active deployment says drain_seconds %d, grace_period_seconds %d (as set, or by default)", *s.out.Platform.DrainSeconds, *s.out.Platform.GracePeriodSeconds),
		Cure:     "see that the spec that was read is the one that old was deployed with, and that the app does not exit by itself before SIGTERM (its own restarts, its memory limit)"}
}

// activeFinding says how the platform's ACTIVE, which is what a pipeline waits
// for, lies to old's end.
func (s *state) activeFinding() *Finding {
	st, c := s.out.Stop, s.out.Cutover
	if !s.onAppPlatform() || st == nil || c == nil || !c.Complete || s.out.Deploy.Outcome != sample.Succeeded {
		return nil
	}
	i := slices.IndexFunc(s.out.Deploy.Signals, func(g Signal) bool {
		return g.Name == "ACTIVE" && g.Source == config.PlatformDigitalOcean
	})
	if i < 0 {
		return nil
	}
	at, what := st.End, "old's last answer"
	if st.At != nil {
		at, what = *st.At, "old's stop"
	}
	by := s.out.Deploy.Signals[i].At - at
	when := format.Duration(by) + " after " + what
	if by < 0 {
		when = format.Duration(-by) + " before " + what
	}
	measured := "at least " + format.Duration(st.Drain.Lower)
	if st.Drain.Exact {
		measured = format.Duration(st.Drain.Lower)
	}
	configured := "unknown"
	if d, known := seconds(s.out.Platform.DrainSeconds); known {
		configured = format.Duration(d)
	}
	f := &Finding{Code: "platform-active", Severity: Note,
		Summary:  fmt.Sprintf("the platform called the deploy ACTIVE %s", when),
		Evidence: fmt.Sprintf("ACTIVE at %s, %s at %s; drain measured %s, configured %s", format.At(s.out.Deploy.Signals[i].At), what, format.At(at), measured, configured)}
	f.Cure = "none is needed: what waits for ACTIVE finds old gone"
	if by < 0 {
		f.Cure = "let what waits for ACTIVE (a migration, a cache to be emptied) bear that old still runs for so long"
	}
	return f
}

// silentFinding says what could not be followed, since the platform did not answer.
func (s *state) silentFinding() *Finding {
	lost, back := s.signalNamed("api-lost"), s.signalNamed("api-back")
	if lost == nil {
		return nil
	}
	until := "to the end"
	if back != nil {
		until = "until " + format.At(ns(back.At))
	}
	return &Finding{Code: "platform-silent", Severity: Note,
		Summary:  fmt.Sprintf("the platform's API did not answer from %s %s: phases of that time may be missing", format.At(ns(lost.At)), until),
		Evidence: format.Clean(lost.Message, 250),
		Cure:     "none is needed: the requests were sent and judged all the same"}
}

// signalNamed is the first signal of that name; nil where there is none.
func (s *state) signalNamed(name string) *sample.Signal {
	for i := range s.signals {
		if s.signals[i].Name == name {
			return &s.signals[i]
		}
	}
	return nil
}

// words are the cures in the words of the platform, with the figures that it
// told.
func (s *state) words() words {
	w := wordsFor(s.platform())
	if !s.onAppPlatform() {
		return w
	}
	w = appPlatformOf(s.out.Platform)
	switch trigger := s.head.Config.Trigger; {
	case trigger == config.TriggerRestart && !s.namesInstances():
		w.noChange = "a restart keeps the version and replaces the instances alone: have answers name theirs, and say where in instance-from"
		w.noChangeLines = nil
	case trigger == config.TriggerDeploy:
		w.noChange += ", or give trigger: rebuild"
	}
	return w
}

// namesInstances tells whether an answer named its instance.
func (s *state) namesInstances() bool {
	return slices.ContainsFunc(s.out.Versions, func(v Version) bool { return len(v.Instances) > 0 })
}

// appPlatformOf is App Platform's words for an app that is set so.
func appPlatformOf(p *Platform) words {
	w := appPlatform
	drain, known := seconds(p.DrainSeconds)
	if !known || p.GracePeriodSeconds == nil {
		return w
	}
	grace := *p.GracePeriodSeconds
	w.longerDrain = func(measured, need time.Duration) string {
		n, enough := appspec.Drain(max(need, measured))
		longer := max(0, time.Duration(n)*time.Second-drain)
		cost := fmt.Sprintf("set termination.drain_seconds: %d in the app spec (it is %d now); a deploy takes up to %s longer", n, *p.DrainSeconds, format.Duration(longer))
		if !enough {
			return cost + fmt.Sprintf(". That is the most, and not enough for requests of %s: have the app finish them on SIGTERM, within termination.grace_period_seconds (%d now, 600 at most)", format.Duration(need), grace)
		}
		return cost + fmt.Sprintf(". Or have the app finish its requests on SIGTERM, within termination.grace_period_seconds (%d now)", grace)
	}
	w.longerDrainLines = func(measured, need time.Duration) *Paste {
		n, _ := appspec.Drain(max(need, measured))
		return yaml(inService, "termination:", fmt.Sprintf("  drain_seconds: %d", n), fmt.Sprintf("  grace_period_seconds: %d", grace))
	}
	w.graceful = fmt.Sprintf("have the app finish its requests on SIGTERM before it exits, within termination.grace_period_seconds (%d now)", grace)
	ready := "have health_check.http_path answer only when the app is ready"
	if p.HealthCheck == "tcp" {
		ready = "set health_check.http_path to a path that answers only when the app is ready: now an open port is taken for that"
	}
	w.gap = ready
	w.gapLines = yaml(inService, "health_check:", readyPath)
	if p.InstanceCount != nil && *p.InstanceCount < 2 {
		w.gap = "run two instances (instance_count: 2), which costs as much again as the one, and " + ready
		w.gapLines = yaml(inService, "instance_count: 2", "health_check:", readyPath)
		if p.Autoscaling {
			w.gapLines = yaml(inService, "autoscaling:", "  min_instance_count: 2", "health_check:", readyPath)
		}
	}
	w.ready, w.readyLines = ready, yaml(inService, "health_check:", readyPath)
	return w
}

const (
	inService = "# app spec, in the component under services"
	readyPath = "  http_path: /ready  # answers only when the app is ready"
)

// reusedBuild tells whether the platform said that it deployed an earlier build.
func (s *state) reusedBuild() bool {
	return s.signalNamed("build-reused") != nil
}

// threatCure is what lets a probe in that App Platform's edge takes for an attack.
func (s *state) threatCure() string {
	if s.onAppPlatform() && s.out.Platform.ThreatControl {
		return "; enhanced_threat_control_enabled in the app spec is what refuses it"
	}
	return ""
}
