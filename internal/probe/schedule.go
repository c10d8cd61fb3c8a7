package probe

import (
	"context"
	"time"
)

// grace is how long after its time a request may still be sent.
const grace = int64(time.Second)

// schedule is the times of a lane's slots: slot k is due at first + k·gap.
type schedule struct {
	first int64
	gap   float64 // nanoseconds
}

// newSchedule spaces rate slots a second evenly, the first at first.
func newSchedule(first int64, rate float64) schedule {
	return schedule{first: first, gap: float64(time.Second) / rate}
}

// at is computed from the start each time, so that no rounding adds up.
func (s schedule) at(k int64) int64 { return s.first + int64(float64(k)*s.gap) }

// slot is one place in a schedule.
type slot struct {
	at   int64 // when it is due
	woke int64 // when the prober woke up for it
}

// pace hands out the slots of s, each at its time or as soon after it as the
// prober wakes up, until ctx is done. One wake-up serves all slots that are due
// by then: at high rates waking is most of the cost.
func pace(ctx context.Context, now func() int64, s schedule, hand func(slot)) {
	timer := time.NewTimer(time.Duration(s.at(0) - now()))
	defer timer.Stop()
	for k := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		woke := now()
		for ; s.at(k) <= woke && ctx.Err() == nil; k++ {
			hand(slot{at: s.at(k), woke: woke})
		}
		timer.Reset(time.Duration(s.at(k) - now()))
	}
}

// split tells how a request that began at started came to be later than its
// slot: late is the prober's own (it woke up late, or a free worker was slow to
// take the slot), queued is the wait for a worker that was busy until ready.
// Together they are started − s.at.
func split(s slot, ready, started int64) (late, queued int64) {
	if ready <= s.woke {
		return started - s.at, 0
	}
	queued = ready - s.woke
	return started - s.at - queued, queued
}
