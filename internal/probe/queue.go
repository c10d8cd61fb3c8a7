package probe

import (
	"context"
	"math"
	"sync"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// queue carries slots from the dispatcher to the workers of a lane. A slot that
// could not be begun within its second is given up and counted, so that a
// service that comes back is not met by a burst.
type queue struct {
	slots chan slot
	now   func() int64
	skips *skips
}

// newQueue has room for a little over a second of slots.
func newQueue(rate float64, now func() int64, skips *skips) *queue {
	return &queue{slots: make(chan slot, int(math.Ceil(rate*float64(grace)/1e9))+2), now: now, skips: skips}
}

// put hands a slot on and never blocks. There must be one caller at a time.
//
// Where workers wait, the runtime gives the slot to the one that has waited
// longest: the connection that was idle for the longest time is used next, and
// all are used in turn.
func (q *queue) put(s slot) {
	q.skips.age(s.woke)
	if s.woke-s.at > grace {
		q.skips.add(s.at, true)
		return
	}
	for {
		select {
		case q.slots <- s:
			return
		default:
		}
		// Full: the oldest has waited for over a second.
		select {
		case old := <-q.slots:
			q.skips.add(old.at, false)
		default:
		}
	}
}

// work takes slots until ctx is done and has send send a request for each. send
// gets the slot and when this worker was ready for it, and returns when the
// answer was in, from which on the worker is ready again.
func (q *queue) work(ctx context.Context, send func(s slot, ready int64) (answered int64)) {
	ready := q.now()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-q.slots:
			if ctx.Err() != nil {
				return
			}
			if late, queued := split(s, ready, q.now()); late+queued > grace {
				q.skips.add(s.at, late > queued)
				continue
			}
			ready = send(s, ready)
		}
	}
}

// skips counts the slots of a lane that were given up, and writes them in lines
// that cover up to about a second each.
type skips struct {
	lane sample.Lane
	sink func(sample.Line)

	mu      sync.Mutex
	pending [2]sample.Skip // [1]: the prober was the cause
}

// add counts the slot that was due at at.
func (s *skips) add(at int64, prober bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pending[0]
	if prober {
		p = &s.pending[1]
	}
	if p.N > 0 && at-p.From > grace {
		s.write(p)
	}
	if p.N == 0 {
		*p = sample.Skip{Lane: s.lane, From: at, To: at, Prober: prober}
	}
	p.From, p.To = min(p.From, at), max(p.To, at)
	p.N++
}

// age writes what was given up so long ago that no more will join it.
func (s *skips) age(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pending {
		if p := &s.pending[i]; p.N > 0 && now-p.From > 3*grace {
			s.write(p)
		}
	}
}

// flush writes everything that is pending.
func (s *skips) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pending {
		if s.pending[i].N > 0 {
			s.write(&s.pending[i])
		}
	}
}

func (s *skips) write(p *sample.Skip) {
	skip := *p
	*p = sample.Skip{}
	s.sink(sample.Line{Skip: &skip})
}
