package analysis

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// state is one analysis under way. Each step reads what earlier ones wrote;
// Analysis lists them in order.
type state struct {
	*Builder
	out *Analysis

	all  []*obs // in order of start
	fast []*obs // kept and fresh, in order of start

	baselineEnd int64 // −1: the baseline was never in
	deployStart int64 // −1: unknown
	deployEnd   int64 // −1: unknown

	role     []string // by version, or by instance where the cutover is by instance
	instOld  map[uint16]bool
	lastOf   map[uint16]int64 // end of an instance's last answer
	oldEnd   int64            // end of old's last answer
	clusters []cluster        // cuts together, in order of time
	cutOf    map[int64]int    // request number → index in clusters
	stop     *cluster         // the one that was old's stop

	stalls  []stall            // times at which the prober slept, in order
	cutOffs []cutOff           // times in which it was cut off, in order
	beside  []*sample.FollowUp // to the control host on failures, in order

	judgements []judged // by obs.fail
}

// Analysis makes the analysis of all lines added so far.
func (b *Builder) Analysis() *Analysis {
	s := &state{Builder: b, out: &Analysis{}, baselineEnd: -1, deployStart: -1, deployEnd: -1, cutOf: map[int64]int{}}
	s.out.Duration = ns(b.last)
	if b.end != nil {
		s.out.End, s.out.EndNote = b.end.Reason, b.end.Message
	}
	s.order()
	s.findTruncated()
	s.findStalls()
	s.findCutOffs()
	s.readSignals()
	s.readPlatform()
	s.baseline()
	s.findVersions()
	s.findCutover()
	s.findStop()
	s.findWindow()
	s.findUnnamed()
	s.attribute()
	s.count()
	s.countSlow()
	s.measureLatency()
	s.measurePower()
	s.measureProber()
	s.buildSeries()
	s.diagnose()
	return s.out
}

// order sorts requests by their start; the file has them by their end.
func (s *state) order() {
	n := 0
	for _, c := range s.chunks {
		n += len(c)
	}
	s.all = make([]*obs, 0, n)
	s.each(func(o *obs) { s.all = append(s.all, o) })
	slices.SortFunc(s.all, func(a, b *obs) int {
		if a.start != b.start {
			return cmpInt(a.start, b.start)
		}
		return cmpInt(a.n, b.n)
	})
	s.fast = make([]*obs, 0, n)
	for _, o := range s.all {
		if o.fast() && !o.unfinished() {
			s.fast = append(s.fast, o)
			s.out.Probed = max(s.out.Probed, ns(o.start))
		}
	}
}

// A stall is a time at which the prober should have woken up and did not.
type stall struct{ from, to int64 }

// stallLeast is the lateness that counts as one.
const stallLeast = 100 * time.Millisecond

func (s *state) findStalls() {
	for _, o := range s.all {
		if late := int64(o.late) * 1000; late > int64(stallLeast) {
			s.stalls = append(s.stalls, stall{o.sched, o.sched + late})
		}
	}
	for _, k := range s.skips {
		if k.Prober { // it woke over a second after each of these
			s.stalls = append(s.stalls, stall{k.From, k.To + int64(time.Second)})
		}
	}
	slices.SortFunc(s.stalls, func(a, b stall) int { return cmpInt(a.from, b.from) })
}

func cmpInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// readSignals takes the deploy's start, end and outcome from what was signalled.
// What comes before the start (a build) is no part of the deploy; a deploy of
// which only the end was told began no earlier.
func (s *state) readSignals() {
	d := &s.out.Deploy
	for _, g := range s.signals {
		switch g.Kind {
		case sample.SignalBaseline:
			s.baselineEnd = g.At
			continue
		case sample.SignalStart:
			if s.deployStart < 0 {
				s.deployStart = g.At
			}
		case sample.SignalEnd:
			s.deployEnd = g.At
			d.Outcome, d.Message = g.Outcome, g.Message
		}
		if abs := time.Duration(max(g.Offset, -g.Offset)); abs > s.out.Deploy.ClockOff {
			s.out.Deploy.ClockOff = abs
		}
		d.Signals = append(d.Signals, Signal{At: ns(g.At), Source: g.Source, Name: g.Name, Message: g.Message, Note: g.Kind == sample.SignalNote})
	}
	// A platform's phases are told when they are seen, at the times they had.
	slices.SortStableFunc(d.Signals, func(a, b Signal) int { return cmpInt(int64(a.At), int64(b.At)) })
	if s.deployStart < 0 {
		s.deployStart = s.deployEnd
	}
	if s.deployStart >= 0 {
		d.Started = ptr(ns(s.deployStart))
	}
	if s.deployEnd >= 0 {
		d.Ended = ptr(ns(s.deployEnd))
	}
	if d.Outcome == "" {
		d.Outcome = sample.Unknown
	}
}

// baseline counts what came before the deploy.
func (s *state) baseline() {
	if s.baselineEnd < 0 {
		return
	}
	s.out.Baseline = &Span{0, ns(s.baselineEnd)}
	for _, o := range s.fast {
		if o.end > s.baselineEnd {
			continue
		}
		s.out.BaselineRequests++
		if o.good() {
			s.out.BaselineOK++
		}
	}
}

// sampleOf is the whole record of a failed request.
func (s *state) sampleOf(o *obs) *sample.Sample { return s.fails[o.fail] }
