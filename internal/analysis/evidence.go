package analysis

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// evidence is what direct evidence needs to know of the whole run.
type evidence struct {
	lateOutages []outage
	byRole      map[roleKind]int     // failures whose answer named old, or new
	answers     map[string]int       // answers by role, good or not
	refused     map[laneKind]refusal // of the baseline
	since       map[kind]regression
	sentBefore  int // requests that ended before new's first answer, and all others
	sentAfter   int
}

type roleKind struct {
	role string
	kind kind
}

type laneKind struct {
	lane laneIndex
	kind kind
}

type refusal struct{ n, of int }

// regression is the episodes of a kind before and after new's first answer.
type regression struct {
	before, after int
	late          int // of after, those that began after old's end

	first   int64          // start of the first failure
	seconds map[int64]bool // of the run, in which one began, from new's first answer on
	failed  int            // in them
}

// steadySeconds and steadyShare make failures such that go on all the time.
const (
	steadySeconds = 5
	steadyShare   = 0.8
)

// steady tells whether the kind began in the cutover, was never there before,
// and went on in nearly every second until the run's last, at end.
func (r *regression) steady(interval *Span, end int64) bool {
	if r.before > 0 || interval == nil || ns(r.first) > interval.To || len(r.seconds) < steadySeconds {
		return false
	}
	lasted := end/int64(time.Second) - r.first/int64(time.Second) + 1
	return float64(len(r.seconds)) >= steadyShare*float64(lasted)
}

func (s *state) gatherEvidence(failed []*obs) *evidence {
	ev := &evidence{
		byRole: map[roleKind]int{}, answers: map[string]int{},
		refused: map[laneKind]refusal{}, since: map[kind]regression{},
		lateOutages: s.lateOutages(),
	}
	for _, o := range s.all {
		ev.answers[s.roleOf(o)]++
	}
	for _, o := range failed {
		if r := s.roleOf(o); r != "" {
			ev.byRole[roleKind{r, s.kindOf(o)}]++
		}
	}
	s.gatherRefused(failed, ev)
	s.gatherSince(failed, ev)
	return ev
}

// controlWithin is how far from a failure a probe of the control host speaks for
// it where the bound on follow-ups allowed none of its own.
const controlWithin = int64(500 * time.Millisecond)

// controlBeside is the probe of the control host that a failure fired, else the
// nearest that another one did; nil: there is none near.
func (s *state) controlBeside(o *obs) *sample.FollowUp {
	if own := s.follow[o.n].control; own != nil {
		return own
	}
	i, _ := slices.BinarySearchFunc(s.beside, o.end, func(f *sample.FollowUp, t int64) int { return cmpInt(f.Started, t) })
	var nearest *sample.FollowUp
	for _, f := range s.beside[max(0, i-1):min(len(s.beside), i+1)] {
		off := max(f.Started-o.end, o.end-f.Started)
		if off <= controlWithin && (nearest == nil || off < max(nearest.Started-o.end, o.end-nearest.Started)) {
			nearest = f
		}
	}
	return nearest
}

// gatherSince counts the episodes of each kind before and after new's first answer.
func (s *state) gatherSince(failed []*obs, ev *evidence) {
	c := s.out.Cutover
	if c == nil || c.By == "marks" {
		return
	}
	for _, o := range s.all {
		if o.end < int64(c.Start) {
			ev.sentBefore++
		} else {
			ev.sentAfter++
		}
	}
	blips := s.blipsOf(failed)
	for _, e := range episodesOf(blips, places{}, s.tenRequests()) {
		r := ev.since[e.kind]
		if e.to < c.Start {
			r.before++
		} else {
			r.after++
			if s.out.Stop != nil && e.from > s.out.Stop.End {
				r.late++
			}
		}
		ev.since[e.kind] = r
	}
	for _, o := range failed {
		k := s.kindOf(o)
		r := ev.since[k]
		if r.seconds == nil {
			r.seconds, r.first = map[int64]bool{}, o.start
		}
		if o.end >= int64(c.Start) {
			r.seconds[o.start/int64(time.Second)] = true
			r.failed++
		}
		ev.since[k] = r
	}
}

// gatherRefused counts, for each lane and kind, how much of the lane's
// baseline failed so. Where nothing was deployed all of the run is baseline.
func (s *state) gatherRefused(failed []*obs, ev *evidence) {
	end := s.baselineEnd
	if end < 0 {
		end = s.last
	}
	of := map[laneIndex]int{}
	for _, o := range s.all {
		if o.end <= end && !o.unfinished() {
			of[o.lane]++
		}
	}
	for _, o := range failed {
		if o.end <= end {
			k := laneKind{o.lane, s.kindOf(o)}
			v := ev.refused[k]
			v.n++
			v.of = of[o.lane]
			ev.refused[k] = v
		}
	}
}

// An outage is a stretch in which every request of a lane failed.
type outage struct {
	lane     laneIndex
	from, to int64 // start of the first failure; start of the next good answer, or the run's end
	n        int
}

const (
	lateOutageLength = int64(2 * time.Second)
	lateOutageProbes = 3
)

// lateOutages finds the outages that begin after old's end.
func (s *state) lateOutages() []outage {
	if s.out.Stop == nil || !s.out.Cutover.Complete {
		return nil
	}
	var out []outage
	for _, lane := range []laneIndex{laneKept, laneFresh} {
		for _, g := range s.outagesOf(lane) {
			if ns(g.from) >= s.out.Stop.End && g.to-g.from > lateOutageLength && g.n >= lateOutageProbes {
				out = append(out, g)
			}
		}
	}
	return out
}

func (s *state) outagesOf(lane laneIndex) []outage {
	var out []outage
	var now *outage
	for _, o := range s.fast {
		if o.lane != lane || o.failed() && s.probersOwn(o) {
			continue
		}
		if !o.failed() {
			if now != nil {
				now.to = o.start
				now = nil
			}
			continue
		}
		if now == nil {
			out = append(out, outage{lane: lane, from: o.start})
			now = &out[len(out)-1]
		}
		now.n++
		now.to = max(now.to, o.end)
	}
	return out
}

// stallIn is how long the prober slept while the request was under way.
func (s *state) stallIn(o *obs) time.Duration {
	i, _ := slices.BinarySearchFunc(s.stalls, o.start-int64(time.Minute), func(st stall, t int64) int { return cmpInt(st.from, t) })
	from, to := int64(-1), int64(-1)
	total := int64(0)
	for ; i < len(s.stalls) && s.stalls[i].from < o.end; i++ {
		a, b := max(s.stalls[i].from, o.start), min(s.stalls[i].to, o.end)
		if a >= b {
			continue
		}
		if a > to {
			total += max(0, to-from)
			from, to = a, b
		} else {
			to = max(to, b)
		}
	}
	return ns(total + max(0, to-from))
}
