package analysis

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Reason codes of a failure's attribution.
const (
	ReasonCutAtStop         = "cut-at-stop"
	ReasonPinnedToOld       = "pinned-to-old"
	ReasonNoVersionAnswered = "no-version-answered"
	ReasonNewBroken         = "new-broken"
	ReasonInCutover         = "in-cutover"
	ReasonInWindow          = "in-window"
	ReasonLateOutage        = "late-outage"
	ReasonUndecided         = "undecided"
	ReasonOutsideWindow     = "outside-window"
	ReasonBackgroundRate    = "background-rate"
	ReasonIdleAge           = "idle-age"
	ReasonControlFailed     = "control-failed"
	ReasonProberLate        = "prober-late"
	ReasonProberResources   = "prober-resources"
	ReasonBlocked           = "blocked"
	ReasonCached            = "cached"
	ReasonNeverWorked       = "never-worked"
)

// maxFailures is how many failures are described one by one; all are counted.
const maxFailures = 20000

// A judged failure: whose it is, why, and the sentence that says so.
type judged struct {
	by, reason, evidence string
}

// attribute gives every failure its owner, by the first of these that holds:
// the prober's own trouble, a configuration that never worked, direct evidence
// of the deploy, its place and number.
func (s *state) attribute() {
	var failed []*obs
	for _, o := range s.all {
		if o.failed() {
			failed = append(failed, o)
		}
	}
	verdicts := make([]judged, len(s.fails))
	ev := s.gatherEvidence(failed)
	var open []*obs
	for _, o := range failed {
		j, ok := s.direct(o, ev)
		if !ok {
			open = append(open, o)
			continue
		}
		verdicts[o.fail] = j
	}
	s.decideOpen(open, verdicts)
	for _, o := range failed {
		s.countFailure(o, verdicts[o.fail])
		if len(s.out.Failures) < maxFailures {
			s.out.Failures = append(s.out.Failures, s.describe(o, verdicts[o.fail]))
		}
	}
	s.judgements = verdicts
}

// decideOpen judges the failures that have no evidence of their own.
func (s *state) decideOpen(open []*obs, verdicts []judged) {
	blips := s.blipsOf(open)
	at := places{window: s.out.Deploy.Window, interval: s.out.Deploy.Interval, early: ns(max(0, s.baselineEnd) / 2)}
	es := episodesOf(blips, at, s.tenRequests())
	for i, d := range byPlaceAndNumber(es, s.exposures(at), s.past, at.window.length()) {
		j := judged{d.by, d.reason, s.evidenceOf(es[i], open[es[i].members[0]], d)}
		if age, same := s.sameIdleAge(es[i].kind, open); same && d.reason == ReasonBackgroundRate {
			j.reason = ReasonIdleAge
			j.evidence = fmt.Sprintf("the service closed connections that had been idle for %s, as often outside the deploy: %s", format.Duration(age), j.evidence)
		}
		for _, m := range es[i].members {
			verdicts[open[m].fail] = j
		}
	}
}

// sameIdleAge tells whether the idle races of a run all met connections of one
// idle age, within a tenth of it: a keep-alive timeout of the service's.
func (s *state) sameIdleAge(k kind, open []*obs) (age time.Duration, same bool) {
	if k.class != sample.IdleRace {
		return 0, false
	}
	low, high := time.Duration(math.MaxInt64), time.Duration(0)
	for _, o := range open {
		if s.kindOf(o) == k {
			idle := ns(s.sampleOf(o).Idle)
			low, high = min(low, idle), max(high, idle)
		}
	}
	return high, high > 0 && high-low <= high/10
}

// blipsOf is failures, which are in order of start, as place and number see them.
func (s *state) blipsOf(failed []*obs) []blip {
	blips := make([]blip, 0, len(failed))
	good := map[laneIndex]int{}
	for _, o := range s.all {
		if o.good() {
			good[o.lane]++
		}
		if i := len(blips); i < len(failed) && failed[i] == o {
			blips = append(blips, blip{lane: o.lane, kind: s.kindOf(o), start: ns(o.start), end: ns(o.end), good: good[o.lane]})
		}
	}
	return blips
}

// tenRequests is the time in which ten requests are sent.
func (s *state) tenRequests() time.Duration {
	return episodeGood * s.out.Duration / time.Duration(max(1, len(s.all)))
}

// exposures counts the requests of each place.
func (s *state) exposures(at places) exposure {
	var x exposure
	for _, o := range s.all {
		switch {
		case at.interval.holds(o):
			x.interval++
		case at.window.holds(o):
			x.window++
		default:
			x.outside++
		}
	}
	return x
}

// countFailure counts one failure.
func (s *state) countFailure(o *obs, j judged) {
	r := &s.out.Requests
	r.Failed++
	switch j.by {
	case ByDeploy:
		r.Deploy++
	case ByBackground:
		r.Background++
	case ByProber:
		r.ProberOwn++
	case ByConfig:
		r.Config++
	default:
		r.Undecided++
	}
	if s.isIdleRace(o) {
		r.IdleRace++
		if j.by == ByDeploy {
			r.DeployIdleRace++
		}
	}
}

// classOf is the failure's class as the analysis sees it.
func (s *state) classOf(o *obs) sample.Class {
	if s.isIdleRace(o) {
		return sample.IdleRace
	}
	return s.sampleOf(o).Class
}

// minRace is the least time in which a close can be told to have crossed a write.
const minRace = int64(5 * time.Millisecond)

// isIdleRace tells whether the service's close of an idle connection crossed
// the request on its way: a reused connection, no byte of an answer, the close
// within two round trips of the write, and a fresh connection at once was served.
func (s *state) isIdleRace(o *obs) bool { return s.races(o, 1) }

// nearRace is how many times the bound of an idle race a failure may have taken
// to be compared with idle races: a busy machine on either side sees the same
// close a little later.
const nearRace = 10

// races tells whether a failure is an idle race by a bound of so many times the
// strict one.
func (s *state) races(o *obs, times int64) bool {
	if !o.failed() || !o.reused() || o.first != 0 {
		return false
	}
	f := s.sampleOf(o)
	if f.Class != sample.EOF && f.Class != sample.Reset {
		return false
	}
	written := f.Wrote
	if written == 0 {
		written = f.Started // the write itself met the close
	}
	if f.Ended-written > times*max(minRace, 2*f.RTT) {
		return false
	}
	if again := s.follow[o.n].fresh; again != nil {
		return again.Class == sample.OK
	}
	return s.servedAfter(o.end)
}

// soonAfter is how soon another new connection speaks for the one that the
// bound on follow-ups did not allow.
const soonAfter = int64(500 * time.Millisecond)

// servedAfter tells whether the next new connection made after that time, soon
// after it, was served.
func (s *state) servedAfter(t int64) bool {
	i, _ := slices.BinarySearchFunc(s.fast, t, func(o *obs, t int64) int { return cmpInt(o.start, t) })
	for ; i < len(s.fast) && s.fast[i].start <= t+soonAfter; i++ {
		if o := s.fast[i]; !o.reused() {
			return o.good()
		}
	}
	return false
}

// describe is the failure as it is reported.
func (s *state) describe(o *obs, j judged) Failure {
	f := s.sampleOf(o)
	out := Failure{
		N: o.n, ID: sample.RequestID(s.head.ID, o.n), Lane: string(f.Lane),
		Started: ns(f.Started), Ended: ns(f.Ended),
		Class: string(s.classOf(o)), Phase: string(f.Phase), Error: f.Error,
		AnsweredBy: f.By, Reused: o.reused(), LocalPort: f.LocalPort,
		Version: f.Version, Instance: f.Instance,
		Attribution: j.by, Reason: j.reason, Evidence: j.evidence,
	}
	if says := s.edgeSays(f); says != "" {
		out.Evidence += "; " + says
	}
	if f.Status != 0 {
		out.Status = ptr(f.Status)
	}
	if f.Conn != 0 {
		out.Connection = ptr(f.Conn)
	}
	if out.Version == "" && out.Instance == "" && s.pinned() {
		out.Version, out.Instance = s.ids.name(o.prevVer), s.ids.name(o.prevInst)
	}
	return out
}

func (s *state) kindOf(o *obs) kind {
	f := s.sampleOf(o)
	if s.races(o, nearRace) {
		return kind{sample.IdleRace, f.Status, f.By}
	}
	return kind{s.classOf(o), f.Status, f.By}
}
