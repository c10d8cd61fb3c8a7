package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// A cutOff is a time in which the prober was cut off: it could not reach the
// control host, and nothing came in from the service either. It reaches from the
// last sign of life to the next.
type cutOff struct {
	from, to int64
	why      string // what showed it
}

const (
	// slowControl is how much longer than usual, at least, the control host must
	// have taken to answer for its answer to show trouble: half of a lost packet's
	// time of repetition.
	slowControl = int64(100 * time.Millisecond)
	// slowControlTimes is that in units of what is usual.
	slowControlTimes = 5
	// controlUsual is what is taken as usual where too few checks tell it.
	controlUsual = int64(180 * time.Millisecond)
	// controlChecks is how few checks those are.
	controlChecks = 3
)

// findCutOffs finds the times in which the prober was cut off. Something that
// came in from the service in the midst of it shows that it was not: then the
// control host had trouble of its own.
func (s *state) findCutOffs() {
	slices.SortFunc(s.controls, func(a, b *sample.FollowUp) int {
		return cmpThen(a.Started, b.Started, sample.RequestID("", a.N), sample.RequestID("", b.N))
	})
	for _, c := range s.controls {
		if c.N != 0 {
			s.beside = append(s.beside, c)
		}
	}
	troubles := s.signsOfTrouble()
	if len(troubles) == 0 {
		return
	}
	signs := s.signsOfLife()
	for _, bad := range troubles {
		// The longest silence that the trouble lies in.
		var best cutOff
		i, _ := slices.BinarySearch(signs, bad.from)
		for i = max(0, i-1); i+1 < len(signs) && signs[i] <= bad.to; i++ {
			if from, to := signs[i], signs[i+1]; to-from > best.to-best.from {
				best = cutOff{from, to, bad.why}
			}
		}
		inside := min(best.to, bad.to) - max(best.from, bad.from)
		if best.to == 0 || 2*inside < bad.to-bad.from {
			continue
		}
		if n := len(s.cutOffs); n > 0 && s.cutOffs[n-1].from == best.from {
			continue // the same silence
		}
		s.cutOffs = append(s.cutOffs, best)
	}
}

// signsOfLife are the times at which something came in from anywhere, in order,
// the run's two ends among them.
func (s *state) signsOfLife() []int64 {
	signs := []int64{0, s.last}
	for _, o := range s.all {
		switch {
		case o.first != 0:
			signs = append(signs, o.first)
		case o.failed():
			switch s.sampleOf(o).Class {
			case sample.ConnectRefused, sample.Reset, sample.EOF: // the peer said so
				signs = append(signs, o.end)
			}
		}
	}
	for _, c := range s.controls {
		if c.Class == sample.OK {
			signs = append(signs, c.Ended)
		}
	}
	slices.Sort(signs)
	return signs
}

// signsOfTrouble are the times in which the control host could not be reached,
// or only after long, and those at which there was no way out, in order.
func (s *state) signsOfTrouble() []cutOff {
	limit, works := s.controlLimit(), s.controlWorks()
	var out []cutOff
	for _, c := range s.controls {
		switch took := c.Ended - c.Started; {
		case !works:
		case c.Class != sample.OK:
			out = append(out, cutOff{c.Started, c.Ended, fmt.Sprintf("the control host failed too (%s)", c.Class)})
		case took > limit:
			out = append(out, cutOff{c.Started, c.Ended, fmt.Sprintf("the control host too answered only after %s", format.Duration(ns(took)))})
		}
	}
	for _, f := range s.fails {
		if f.Class == sample.Local && f.Phase == sample.PhaseConnect {
			out = append(out, cutOff{f.Started, f.Ended, fmt.Sprintf("the prober had no way out (%s)", format.Quote(f.Error, 120))})
		}
	}
	slices.SortFunc(out, func(a, b cutOff) int { return cmpInt(a.from, b.from) })
	return out
}

// controlWorks tells whether the control host can be reached as a rule. One that
// cannot says nothing about the prober's network, and must excuse nothing.
func (s *state) controlWorks() bool {
	good, all := 0, 0
	for _, c := range s.controls {
		if c.N == 0 {
			all++
			if c.Class == sample.OK {
				good++
			}
		}
	}
	return 2*good >= all
}

// controlLimit is how long the control host may take to answer.
func (s *state) controlLimit() int64 {
	var took []int64
	for _, c := range s.controls {
		if c.N == 0 && c.Class == sample.OK {
			took = append(took, c.Ended-c.Started)
		}
	}
	usual := controlUsual
	if len(took) >= controlChecks {
		slices.Sort(took)
		usual = quantile(took, 0.5)
	}
	return max(usual+slowControl, slowControlTimes*usual)
}

// cutOffIn is the time in which the prober was cut off while the request was
// under way; nil: none.
func (s *state) cutOffIn(o *obs) *cutOff {
	i, _ := slices.BinarySearchFunc(s.cutOffs, o.start, func(c cutOff, t int64) int { return cmpInt(c.to, t) })
	if i < len(s.cutOffs) && s.cutOffs[i].from <= o.end {
		return &s.cutOffs[i]
	}
	return nil
}

// starved tells whether the request failed for want of anything that came in.
func (s *state) starved(o *obs) bool {
	switch s.sampleOf(o).Class {
	case sample.Timeout, sample.ConnectTimeout, sample.DNS, sample.Local:
		return true
	}
	return false
}

// isCutOff: nothing reached the prober, from the service or from elsewhere.
func (s *state) isCutOff(o *obs, _ *evidence) (judged, bool) {
	c := s.cutOffIn(o)
	if c == nil || !s.starved(o) {
		return judged{}, false
	}
	return judged{ByProber, ReasonControlFailed, fmt.Sprintf("from %s to %s nothing at all reached the prober: %s",
		format.At(ns(c.from)), format.At(ns(c.to)), c.why)}, true
}
