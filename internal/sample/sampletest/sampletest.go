// Package sampletest makes recordings of a deploy that never was, of any
// length, for tests and benchmarks.
//
// They look like a rolling deploy behind an edge: a baseline, an overlap in
// which old and new answer, a stop of old that cuts the slow requests still on
// it (in a recording of some minutes at least), a tail. The same options make
// the same recording.
package sampletest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Options shape a recording.
type Options struct {
	Samples int     // how many, 1 at least
	Rate    float64 // samples per second; 0 is 111: the default rates
	Seed    uint64
}

// The parts of a recording, as shares of its length.
const (
	deployAt   = 0.25 // the baseline is in, the deploy begins
	newAt      = 0.40 // new's first answers
	lastAccept = 0.50 // old's last
	deployEnds = 0.60
)

const (
	slowLength = 20 * time.Second
	drain      = 15 * time.Second // shorter than a slow request: some are cut
)

// Head is the first line of every recording.
func Head() sample.Run {
	c := config.Default()
	c.URL = "https://shop.example.test/health"
	c.SlowURL = "https://shop.example.test/slow?seconds={seconds}"
	return sample.Run{
		Schema: sample.Schema, Cutwatch: "0.0.0-test", ID: "1a2b", StartedAt: "2026-11-30T12:00:00.000Z",
		Config: *c, Deploy: "command", Command: []string{"deploy.sh"},
	}
}

// Write writes a whole recording to a file.
func Write(path string, o Options) error {
	w, err := sample.Create(path, Head())
	if err != nil {
		return err
	}
	for line := range Lines(o) {
		if line.End != nil {
			return w.Close(*line.End)
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	return fmt.Errorf("sampletest: a recording without an end")
}

// Lines is what follows the head: signals and samples in the order in which
// they ended, and the end.
func Lines(o Options) iter.Seq[sample.Line] {
	if o.Rate == 0 {
		o.Rate = 111
	}
	return func(yield func(sample.Line) bool) {
		g := newGenerator(o)
		for i := range o.Samples {
			now := g.at(float64(i) / float64(o.Samples))
			g.hold(g.request(i, now))
			for _, line := range g.due(now) {
				if !yield(line) {
					return
				}
			}
		}
		end := g.length
		for _, line := range g.due(math.MaxInt64) {
			if line.Sample != nil {
				end = max(end, line.Sample.Ended)
			}
			if !yield(line) {
				return
			}
		}
		yield(sample.Line{End: &sample.End{At: end + 1e6, Reason: sample.EndComplete}})
	}
}

type generator struct {
	rand    *rand.Rand
	length  int64 // of the run without the last slow requests
	signals []sample.Signal
	open    []*sample.Sample // requests under way, by end
}

func newGenerator(o Options) *generator {
	g := &generator{
		rand:   rand.New(rand.NewPCG(o.Seed, 1)),
		length: int64(float64(o.Samples) / o.Rate * float64(time.Second)),
	}
	g.signals = []sample.Signal{
		{At: g.at(deployAt), Kind: sample.SignalBaseline, Source: "run", Name: "baseline-in"},
		{At: g.at(deployAt), Kind: sample.SignalStart, Source: "command", Name: "deploy-started"},
		{At: g.at(deployEnds), Kind: sample.SignalEnd, Source: "command", Name: "deploy-ended", Outcome: sample.Succeeded},
	}
	return g
}

// at is the time of a share of the run.
func (g *generator) at(share float64) int64 { return int64(share * float64(g.length)) }

// request is the i-th request, sent at now.
func (g *generator) request(i int, now int64) *sample.Sample {
	ms := func(least, spread float64) int64 { return int64((least + spread*g.rand.ExpFloat64()) * 1e6) }
	s := &sample.Sample{
		N: int64(i) + 1, Lane: sample.Kept, Scheduled: now, Late: ms(0.01, 0.05),
		Conn: int64(i%20) + 1, Before: i / 20, Idle: int64(180 * time.Millisecond), LocalPort: 40000 + i%20,
		Remote: "203.0.113.7:443", Proto: "HTTP/1.1", Status: 200, Bytes: 512, BodyHash: 0x9ae16a3b2f90404f,
		By: sample.ByApp, Edge: "cloudflare",
	}
	s.Started = now + s.Late
	s.Wrote = s.Started + ms(0.02, 0.02)
	took := ms(18, 6)
	switch {
	case i%111 == 110:
		s.Lane, s.Seconds, took = sample.Slow, slowLength.Seconds(), int64(slowLength)+ms(5, 5)
	case i%11 == 10:
		s.Lane = sample.Fresh
	}
	if s.Lane != sample.Kept {
		s.Conn, s.Before, s.Idle, s.LocalPort = int64(i)+1000, 0, 0, 32768+i%28000
		s.Connected = s.Started + ms(8, 2)
		s.TLSDone = s.Connected + ms(16, 3)
		s.Wrote = s.TLSDone + ms(0.02, 0.02)
	}
	s.FirstByte = s.Wrote + took
	s.Ended = s.FirstByte + ms(0.1, 0.2)
	g.answer(s)
	return s
}

// answer says who answered s, and cuts it where that one was gone before.
func (g *generator) answer(s *sample.Sample) {
	share := float64(s.Started) / float64(g.length)
	share = (share - newAt) / (lastAccept - newAt) // 0 where new begins, 1 where old ends
	if share >= 1 || g.rand.Float64() < share/2 {
		s.Version, s.Instance = "f0e1d2c3b4a5", fmt.Sprintf("web-7c9f-%d", g.rand.IntN(3))
		s.BodyHash++
		return
	}
	s.Version, s.Instance = "9f3c2a1b7d60", fmt.Sprintf("web-5d8b-%d", g.rand.IntN(3))
	stop := g.at(lastAccept) + int64(drain)
	if s.Ended > stop {
		*s = sample.Sample{
			N: s.N, Lane: s.Lane, Scheduled: s.Scheduled, Late: s.Late, Started: s.Started, Connected: s.Connected, TLSDone: s.TLSDone,
			Wrote: s.Wrote, Ended: stop + s.N%7*1e6, Conn: s.Conn, LocalPort: s.LocalPort, Remote: s.Remote, RTT: 9e6, Seconds: s.Seconds,
			Proto: s.Proto, Status: 504, By: sample.ByEdge, Edge: s.Edge, Class: sample.Status, Phase: sample.PhaseResponse,
			Headers: map[string]string{"server": "cloudflare", "x-upstream": `<reset> & "gone"`}, Excerpt: "<html>\n<h1>504 Gateway Time-out</h1>",
		}
	}
}

// hold keeps a request until its end.
func (g *generator) hold(s *sample.Sample) {
	i, _ := slices.BinarySearchFunc(g.open, s, func(a, b *sample.Sample) int { return cmp.Compare(a.Ended, b.Ended) })
	g.open = slices.Insert(g.open, i, s)
}

// due is what ended or happened up to now, and was not yet given.
func (g *generator) due(now int64) []sample.Line {
	var out []sample.Line
	for len(g.signals) > 0 && g.signals[0].At <= now {
		signal := g.signals[0]
		g.signals = g.signals[1:]
		out = append(out, sample.Line{Signal: &signal})
	}
	for len(g.open) > 0 && g.open[0].Ended <= now {
		s := g.open[0]
		g.open = g.open[1:]
		out = append(out, sample.Line{Sample: s})
		if s.Failed() {
			out = append(out, sample.Line{FollowUp: &sample.FollowUp{N: s.N, Kind: "fresh", Started: s.Ended, Ended: s.Ended + 30e6, Status: 200, Version: "f0e1d2c3b4a5"}})
		}
	}
	return out
}
