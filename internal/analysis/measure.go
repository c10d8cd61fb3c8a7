package analysis

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// count fills the request counts. Failures have been counted already.
func (s *state) count() {
	r := &s.out.Requests
	for _, o := range s.all {
		r.Total++
		if o.flags&flagCached != 0 {
			s.out.CacheHits++
		}
		switch {
		case o.good():
			r.OK++
		case o.unfinished() && o.lane != laneSlow:
			r.Unfinished++
		}
	}
	for _, k := range s.skips {
		r.NotSent += k.N
	}
	r.Reconnects = s.byIdle + s.byOrder
	if c := s.out.Cutover; c != nil && c.By != "marks" && len(s.rtts) > 0 && !s.head.Config.Rate.Max {
		slices.Sort(s.rtts)
		rtt := ns(quantile(s.rtts, 0.5)).Seconds()
		r.IdleRaceExpected = ptr(s.head.Config.Rate.PerSecond * rtt)
	}
	s.atEnd()
}

// atEnd lists the versions of the last fast answers, the newest last.
func (s *state) atEnd() {
	n := 0
	for i := len(s.fast) - 1; i >= 0 && n < 20; i-- {
		o := s.fast[i]
		if !o.named() {
			continue
		}
		n++
		if id := s.ids.name(o.ver); id != "" && !slices.Contains(s.out.AtEnd, id) {
			s.out.AtEnd = append(s.out.AtEnd, id)
		}
	}
	slices.Reverse(s.out.AtEnd)
}

// reExecuted is how much too early a request of new's began, or how much too
// long one took, to have been run by one instance only.
const reExecuted = int64(time.Second)

// countSlow tells what became of the requests that were held open.
func (s *state) countSlow() {
	w, c := &s.out.Slow, s.out.Cutover
	inFlight := 0
	for _, o := range s.all {
		onOld := c != nil && c.By != "marks" && o.start <= int64(c.LastAccept) && o.end > int64(c.LastAccept) && (s.roleOf(o) == Old || s.cutAtOldsStop(o))
		if o.lane != laneSlow {
			continue
		}
		w.Total++
		if onOld {
			inFlight++
		}
		switch {
		case o.unfinished():
			w.Unfinished++
		case o.good():
			w.Completed++
			if onOld {
				w.OldCompleted++
			}
			if took := ns(o.end - o.start); w.LongestOK == nil || took > *w.LongestOK {
				w.LongestOK = ptr(took)
			}
			if s.isReExecuted(o) {
				w.ReExecuted++
			}
		case s.isCutMember(o):
			w.Cut++
		default:
			w.Failed++
		}
	}
	if c != nil && c.By != "marks" && w.Total > 0 {
		w.InFlightAtLastAccept = ptr(inFlight)
	}
}

func (s *state) cutAtOldsStop(o *obs) bool { return s.isCutMember(o) }

// isReExecuted tells whether a good slow answer betrays that it was run twice:
// finished by new though it began before new was there, or far too long.
func (s *state) isReExecuted(o *obs) bool {
	c := s.out.Cutover
	if c != nil && c.By != "marks" && ns(o.start) > c.End && ns(o.start) < c.Start {
		return false // begun while nobody took requests: it was held, and run once
	}
	if c != nil && c.By != "marks" && s.roleOf(o) == New && int64(c.Start)-o.start > reExecuted && o.arrival() > int64(c.Start) {
		return s.firstFastNew() < 0 || s.firstFastNew()-o.start > reExecuted
	}
	return o.seconds > 0 && o.end-o.start-int64(o.seconds*1e9)-int64(s.stallIn(o)) > reExecuted
}

// firstFastNew is the arrival of new's first fast answer, −1 without one: a
// slow request that new finished must not count as new's first sign itself.
func (s *state) firstFastNew() int64 {
	first := int64(-1)
	for _, o := range s.fast {
		if s.roleOf(o) == New {
			first = earlier(first, o.arrival())
		}
	}
	return first
}

// measureLatency takes the quantiles of the fast lanes' good answers, from
// their place in the schedule to their end: before, in and after the cutover.
func (s *state) measureLatency() {
	var before, during, after []int64
	c := s.out.Cutover
	for _, o := range s.fast {
		if !o.good() {
			continue
		}
		took := o.end - o.sched
		switch {
		case s.baselineEnd < 0 || o.end <= s.baselineEnd:
			before = append(before, took)
		case c == nil:
		case ns(o.start) > max(c.Start, c.End):
			after = append(after, took)
		case ns(o.end) >= min(c.Start, c.End):
			during = append(during, took)
		}
	}
	s.out.Before, s.out.During, s.out.After = latencyOf(before), latencyOf(during), latencyOf(after)
}

func latencyOf(took []int64) *Latency {
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	return &Latency{N: len(took), P50: ns(quantile(took, 0.5)), P95: ns(quantile(took, 0.95)),
		P99: ns(quantile(took, 0.99)), Max: ns(took[len(took)-1])}
}

// measurePower tells what the run could not have missed in the cutover interval.
func (s *state) measurePower() {
	i := s.out.Deploy.Interval
	if i == nil {
		return
	}
	p := &Power{}
	last, worst := int64(i.From), int64(0)
	for _, o := range s.all {
		if o.unfinished() || !i.holds(o) {
			continue
		}
		p.RequestsInCutover++
		if o.failed() && s.judgements[o.fail].by != ByProber && s.judgements[o.fail].by != ByConfig {
			p.Failed++
		}
		if o.fast() && o.start >= int64(i.From) {
			worst = max(worst, o.start-last)
			last = o.start
		}
	}
	worst = max(worst, min(int64(i.To), s.last)-last)
	if p.RequestsInCutover > 0 {
		p.MaxFailureRate95 = ptr(upperRate(p.Failed, p.RequestsInCutover))
		p.MinOutage = ptr(ns(worst))
	}
	if c := s.out.Cutover; c != nil {
		c.InCutover = p.RequestsInCutover
	}
	s.out.Power = p
}

// measureProber tells how punctual the prober was and what it could not do.
func (s *state) measureProber() {
	p := &s.out.Prober
	late := make([]int32, 0, len(s.all))
	w := s.out.Deploy.Window
	worst := int32(0)
	for _, o := range s.all {
		late = append(late, o.late)
		if w == nil || w.holds(o) {
			worst = max(worst, o.late)
		}
	}
	if len(late) > 0 {
		slices.Sort(late)
		p.LateP99 = time.Duration(quantile(late, 0.99)) * time.Microsecond
		p.LateMax = time.Duration(late[len(late)-1]) * time.Microsecond
	}
	p.WorstInWindow = time.Duration(worst) * time.Microsecond
	for _, c := range s.controls {
		if c.Class != sample.OK {
			p.ControlFailures++
		}
	}
	for _, k := range s.skips {
		if !k.Prober {
			continue
		}
		p.Skipped += k.N
		if w == nil || w.meets(ns(k.From), ns(k.To)) {
			p.SkippedInWindow += k.N
		}
	}
}
