package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// diagnose names the missing pieces from the shape of what was seen. No rule
// looks at anything but the analysis: a diagnosis does not know who deployed.
func (s *state) diagnose() {
	w := s.words()
	drops := s.dropShapes()
	for _, f := range []*Finding{
		s.drainFinding(drops, w),
		s.gracefulFinding(drops, w),
		s.prestopFinding(drops, w),
		s.keepaliveFinding(drops, w),
		s.pinnedFinding(w),
		s.gapFinding(drops, w),
		s.lateOutageFinding(),
		s.brokenFinding(w),
		s.rollbackFinding(),
		s.mixedFinding(),
		s.truncatedFinding(),
		s.maintenanceFinding(),
		s.retryFinding(),
		s.slowStartFinding(),
		s.flipFlopFinding(),
		s.staleFinding(),
		s.otherVersionFinding(),
		s.changeFinding(w),
		s.blockedFinding(),
		s.cachedFinding(),
		s.proberFinding(),
		s.clockFinding(),
		s.driftFinding(),
		s.activeFinding(),
		s.silentFinding(),
	} {
		if f != nil {
			s.out.Findings = append(s.out.Findings, *f)
		}
	}
	if f := s.unexplainedFinding(w); f != nil {
		s.out.Findings = append(s.out.Findings, *f)
	}
	rank := map[string]int{Error: 0, Warning: 1, Note: 2}
	slices.SortStableFunc(s.out.Findings, func(a, b Finding) int { return rank[a.Severity] - rank[b.Severity] })
}

// dropShapes sorts the deploy's failures by what lost them.
type dropShapes struct {
	cutByEdge   []*obs // in flight when old stopped; a proxy answered for it
	cutDirect   []*obs // in flight when old stopped, on a connection of its own or one that old was still given new ones beside
	newConns    []*obs // on a connection that nobody ever answered on
	keptPinned  []*obs // on a kept connection that old had served
	longestHeld time.Duration
}

func (s *state) dropShapes() dropShapes {
	var d dropShapes
	c := s.out.Cutover
	if c == nil || c.By == "marks" {
		return d
	}
	for _, o := range s.all {
		if !o.failed() || s.judgements[o.fail].by != ByDeploy {
			continue
		}
		f := s.sampleOf(o)
		cut := s.isCutMember(o)
		if cut && o.lane == laneSlow {
			d.longestHeld = max(d.longestHeld, ns(o.end-o.start))
		}
		switch {
		case cut && f.Class == sample.Status:
			d.cutByEdge = append(d.cutByEdge, o)
		case s.judgements[o.fail].reason == ReasonNoVersionAnswered: // nobody would have
		case o.reused() && s.pinned() && s.roleFor(o.prevVer, o.prevInst) == Old:
			d.keptPinned = append(d.keptPinned, o)
			if cut && s.freshReached(o) {
				d.cutDirect = append(d.cutDirect, o)
			}
		case cut:
			d.cutDirect = append(d.cutDirect, o)
		case !c.Gap && !o.reused() && o.first == 0 && neverServed(f.Class):
			d.newConns = append(d.newConns, o)
		}
	}
	return d
}

func neverServed(c sample.Class) bool {
	return c == sample.ConnectRefused || c == sample.ConnectTimeout || c == sample.Reset || c == sample.EOF
}

// stillGiven is how recently a new connection must have reached an instance
// for it to count as still in the load balancer's list.
const stillGiven = 500 * time.Millisecond

// freshReached tells whether the instance of a kept connection was still given
// new connections shortly before this request ended.
func (s *state) freshReached(o *obs) bool {
	for _, v := range s.out.Versions {
		for _, i := range v.Instances {
			if i.ID == s.ids.name(o.prevInst) && i.LastFreshStart >= 0 {
				return ns(o.end)-i.LastFreshStart < stillGiven
			}
		}
	}
	return false
}

func (s *state) drainText() string {
	st := s.out.Stop
	if st == nil || st.At == nil {
		return ""
	}
	return fmt.Sprintf(" %s after its last new request", format.Duration(st.Drain.Lower))
}

func (s *state) drainFinding(d dropShapes, w words) *Finding {
	st := s.out.Stop
	if len(d.cutByEdge) == 0 || s.out.Cutover.Gap || st == nil || st.At == nil {
		return nil
	}
	need := time.Duration(0)
	for _, n := range s.head.Config.SlowSeconds {
		need = max(need, time.Duration(n*1e9))
	}
	return &Finding{Code: "drain-too-short", Severity: Error,
		Summary:  fmt.Sprintf("old was stopped%s while requests were still in flight on it", s.drainText()),
		Evidence: fmt.Sprintf("%s ended together at %s with an answer of the edge's; the longest had run for %s", format.Plural(len(d.cutByEdge), "request", "requests"), format.At(*st.At), format.Duration(d.longestHeld)),
		Cure:     w.longerDrain(st.Drain.Lower, need),
		Paste:    w.longerDrainLines(st.Drain.Lower, need)}
}

func (s *state) gracefulFinding(d dropShapes, w words) *Finding {
	if len(d.cutDirect) == 0 {
		return nil
	}
	code, summary := "not-graceful", "an instance of old exited with requests in flight instead of finishing them"
	promised := time.Duration(s.head.Config.DrainWindow)
	cure, lines := w.graceful, (*Paste)(nil)
	if st := s.out.Stop; promised > 0 && st != nil && st.At != nil && st.Drain.Lower >= promised*9/10 {
		code, summary = "drain-too-short", fmt.Sprintf("old was stopped%s while requests were still in flight on it", s.drainText())
		cure, lines = w.longerDrain(st.Drain.Lower, d.longestHeld), w.longerDrainLines(st.Drain.Lower, d.longestHeld)
	}
	return &Finding{Code: code, Severity: Error, Summary: summary,
		Evidence: fmt.Sprintf("%s lost their connection in flight, %s", format.Plural(len(d.cutDirect), "request", "requests"), s.whenCut(d.cutDirect)),
		Cure:     cure, Paste: lines}
}

// whenCut says at which moments the requests ended.
func (s *state) whenCut(os []*obs) string {
	moments := map[int]bool{}
	for _, o := range os {
		moments[s.cutOf[o.n]] = true
	}
	if len(moments) == 1 {
		return "all at " + format.At(ns(os[0].end))
	}
	return fmt.Sprintf("together at %s between %s and %s", format.Plural(len(moments), "moment", "moments"),
		format.At(ns(os[0].end)), format.At(ns(os[len(os)-1].end)))
}

func (s *state) prestopFinding(d dropShapes, w words) *Finding {
	if len(d.newConns) == 0 || s.oneForOne() {
		return nil
	}
	first, last := d.newConns[0], d.newConns[len(d.newConns)-1]
	return &Finding{Code: "no-prestop", Severity: Error,
		Summary: "new connections were still sent to instances that had stopped taking them",
		Evidence: fmt.Sprintf("%s on new connections got no byte of an answer between %s and %s, while other instances answered",
			format.Plural(len(d.newConns), "request", "requests"), format.At(ns(first.end)), format.At(ns(last.end))),
		Cure: w.prestop, Paste: w.prestopLines}
}

func (s *state) keepaliveFinding(d dropShapes, w words) *Finding {
	if len(d.keptPinned) == 0 {
		return nil
	}
	announced := 0
	for _, o := range d.keptPinned {
		if o.flags&flagPrevClosing != 0 {
			announced++
		}
	}
	return &Finding{Code: "keepalive-not-closed", Severity: Error,
		Summary: "old kept its keep-alive connections open until it died, so requests were still sent on them",
		Evidence: fmt.Sprintf("%s failed on reused connections that old had served; %s of their last answers said Connection: close",
			format.Plural(len(d.keptPinned), "request", "requests"), format.Count(announced)),
		Cure: w.keepalive}
}

// pinnedFor is how much longer old must be seen on reused connections than on
// new ones to be worth a word.
const pinnedFor = 3 * time.Second

func (s *state) pinnedFinding(w words) *Finding {
	c := s.out.Cutover
	if c == nil || c.FreshOverlap == nil || !s.pinned() {
		return nil
	}
	by := c.Overlap - *c.FreshOverlap
	if by < pinnedFor {
		return nil
	}
	return &Finding{Code: "pinned-connection", Severity: Note,
		Summary:  fmt.Sprintf("keep-alive connections stayed on old for %s after new connections had left it", format.Duration(by)),
		Evidence: fmt.Sprintf("overlap %s, on new connections alone %s", format.Duration(c.Overlap), format.Duration(*c.FreshOverlap)),
		Cure:     w.keepalive}
}

// oneForOne tells whether one instance was replaced by the next with nothing
// between: then nobody else could have taken a connection.
func (s *state) oneForOne() bool {
	c := s.out.Cutover
	return c != nil && c.By != "marks" && c.Overlap < 0 && s.oldInstances() == 1
}

func (s *state) gapFinding(d dropShapes, w words) *Finding {
	c := s.out.Cutover
	if c != nil && !c.Gap && len(d.newConns) > 0 && s.oneForOne() {
		return &Finding{Code: "gap", Severity: Error,
			Summary: fmt.Sprintf("for %s nothing answered: the one instance was stopped before the next was ready", format.Duration(-c.Overlap)),
			Evidence: fmt.Sprintf("%s on new connections got no byte of an answer, and no other instance was there to give one",
				format.Plural(len(d.newConns), "request", "requests")),
			Cure: w.gap, Paste: w.gapLines}
	}
	if c == nil || !c.Gap {
		return nil
	}
	return &Finding{Code: "gap", Severity: Error,
		Summary: fmt.Sprintf("for %s nothing answered: old was stopped before new was ready", format.Duration(-c.Overlap)),
		Evidence: fmt.Sprintf("old took its last request at %s, new first answered at %s, and %s in a row failed between them",
			format.At(c.End), format.At(c.Start), format.Plural(c.GapProbes, "probe", "probes")),
		Cure: w.gap, Paste: w.gapLines}
}

func (s *state) countReason(reason string) (n int, first *obs) {
	for _, o := range s.all {
		if o.failed() && s.judgements[o.fail].reason == reason {
			if n++; first == nil {
				first = o
			}
		}
	}
	return n, first
}

func (s *state) lateOutageFinding() *Finding {
	n, first := s.countReason(ReasonLateOutage)
	if n == 0 {
		return nil
	}
	return &Finding{Code: "late-outage", Severity: Error,
		Summary:  fmt.Sprintf("new stopped answering %s after old was gone", format.Duration(ns(first.start)-s.out.Stop.End)),
		Evidence: fmt.Sprintf("%s failed from %s on", format.Plural(n, "request", "requests"), format.At(ns(first.start))),
		Cure:     "look at what new did then: its logs, its memory, its health checks and its restarts"}
}

func (s *state) brokenFinding(w words) *Finding {
	n, first := s.countReason(ReasonNewBroken)
	if n == 0 {
		return nil
	}
	f := s.sampleOf(first)
	return &Finding{Code: "new-version-broken", Severity: Error,
		Summary:  fmt.Sprintf("new (%s) itself answered wrongly: %s", format.Name(f.Version, 40), what(f)),
		Evidence: fmt.Sprintf("%s carried new's id, the first at %s, and old never failed so", format.Plural(n, "failure", "failures"), format.At(ns(first.end))),
		Cure:     w.ready + ", and ask there for what was asked here, so that a version that cannot answer it gets no requests", Paste: w.readyLines}
}

func (s *state) rollbackFinding() *Finding {
	c := s.out.Cutover
	if c == nil || !c.RolledBack {
		return nil
	}
	return &Finding{Code: "rollback", Severity: Error,
		Summary:  "new answered and went again: at the end of the run only old did",
		Evidence: fmt.Sprintf("new first answered at %s; old took requests until %s", format.At(c.Start), format.At(c.End)),
		Cure:     "see why the platform, or the deploy, took new back: its health checks and its logs"}
}

func (s *state) retryFinding() *Finding {
	n := s.out.Slow.ReExecuted
	if n == 0 {
		return nil
	}
	return &Finding{Code: "silent-retry", Severity: Warning,
		Summary:  "a proxy repeated requests that old had lost: they were executed twice, and looked fine",
		Evidence: fmt.Sprintf("%s began over 1 s before new first answered and were finished by new, or took over 1 s longer than asked", format.Plural(n, "slow request", "slow requests")),
		Cure:     "let old finish its requests before it is stopped, and have the proxy repeat only what is safe to run twice"}
}

func (s *state) blockedFinding() *Finding {
	n, first := s.countReason(ReasonBlocked)
	if n == 0 {
		return nil
	}
	return &Finding{Code: "blocked", Severity: Warning,
		Summary:  "the probe was refused: " + s.judgements[first.fail].evidence,
		Evidence: format.Plural(n, "request", "requests") + " were answered so",
		Cure:     "let the probe in (a header, an allowed address), or lower rate and connections until the limit is not met" + s.threatCure()}
}

func (s *state) cachedFinding() *Finding {
	hits := 0
	for _, o := range s.fast {
		if o.flags&flagCached != 0 {
			hits++
		}
	}
	if hits == 0 {
		return nil
	}
	severity := Note
	if hits*2 > len(s.fast) {
		severity = Warning
	}
	return &Finding{Code: "cached", Severity: severity,
		Summary:  fmt.Sprintf("%s came out of a cache, and so say nothing about the service", format.Plural(hits, "answer", "answers")),
		Evidence: fmt.Sprintf("%s of %s requests named a cache hit or an age", format.Count(hits), format.Count(len(s.fast))),
		Cure:     "probe a path that is not cached, or send Cache-Control: no-cache in headers", Paste: noCacheLines}
}

func (s *state) proberFinding() *Finding {
	p := s.out.Prober
	own := s.out.Requests.ProberOwn
	if own == 0 && p.WorstInWindow < troubleLate && p.SkippedInWindow == 0 {
		return nil
	}
	return &Finding{Code: "prober-trouble", Severity: Warning,
		Summary: "the prober itself was in trouble, so the service may have been better or worse than it looks",
		Evidence: fmt.Sprintf("it woke up to %s late, could not send %s in time, and %s were its own fault",
			format.Duration(p.WorstInWindow), format.Plural(p.SkippedInWindow, "request", "requests"), format.Plural(own, "failure", "failures")),
		Cure: "give the runner more CPU and a steady network, or lower rate"}
}

func (s *state) clockFinding() *Finding {
	off := s.out.Deploy.ClockOff
	if off <= clockSay {
		return nil
	}
	return &Finding{Code: "clock", Severity: Warning,
		Summary:  fmt.Sprintf("the deploy's phases come from a clock that is %s off from this machine's", format.Duration(off)),
		Evidence: "by the Date headers of the answers that told them; their times were moved by that",
		Cure:     "set this machine's clock by NTP, and compare times of this report with the platform's own only with that in mind"}
}

// troubleLate is the lateness from which the prober cannot be relied on.
const troubleLate = 500 * time.Millisecond
