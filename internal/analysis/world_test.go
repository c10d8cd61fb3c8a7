package analysis

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// A world makes the lines of a run by hand: who answers at which time is a
// function, and every test changes the one thing that it is about.
type world struct {
	head  sample.Run
	lines []sample.Line
	n     int64
	conns []*worldConn
	homes map[int64]time.Duration // when a connection was made
	// serve says what happens to a request begun at this time.
	serve func(at time.Duration, lane sample.Lane, s *sample.Sample)
}

type worldConn struct {
	id     int64
	before int
	last   int64
}

const took = 10 * time.Millisecond // an answer's usual time

func newWorld() *world {
	c := config.Default()
	c.URL = "http://127.0.0.1/"
	c.Settle, c.Tail = config.Duration(5*time.Second), config.Duration(5*time.Second)
	return &world{homes: map[int64]time.Duration{}, head: sample.Run{Schema: 1, ID: "w", Config: *c}}
}

func at(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }

// probe sends kept every 10 ms over 20 connections and fresh every 100 ms.
func (w *world) probe(from, to time.Duration) {
	for t := from; t < to; t += 10 * time.Millisecond {
		w.fast(t, sample.Kept)
	}
	for t := from + 5*time.Millisecond; t < to; t += 100 * time.Millisecond {
		w.fast(t, sample.Fresh)
	}
}

func (w *world) fast(t time.Duration, lane sample.Lane) *sample.Sample {
	s := w.begin(t, lane)
	var c *worldConn
	if lane == sample.Kept {
		c = w.conn(int(s.N) % 20)
		s.Conn, s.Before = c.id, c.before
		if c.before > 0 {
			s.Idle = int64(t) - c.last
		}
	}
	s.Ended = int64(t + took)
	w.serve(t, lane, s)
	w.finish(s)
	if c != nil {
		if s.Conn != c.id { // the service had closed it: dialled anew
			*c = worldConn{id: s.Conn}
		}
		c.before++
		c.last = s.Ended
		if s.Failed() || s.Close {
			*c = worldConn{id: w.nextID()}
		}
	}
	return s
}

func (w *world) begin(t time.Duration, lane sample.Lane) *sample.Sample {
	w.n++
	return &sample.Sample{N: w.n, Lane: lane, Scheduled: int64(t), Started: int64(t), Wrote: int64(t) + 1000, Status: 200, Proto: "HTTP/1.1", By: sample.ByApp}
}

func (w *world) finish(s *sample.Sample) {
	if s.Status != 0 && s.FirstByte == 0 {
		s.FirstByte = s.Ended
	}
	w.lines = append(w.lines, sample.Line{Sample: s})
}

// slow sends a held request every interval and answers it after its length,
// or cuts it.
func (w *world) slow(from, to, every, length time.Duration, serve func(at time.Duration, s *sample.Sample)) {
	w.head.Config.SlowURL = "http://127.0.0.1/slow?seconds={seconds}"
	w.head.Config.SlowSeconds = config.Seconds{length.Seconds()}
	for t := from; t < to; t += every {
		s := w.begin(t, sample.Slow)
		s.Seconds = length.Seconds()
		s.Conn = w.nextID()
		s.Ended = int64(t + length)
		serve(t, s)
		w.finish(s)
	}
}

// redial is what the probe does when it sees that its idle connection was closed.
func (w *world) redial(s *sample.Sample) {
	s.Conn, s.Before, s.Idle, s.Reconnect = w.nextID(), 0, 0, "idle-close"
}

func (w *world) nextID() int64 { w.n++; return 1000000 + w.n }

func (w *world) conn(i int) *worldConn {
	for len(w.conns) <= i {
		w.conns = append(w.conns, &worldConn{id: w.nextID()})
	}
	return w.conns[i]
}

func (w *world) signal(t time.Duration, kind, name, outcome string) {
	w.lines = append(w.lines, sample.Line{Signal: &sample.Signal{At: int64(t), Kind: kind, Source: "command", Name: name, Outcome: outcome}})
}

// deploy marks the baseline's end and the deploy's start and end.
func (w *world) deploy(start, end time.Duration) {
	w.head.Deploy = "command"
	w.signal(start, sample.SignalBaseline, "baseline-ended", "")
	w.signal(start, sample.SignalStart, "command-started", "")
	w.signal(end, sample.SignalEnd, "command-ended", sample.Succeeded)
}

func (w *world) end(t time.Duration, reason string) {
	w.lines = append(w.lines, sample.Line{End: &sample.End{At: int64(t), Reason: reason}})
}

// analyse gives the lines in the order in which a probe would have written them.
func (w *world) analyse(t *testing.T) *Analysis {
	t.Helper()
	slices.SortStableFunc(w.lines, func(a, b sample.Line) int { return cmp.Compare(timeOf(a), timeOf(b)) })
	b := NewBuilder(w.head)
	for _, l := range w.lines {
		b.Add(l)
	}
	a := b.Analysis()
	r := a.Requests
	if r.Failed != r.Deploy+r.Background+r.ProberOwn+r.Config+r.Undecided {
		t.Errorf("failed %d is not the sum of its owners: %+v", r.Failed, r)
	}
	if s := a.Slow; s.Total != s.Completed+s.Cut+s.Failed+s.Unfinished {
		t.Errorf("slow %d is not the sum of its parts: %+v", s.Total, s)
	}
	return a
}

func timeOf(l sample.Line) int64 {
	switch {
	case l.Sample != nil:
		return l.Sample.Ended
	case l.Signal != nil:
		return l.Signal.At
	case l.FollowUp != nil:
		return l.FollowUp.Ended
	case l.End != nil:
		return l.End.At
	}
	return 0
}

func answer(s *sample.Sample, version, instance string) { s.Version, s.Instance = version, instance }

func fail(s *sample.Sample, class sample.Class) {
	s.Class, s.Status, s.By, s.Version, s.Instance, s.FirstByte = class, 0, "", "", "", 0
	s.Ended = s.Started + int64(time.Millisecond)
}

func failStatus(s *sample.Sample, status int, by string) {
	s.Class, s.Status, s.By = sample.Status, status, by
	if by == sample.ByEdge {
		s.Version, s.Instance = "", ""
	}
}

// rolling is an edge that serves old until first, both until last, then new.
func rolling(first, last time.Duration) func(time.Duration, sample.Lane, *sample.Sample) {
	return func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		switch {
		case t+took < first:
			answer(s, "v1", "old-1")
		case t < last && s.N%2 == 0, t == last:
			answer(s, "v1", "old-1")
		default:
			answer(s, "v2", "new-1")
		}
	}
}
