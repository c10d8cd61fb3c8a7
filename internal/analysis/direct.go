package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// direct judges a failure by evidence of its own. It is false where there is
// none, and place and number have to decide.
func (s *state) direct(o *obs, ev *evidence) (judged, bool) {
	for _, step := range []func(*obs, *evidence) (judged, bool){
		s.isProbers, s.isCutOff, s.isConfigs, s.isName, s.isCertificate,
		s.isPinned, s.isCut, s.isNewBroken, s.isInGap, s.isLateOutage, s.isRegression,
	} {
		if j, ok := step(o, ev); ok {
			return j, true
		}
	}
	return judged{}, false
}

// isProbers: the prober's machine or its network failed, not the service.
func (s *state) isProbers(o *obs, _ *evidence) (judged, bool) {
	f := s.sampleOf(o)
	if f.Class == sample.Local {
		return judged{ByProber, ReasonProberResources,
			fmt.Sprintf("the prober's own machine could not %s: %s", verbOf(f.Phase), format.Quote(f.Error, 120))}, true
	}
	if c := s.controlBeside(o); c != nil && c.Class != sample.OK && s.controlWorks() {
		return judged{ByProber, ReasonControlFailed,
			fmt.Sprintf("the control host, asked within %s of the failure, failed too (%s)", format.Duration(ns(max(c.Started-f.Ended, f.Ended-c.Started))), c.Class)}, true
	}
	if f.Class != sample.Timeout && f.Class != sample.ConnectTimeout {
		return judged{}, false
	}
	limit := time.Duration(s.head.Config.Timeout)
	if f.Lane == sample.Slow {
		limit = time.Duration(f.Seconds*1e9) + 10*time.Second
	}
	if late := max(ns(f.Late), s.stallIn(o)); late >= limit/10 {
		return judged{ByProber, ReasonProberLate,
			fmt.Sprintf("the prober itself slept %s of its own timeout of %s", format.Duration(late), format.Duration(limit))}, true
	}
	return judged{}, false
}

// probersOwn tells whether the failure shows the prober's trouble alone, so that
// nothing follows from it about the service.
func (s *state) probersOwn(o *obs) bool {
	_, own := s.isProbers(o, nil)
	_, cutOff := s.isCutOff(o, nil)
	return own || cutOff
}

func verbOf(p sample.Phase) string {
	switch p {
	case sample.PhaseDNS:
		return "resolve the name"
	case sample.PhaseConnect:
		return "open a connection"
	}
	return "send the request"
}

// The parts of a lane's baseline that must have failed alike for the failure to
// be one that was there from the first sample on: where the answer says that the
// probe is refused, and where it says nothing of the kind.
const (
	refusedShare = 0.5
	neverShare   = 0.9
)

// isConfigs: what is probed never worked, or does not come from the service.
func (s *state) isConfigs(o *obs, ev *evidence) (judged, bool) {
	f := s.sampleOf(o)
	if o.flags&flagCached != 0 {
		return judged{ByConfig, ReasonCached, fmt.Sprintf("the answer came out of a cache (age %d s), not from the service", f.CacheAge)}, true
	}
	if f.Status == 429 && limitedByRate(f) {
		return judged{ByConfig, ReasonBlocked, "status 429 with rate-limit headers: the probe's own rate was refused"}, true
	}
	if why := s.edgeRefused(f); why != "" {
		return judged{ByConfig, ReasonBlocked, why}, true
	}
	b := ev.refused[laneKind{o.lane, s.kindOf(o)}]
	refused := f.Status == 401 || f.Status == 403 || f.Status == 429 || challenged(f)
	least := neverShare
	if refused {
		least = refusedShare
	}
	if b.of == 0 || float64(b.n) < least*float64(b.of) {
		return judged{}, false
	}
	where := "before the deploy"
	if s.baselineEnd < 0 {
		where = "in the run"
	}
	counted := fmt.Sprintf("%s of the lane's %s %s failed alike", format.Count(b.n), format.Plural(b.of, "request", "requests"), where)
	if refused {
		return judged{ByConfig, ReasonBlocked, fmt.Sprintf("status %d from the first sample on: %s", f.Status, counted)}, true
	}
	return judged{ByConfig, ReasonNeverWorked, "it never worked: " + counted}, true
}

// isPinned: the connection belonged to an old instance that never answered again.
func (s *state) isPinned(o *obs, _ *evidence) (judged, bool) {
	if !s.pinned() || !o.reused() || !s.afterDeploy(o) || s.roleFor(o.prevVer, o.prevInst) != Old || s.isCutMember(o) {
		return judged{}, false
	}
	if s.inGap(o) {
		return judged{}, false // a new connection would have failed as well
	}
	if f := s.sampleOf(o); f.Class == sample.Status && f.By == sample.ByEdge {
		return judged{}, false // the front ended the connection itself: it was never old's own
	}
	if s.roleOf(o) != "" || (o.prevInst == 0 && !s.out.Cutover.Complete) {
		return judged{}, false
	}
	gone := s.lastOf[o.prevInst]
	if o.prevInst == 0 {
		gone = s.oldEnd
	}
	if gone > o.end+together {
		return judged{}, false
	}
	return judged{ByDeploy, ReasonPinnedToOld, fmt.Sprintf(
		"the connection had been served by old instance %s, which answered nothing after %s; this failed at %s",
		s.instanceName(o), format.At(ns(gone)), format.At(ns(o.end)))}, true
}

func (s *state) instanceName(o *obs) string {
	if o.prevInst != 0 {
		return format.Name(s.ids.name(o.prevInst), 40)
	}
	return "of version " + format.Name(s.ids.name(o.prevVer), 40)
}

// afterDeploy tells whether the request ended after the deploy's first sign.
func (s *state) afterDeploy(o *obs) bool {
	w := s.out.Deploy.Window
	return w != nil && s.out.Cutover != nil && ns(o.end) >= w.From
}

func (s *state) isCutMember(o *obs) bool {
	_, ok := s.cutOf[o.n]
	return ok
}

// isCut: it was in flight on old and ended when old stopped.
func (s *state) isCut(o *obs, _ *evidence) (judged, bool) {
	i, ok := s.cutOf[o.n]
	if !ok {
		return judged{}, false
	}
	g := s.clusters[i]
	held := format.Duration(ns(o.end - o.start))
	if n := len(g.members); n > 1 {
		return judged{ByDeploy, ReasonCutAtStop, fmt.Sprintf(
			"it was in flight for %s when %s ended at the same moment, %s: an instance of old stopped", held,
			format.Plural(n, "request", "requests"), format.At(ns(g.at)))}, true
	}
	return judged{ByDeploy, ReasonCutAtStop, fmt.Sprintf(
		"it was in flight for %s, begun while old still took requests, and ended without its answer at %s, when an instance of old stopped",
		held, format.At(ns(g.at)))}, true
}

// isNewBroken: new itself answered so, and old never did, or far less often.
func (s *state) isNewBroken(o *obs, ev *evidence) (judged, bool) {
	if s.roleOf(o) != New {
		return judged{}, false
	}
	f := s.sampleOf(o)
	k := s.kindOf(o)
	new, old := ev.byRole[roleKind{New, k}], ev.byRole[roleKind{Old, k}]
	if old == 0 {
		return judged{ByDeploy, ReasonNewBroken, fmt.Sprintf("the answer came from new (%s), and none of old's %s failed so (%s)",
			format.Name(f.Version, 40), format.Plural(ev.answers[Old], "answer", "answers"), what(f))}, true
	}
	chance := binomialTail(new, new+old, share(ev.answers[New], ev.answers[Old]))
	if chance >= significance {
		return judged{}, false
	}
	return judged{ByDeploy, ReasonNewBroken, fmt.Sprintf("%s of new's %s failed so (%s), %s of old's %s: by chance in %s of runs",
		format.Count(new), format.Plural(ev.answers[New], "answer", "answers"), what(f), format.Count(old), format.Count(ev.answers[Old]), format.Percent(chance))}, true
}

// isName: the name did not resolve. It is the deploy's where the name's
// addresses changed in the window; else the run cannot tell a record that was
// changed and changed back from a resolver in trouble.
func (s *state) isName(o *obs, _ *evidence) (judged, bool) {
	f := s.sampleOf(o)
	w := s.out.Deploy.Window
	if f.Class != sample.DNS || !w.meets(ns(o.start), ns(o.end)) {
		return judged{}, false
	}
	for i := 1; i < len(s.addrs); i++ {
		if at := ns(s.addrs[i].at); at >= w.From && at <= w.To {
			return judged{ByDeploy, ReasonInWindow, fmt.Sprintf("the name did not resolve, and its addresses changed from %s to %s in the deploy window, at %s",
				format.Clean(s.addrs[i-1].what, 80), format.Clean(s.addrs[i].what, 80), format.At(at))}, true
		}
	}
	return judged{Undecided, ReasonUndecided, "the name did not resolve, and its addresses are the same before and after: a record that was changed for a moment, or a resolver in trouble; a control-url would tell"}, true
}

// isCertificate: TLS failed. A certificate that came with the deploy is the
// deploy's; one that is not valid yet says that a clock is wrong.
func (s *state) isCertificate(o *obs, _ *evidence) (judged, bool) {
	f := s.sampleOf(o)
	if f.Class != sample.TLS {
		return judged{}, false
	}
	if strings.Contains(f.Error, "not yet valid") || strings.Contains(f.Error, "before NotBefore") {
		return judged{ByConfig, ReasonNeverWorked, "the certificate is not valid yet: the clock of this machine, or of the one that issued it, is wrong"}, true
	}
	w := s.out.Deploy.Window
	for _, leaf := range s.leaves {
		if leaf.what == f.Leaf && w != nil && ns(leaf.at) >= w.From && w.meets(ns(o.start), ns(o.end)) {
			return judged{ByDeploy, ReasonInWindow, fmt.Sprintf("the certificate is a new one (%s), first seen at %s, in the deploy window: %s",
				format.Name(leaf.what, 16), format.At(ns(leaf.at)), format.Quote(f.Error, 120))}, true
		}
	}
	return judged{}, false
}

// isInGap: between old's last answer and new's first no version answered.
func (s *state) isInGap(o *obs, _ *evidence) (judged, bool) {
	if !s.inGap(o) {
		return judged{}, false
	}
	c := s.out.Cutover
	return judged{ByDeploy, ReasonNoVersionAnswered, fmt.Sprintf(
		"no version answered between %s and %s (%s): %s in a row failed", format.At(c.End), format.At(c.Start),
		format.Duration(-c.Overlap), format.Plural(c.GapProbes, "probe", "probes"))}, true
}

// inGap tells whether the failure named nobody and was under way in the gap.
func (s *state) inGap(o *obs) bool {
	c := s.out.Cutover
	return c != nil && c.Gap && !o.named() && ns(o.end) >= c.End && ns(o.start) <= c.Start
}

// isLateOutage: after old was gone every probe of the lane failed for a while.
func (s *state) isLateOutage(o *obs, ev *evidence) (judged, bool) {
	for _, g := range ev.lateOutages {
		if g.lane == o.lane || o.lane == laneSlow {
			if o.start >= g.from && o.start < g.to {
				return judged{ByDeploy, ReasonLateOutage, fmt.Sprintf(
					"every one of %s failed for %s, beginning %s after old's end", format.Plural(g.n, "probe", "probes"),
					format.Duration(ns(g.to-g.from)), format.Duration(max(0, ns(g.from)-s.out.Stop.End)))}, true
			}
		}
	}
	return judged{}, false
}

// A regression is told from noise more strictly than the window's failures:
// it is looked for in all runs, also those in which nothing happened.
const (
	regressionEpisodes     = 5
	regressionSignificance = 0.001
)

// isRegression: a kind of failure that goes on since new answers, and was not
// there before. Its answers need not name new: an edge answers for it.
func (s *state) isRegression(o *obs, ev *evidence) (judged, bool) {
	c := s.out.Cutover
	if c == nil || c.By == "marks" || !c.Complete || o.end < int64(c.Start) {
		return judged{}, false
	}
	r := ev.since[s.kindOf(o)]
	if r.steady(s.out.Deploy.Interval, s.lastFast()) {
		return judged{ByDeploy, ReasonNewBroken, fmt.Sprintf("%s of the kind (%s) since new first answered, in nearly every second until the end of the run, and none before",
			format.Plural(r.failed, "failure", "failures"), describeKind(s.kindOf(o)))}, true
	}
	if r.after < regressionEpisodes || r.late == 0 {
		return judged{}, false
	}
	chance := binomialTail(r.after, r.after+r.before, share(ev.sentAfter, ev.sentBefore))
	if chance >= regressionSignificance {
		return judged{}, false
	}
	return judged{ByDeploy, ReasonNewBroken, fmt.Sprintf("%s of the kind (%s) in %s since new first answered, and on after old's end; %s in %s before: by chance in %s of runs",
		format.Plural(r.after, "episode", "episodes"), describeKind(s.kindOf(o)), format.Plural(ev.sentAfter, "request", "requests"),
		format.Count(r.before), format.Count(ev.sentBefore), format.Percent(chance))}, true
}

// what is a failure in a few words.
func what(f *sample.Sample) string {
	if f.Class == sample.Status {
		return fmt.Sprintf("status %d", f.Status)
	}
	return string(f.Class)
}
