package probe

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

func TestScheduleDoesNotDrift(t *testing.T) {
	s := newSchedule(5, 300)
	if got := s.at(0); got != 5 {
		t.Errorf("first slot at %d", got)
	}
	// An hour of a rate whose gap is no whole number of nanoseconds.
	if got, want := s.at(300*3600), 5+3600*sec; math.Abs(float64(got-want)) > 1000 {
		t.Errorf("after an hour %d ns off", got-want)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name                string
		at, woke            int64
		ready, started      int64
		wantLate, wantQueue int64
	}{
		{"all in time", 100, 100, 50, 100, 0, 0},
		{"woke late, worker free", 100, 130, 50, 140, 40, 0},
		{"ready as the slot came", 100, 130, 130, 140, 40, 0},
		{"worker busy", 100, 130, 180, 185, 35, 50},
		{"worker busy, nobody late", 100, 100, 180, 180, 0, 80},
	} {
		late, queued := split(slot{at: c.at, woke: c.woke}, c.ready, c.started)
		if late != c.wantLate || queued != c.wantQueue {
			t.Errorf("%s: late %d, queued %d; want %d, %d", c.name, late, queued, c.wantLate, c.wantQueue)
		}
		if late+queued != c.started-c.at {
			t.Errorf("%s: %d + %d is not the whole delay", c.name, late, queued)
		}
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		now := func() int64 { return int64(time.Since(start)) }
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var got []slot
		pace(ctx, now, newSchedule(10*ms, 100), func(s slot) {
			got = append(got, s)
			if s.at == 30*ms {
				time.Sleep(25 * time.Millisecond) // the prober is held up
			}
		})
		want := []slot{
			{10 * ms, 10 * ms}, {20 * ms, 20 * ms}, {30 * ms, 30 * ms},
			{40 * ms, 55 * ms}, {50 * ms, 55 * ms}, // one wake-up for both
			{60 * ms, 60 * ms}, {70 * ms, 70 * ms}, {80 * ms, 80 * ms}, {90 * ms, 90 * ms},
		}
		if len(got) > len(want) && got[len(want)].at == 100*ms { // as the context ends
			got = got[:len(want)]
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(slot{})); diff != "" {
			t.Errorf("slots (-want +got):\n%s", diff)
		}
	})
}

// bench is a kept lane without connections: its service takes serve's time.
type bench struct {
	start   time.Time
	rec     record
	mu      sync.Mutex
	sent    []sample.Sample
	workers sync.WaitGroup
}

func (b *bench) now() int64 { return int64(time.Since(b.start)) }

// run runs the lane for length; hand stands between the dispatcher and the queue.
func (b *bench) run(t *testing.T, workers int, rate float64, length time.Duration, serve func(started int64) time.Duration, hand func(*queue, slot)) {
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	skips := &skips{lane: sample.Kept, sink: b.rec.add}
	q := newQueue(rate, b.now, skips)
	for worker := range workers {
		b.workers.Go(func() {
			q.work(ctx, func(s slot, ready int64) int64 {
				r := sample.Sample{Conn: int64(worker), Scheduled: s.at, Started: b.now()}
				r.Late, r.Queued = split(s, ready, r.Started)
				time.Sleep(serve(r.Started))
				b.mu.Lock()
				defer b.mu.Unlock()
				b.sent = append(b.sent, r)
				return b.now()
			})
		})
	}
	synctest.Wait()
	pace(ctx, b.now, newSchedule(0, rate), func(s slot) { hand(q, s) })
	b.workers.Wait()
	skips.flush()
}

func (b *bench) skipped() (service, prober int) {
	for _, l := range b.rec.all() {
		if l.Skip.Prober {
			prober += l.Skip.N
		} else {
			service += l.Skip.N
		}
	}
	return service, prober
}

// The service holds every connection for three seconds. What was due more than
// a second before it came back is not sent; the rest is queued, not late.
func TestStalledService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{start: time.Now()}
		b.run(t, 4, 100, 7995*time.Millisecond, func(started int64) time.Duration {
			if started >= 2*sec && started < 5*sec {
				return time.Duration(5*sec - started)
			}
			return 10 * time.Millisecond
		}, (*queue).put)

		service, prober := b.skipped()
		if got := len(b.sent) + service + prober; got != 800 {
			t.Errorf("%d sent + %d and %d not sent = %d, want 800", len(b.sent), service, prober, got)
		}
		// Slots 2.00–2.03 s hold the four workers; those up to 3.99 s have had their second by 5 s.
		if service < 190 || service > 200 || prober != 0 {
			t.Errorf("not sent: %d for the service, %d for the prober", service, prober)
		}
		var queued int64
		for _, s := range b.sent {
			if s.Late != 0 || s.Started-s.Scheduled != s.Queued || s.Queued > sec {
				t.Errorf("slot at %d: late %d, queued %d, begun at %d", s.Scheduled, s.Late, s.Queued, s.Started)
			}
			queued = max(queued, s.Queued)
		}
		if queued < 900*ms {
			t.Errorf("longest wait for a connection %d ns, want almost a second", queued)
		}
		if lines := len(b.rec.all()); lines > 4 {
			t.Errorf("%d lines for three seconds of skips", lines)
		}
	})
}

// The prober itself sleeps for three seconds: that is its own fault, and no
// burst makes up for it.
func TestProberWakesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{start: time.Now()}
		b.run(t, 4, 100, 7995*time.Millisecond, func(int64) time.Duration { return time.Millisecond }, func(q *queue, s slot) {
			if s.at == 2*sec {
				time.Sleep(3 * time.Second)
			}
			q.put(s)
		})
		service, prober := b.skipped()
		if got := len(b.sent) + service + prober; got != 800 {
			t.Errorf("%d sent + %d and %d not sent = %d, want 800", len(b.sent), service, prober, got)
		}
		if prober < 198 || prober > 202 {
			t.Errorf("not sent: %d for the prober, %d for the service", prober, service)
		}
		for _, s := range b.sent {
			if s.Started-s.Scheduled > sec+5*ms {
				t.Errorf("slot at %d begun at %d", s.Scheduled, s.Started)
			}
		}
	})
}

// All workers are used in turn: the one that was idle for the longest time is next.
func TestWorkersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{start: time.Now()}
		b.run(t, 5, 100, time.Second, func(int64) time.Duration { return time.Millisecond }, (*queue).put)
		for i := 5; i < len(b.sent); i++ {
			if b.sent[i].Conn != b.sent[i-5].Conn {
				t.Fatalf("request %d went to worker %d, the fifth before it to %d", i, b.sent[i].Conn, b.sent[i-5].Conn)
			}
		}
		if len(b.sent) < 100 {
			t.Errorf("%d sent", len(b.sent))
		}
	})
}

func TestSkipLines(t *testing.T) {
	var rec record
	s := &skips{lane: sample.Fresh, sink: rec.add}
	for _, at := range []int64{0, 200 * ms, 100 * ms, sec} { // workers give up out of order
		s.add(at, false)
	}
	s.add(500*ms, true)
	s.add(1100*ms, false) // beyond the first one's second
	s.age(3400 * ms)      // nothing is over three seconds old yet
	s.age(3600 * ms)
	s.flush()
	var got []sample.Skip
	for _, l := range rec.all() {
		got = append(got, *l.Skip)
	}
	want := []sample.Skip{
		{Lane: sample.Fresh, From: 0, To: sec, N: 4},
		{Lane: sample.Fresh, From: 500 * ms, To: 500 * ms, N: 1, Prober: true},
		{Lane: sample.Fresh, From: 1100 * ms, To: 1100 * ms, N: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
