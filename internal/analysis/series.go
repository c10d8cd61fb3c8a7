package analysis

import (
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// step is the length of a slice of the run in pictures.
const step = 100 * time.Millisecond

// buildSeries cuts the run into slices for pictures.
func (s *state) buildSeries() {
	out := Series{Step: step, Buckets: make([]Bucket, int(s.out.Duration/step)+1)}
	took := make([][]int64, int(s.out.Duration/time.Second)+1)
	for _, o := range s.all {
		if o.lane == laneSlow {
			out.Bars = append(out.Bars, s.barOf(o))
		}
		i := int(ns(o.end) / step)
		if o.unfinished() || i >= len(out.Buckets) {
			continue
		}
		b := &out.Buckets[i]
		if o.failed() {
			switch s.judgements[o.fail].by {
			case ByDeploy:
				b.Deploy++
			case Undecided:
				b.Unclear++
			default:
				b.NotDeploy++
			}
			continue
		}
		switch s.roleOf(o) {
		case Old:
			b.Old++
		case New:
			b.New++
		default:
			b.Other++
		}
		if o.fast() {
			second := int(ns(o.end) / time.Second)
			took[second] = append(took[second], o.end-o.sched)
		}
	}
	for _, t := range took {
		out.Seconds = append(out.Seconds, latencyOf(t))
	}
	s.out.Series = out
}

// barOf is one slow request. One that was cut, or left, was old's where it is
// known to have been on old.
func (s *state) barOf(o *obs) Bar {
	b := Bar{From: ns(o.start), To: ns(o.end), Role: s.roleOf(o), ID: sample.RequestID(s.head.ID, o.n)}
	switch {
	case o.unfinished():
		b.Outcome = "unfinished"
	case o.good():
		b.Outcome = "completed"
	case s.isCutMember(o):
		b.Outcome, b.Role = "cut", Old
	default:
		b.Outcome = "failed"
	}
	return b
}
