package probe

import (
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Why a connection replaces another one.
const (
	afterIdleClose = "idle-close"       // its end was seen before the write
	afterClose     = "connection-close" // the answer announced it
	afterFailure   = "failure"
)

// startKept begins the kept lane: one worker a connection, which take the slots
// of an open schedule, or send as they are answered.
func (r *run) startKept() {
	if r.cfg.Rate.Max {
		for range r.cfg.Connections {
			w := &keptWorker{run: r}
			r.begin(&r.fast, w.loop)
		}
		return
	}
	q := newQueue(r.cfg.Rate.PerSecond, r.now, r.newSkips(sample.Kept))
	for range r.cfg.Connections {
		w := &keptWorker{run: r}
		r.begin(&r.fast, func() {
			defer w.close()
			q.work(r.ctx, w.send)
		})
	}
	r.begin(&r.fast, func() { pace(r.ctx, r.now, newSchedule(r.first, r.cfg.Rate.PerSecond), q.put) })
}

// keptWorker owns one connection of the kept lane at a time.
type keptWorker struct {
	run       *run
	conn      *conn  // nil: the next request makes one
	reconnect string // why, "" at first
	memory    scratch
}

func (w *keptWorker) close() {
	if w.conn != nil {
		w.conn.leave()
	}
}

// loop sends one request after the other, as each is answered.
func (w *keptWorker) loop() {
	defer w.close()
	for w.run.ctx.Err() == nil {
		s := w.next()
		s.Started = w.run.now()
		s.Scheduled = s.Started
		w.record(s)
		w.run.easeOff(s)
	}
}

// send sends the request of a slot; see queue.work.
func (w *keptWorker) send(at slot, ready int64) int64 {
	s := w.next()
	s.Started = w.run.now()
	s.Scheduled = at.at
	s.Late, s.Queued = split(at, ready, s.Started)
	w.record(s)
	return s.Ended
}

// next begins a sample and gives up a connection that the peer has ended. That
// is a reconnect and no failure: the request goes out on a new connection.
func (w *keptWorker) next() *sample.Sample {
	if w.conn != nil && w.conn.gone() {
		w.conn.close()
		w.conn, w.reconnect = nil, afterIdleClose
	}
	s := &sample.Sample{Lane: sample.Kept}
	if w.conn == nil {
		s.Reconnect = w.reconnect
	}
	return s
}

// record sends the request of s and keeps its connection, or the reason why not.
func (w *keptWorker) record(s *sample.Sample) {
	w.conn = w.run.request(s, w.conn, w.run.fastJob(), &w.memory)
	if w.conn != nil {
		return
	}
	w.reconnect = afterFailure
	if s.Close && s.Class != sample.Truncated && s.Class != sample.Timeout {
		w.reconnect = afterClose
	}
}

// easeOff keeps a closed loop from spinning while nothing answers.
func (r *run) easeOff(s *sample.Sample) {
	if s.Class == sample.OK || s.Status != 0 {
		return
	}
	select {
	case <-r.ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}
