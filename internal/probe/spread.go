package probe

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// headroom is how many more requests of a lane may be open than its rate and
// timeout explain.
const headroom = 10

// lane is a schedule whose requests have a connection, and a goroutine, each.
type lane struct {
	name     sample.Lane
	schedule schedule
	timeout  time.Duration   // the longest of its requests
	work     *sync.WaitGroup // counts its goroutines
	job      func() (job, float64)
}

// spread starts a lane. How many of its requests are open at once is bounded;
// what is over that, or could not be begun within a second, is skipped.
func (r *run) spread(l lane) {
	skips := r.newSkips(l.name)
	limit := int64(math.Ceil(float64(l.timeout)/l.schedule.gap)) + headroom
	var open atomic.Int64
	begin := func(at slot) {
		skips.age(at.woke)
		if late := at.woke-at.at > grace; late || open.Load() >= limit {
			skips.add(at.at, late)
			return
		}
		j, seconds := l.job()
		open.Add(1)
		r.begin(l.work, func() {
			defer open.Add(-1)
			s := &sample.Sample{Lane: l.name, Scheduled: at.at, Started: r.now(), Seconds: seconds}
			s.Late = s.Started - at.at
			switch {
			case r.ctx.Err() != nil: // it is over: nothing more is sent
			case s.Late > grace:
				skips.add(at.at, true)
			default:
				r.once(s, j)
			}
		})
	}
	r.begin(l.work, func() { pace(r.ctx, r.now, l.schedule, begin) })
}

// once sends a request on a connection of its own.
func (r *run) once(s *sample.Sample, j job) {
	m := r.memories.Get().(*scratch)
	defer r.memories.Put(m)
	if k := r.request(s, nil, j, m); k != nil {
		k.leave()
	}
}

// startFresh begins the fresh lane: a tenth of kept's requests, with times of
// their own half-way between two of kept's.
func (r *run) startFresh() {
	if r.cfg.Rate.Max {
		for range max(1, r.cfg.Connections/10) {
			r.begin(&r.fast, r.freshLoop)
		}
		return
	}
	r.spread(lane{
		name:     sample.Fresh,
		schedule: newSchedule(r.between(0.5), r.cfg.FreshRate()),
		timeout:  r.cfg.Fast(),
		work:     &r.fast,
		job:      func() (job, float64) { return r.fastJob(), 0 },
	})
}

// between is a time behind the run's beginning, as a share of kept's gap, so that
// lanes do not fire at the same moment.
func (r *run) between(share float64) int64 {
	if r.cfg.Rate.Max {
		return r.first
	}
	return r.first + int64(share*float64(time.Second)/r.cfg.Rate.PerSecond)
}

func (r *run) freshLoop() {
	for r.ctx.Err() == nil {
		s := &sample.Sample{Lane: sample.Fresh, Started: r.now()}
		s.Scheduled = s.Started
		r.once(s, r.fastJob())
		r.easeOff(s)
	}
}

// slowMargin is what a slow request gets beyond its length.
const slowMargin = 10 * time.Second

// startSlow begins the slow lane, if there is one. Its answers need not hold
// the text that is expected of the main address.
func (r *run) startSlow() {
	if r.slow == nil {
		return
	}
	var longest time.Duration
	for _, t := range r.slow {
		longest = max(longest, t.timeout())
	}
	turn := 0
	r.spread(lane{
		name:     sample.Slow,
		schedule: schedule{first: r.between(0.25), gap: float64(r.cfg.SlowInterval)},
		timeout:  longest,
		work:     &r.held,
		job: func() (job, float64) {
			t := r.slow[turn%len(r.slow)]
			turn++
			return job{to: t.to, msg: t.msg, timeout: t.timeout(), status: r.cfg.ExpectStatus}, t.seconds
		},
	})
}

func (t slowTarget) timeout() time.Duration {
	return time.Duration(t.seconds*float64(time.Second)) + slowMargin
}
