package analysis

import (
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Builder takes a run's lines in the order in which they were recorded and
// makes the analysis of them. It holds about 80 bytes a request, so that a
// million of them fit in a small container; failures are kept whole.
type Builder struct {
	head    sample.Run
	ids     interner
	chunks  [][]obs
	fails   []*sample.Sample // parallel to the obs with index obs.fail
	follow  map[int64]followUps
	past    History
	signals []sample.Signal
	skips   []sample.Skip
	end     *sample.End
	facts   *sample.Platform      // the last that was told
	conns   map[int64]connHistory // of the kept lane
	mixed   bool                  // a connection was served by two instances: a proxy stands between
	target  Target
	rtts    []int64 // connect times of fresh connections, a sample of them
	last    int64   // the latest time in any line
	byIdle  int     // reconnects after an idle close
	byOrder int     // reconnects after Connection: close
	addrs   []dated // the addresses of the name, each time they were others
	leaves  []dated // leaf certificates, each when it was first seen

	controls []*sample.FollowUp // what became of asking the control host, at failures and once a second
}

// dated is a fact and when it was first seen.
type dated struct {
	at   int64
	what string
}

// obs is one request, compact. Strings are interned; times are ns since the start.
type obs struct {
	sched, start, first, end int64
	n                        int64
	fail                     int32 // index in Builder.fails, −1: good
	bytes                    int32 // of the body
	late                     int32 // µs
	conn                     uint32
	seconds                  float32
	ver, inst                uint16 // who answered; 0: nobody or no id
	prevVer, prevInst        uint16 // who answered last on this connection; 0: nobody
	status                   uint16
	lane                     laneIndex
	flags                    flag
}

type laneIndex uint8

const (
	laneOther laneIndex = iota
	laneKept
	laneFresh
	laneSlow
)

type flag uint8

const (
	flagReused flag = 1 << iota
	flagUnfinished
	flagCached
	flagClosing // the answer said Connection: close
	flagPrevClosing
	flagBroken // the body is not whole by its own grammar
	flagUnsized
)

func (o *obs) good() bool       { return o.fail < 0 && o.flags&flagUnfinished == 0 }
func (o *obs) failed() bool     { return o.fail >= 0 }
func (o *obs) fast() bool       { return o.lane == laneKept || o.lane == laneFresh }
func (o *obs) reused() bool     { return o.flags&flagReused != 0 }
func (o *obs) unfinished() bool { return o.flags&flagUnfinished != 0 }

// named tells whether the answer says who served it. One out of a cache says
// who served it once.
func (o *obs) named() bool { return (o.ver != 0 || o.inst != 0) && o.flags&flagCached == 0 }

// arrival is when the answer began to come.
func (o *obs) arrival() int64 {
	if o.first != 0 {
		return o.first
	}
	return o.end
}

type connHistory struct {
	ver, inst uint16
	closing   bool
}

type followUps struct{ fresh, control *sample.FollowUp }

// chunkSize is how many obs are allocated at once: growing one slice would
// hold twice its size for a moment.
const chunkSize = 1 << 14

// wholeFailures is how many failures keep their headers and bodies; later ones
// keep what the judgement needs.
const wholeFailures = 5000

// NewBuilder makes a builder for the run whose first line is head.
func NewBuilder(head sample.Run) *Builder {
	return &Builder{head: head, ids: newInterner(), past: historyOf(head.History), follow: map[int64]followUps{}, conns: map[int64]connHistory{}}
}

// Add takes the next line.
func (b *Builder) Add(l sample.Line) {
	switch {
	case l.Sample != nil:
		b.addSample(l.Sample)
	case l.FollowUp != nil:
		f := b.follow[l.FollowUp.N]
		if l.FollowUp.Kind == "control" {
			b.controls = append(b.controls, l.FollowUp)
			f.control = l.FollowUp
		} else {
			f.fresh = l.FollowUp
		}
		b.follow[l.FollowUp.N] = f
	case l.Signal != nil:
		b.signals = append(b.signals, *l.Signal)
		b.see(l.Signal.At)
	case l.Platform != nil:
		b.facts = l.Platform
	case l.Skip != nil:
		b.skips = append(b.skips, *l.Skip)
		b.see(l.Skip.To)
	case l.End != nil:
		b.end = l.End
		b.see(l.End.At)
	}
}

func (b *Builder) see(at int64) { b.last = max(b.last, at) }

func (b *Builder) addSample(s *sample.Sample) {
	b.see(s.Ended)
	o := obs{
		sched: s.Scheduled, start: s.Started, first: s.FirstByte, end: s.Ended, n: s.N,
		fail: -1, bytes: clamp32(s.Bytes), late: clamp32(s.Late / 1000), conn: uint32(s.Conn), seconds: float32(s.Seconds),
		ver: b.ids.index(s.Version), inst: b.ids.index(s.Instance),
		status: uint16(s.Status), lane: laneOf(s.Lane),
	}
	if s.Before > 0 {
		o.flags |= flagReused
	}
	if s.Unfinished {
		o.flags |= flagUnfinished
	}
	if s.CacheHit || s.CacheAge > 0 {
		o.flags |= flagCached
	}
	if s.Close {
		o.flags |= flagClosing
	}
	if s.Broken {
		o.flags |= flagBroken
	}
	if s.Unsized {
		o.flags |= flagUnsized
	}
	b.noteConnection(s, &o)
	b.noteTarget(s)
	if s.Failed() {
		o.fail = int32(len(b.fails))
		b.fails = append(b.fails, b.keep(s))
	}
	if len(b.chunks) == 0 || len(b.chunks[len(b.chunks)-1]) == chunkSize {
		b.chunks = append(b.chunks, make([]obs, 0, chunkSize))
	}
	last := len(b.chunks) - 1
	b.chunks[last] = append(b.chunks[last], o)
}

// noteConnection follows who served a kept connection, and how it was replaced.
func (b *Builder) noteConnection(s *sample.Sample, o *obs) {
	switch s.Reconnect {
	case "idle-close":
		b.byIdle++
	case "connection-close":
		b.byOrder++
	}
	if s.Lane != sample.Kept || s.Conn == 0 {
		return
	}
	if h, ok := b.conns[s.Conn]; ok {
		o.prevVer, o.prevInst = h.ver, h.inst
		if h.closing {
			o.flags |= flagPrevClosing
		}
		if o.named() && (o.inst != h.inst || o.ver != h.ver) {
			b.mixed = true
		}
	}
	if o.named() {
		b.conns[s.Conn] = connHistory{ver: o.ver, inst: o.inst, closing: s.Close}
	}
	if s.Failed() || s.Close {
		delete(b.conns, s.Conn)
	}
}

func (b *Builder) noteTarget(s *sample.Sample) {
	if s.Remote != "" {
		b.target.Address = s.Remote
	}
	if s.Proto != "" {
		b.target.Protocol = s.Proto
	}
	if s.Edge != "" && (b.target.Edge == "" || s.Edge == "app-platform") {
		b.target.Edge = s.Edge
	}
	if len(s.Addrs) > 0 {
		b.addrs = append(b.addrs, dated{s.Started, strings.Join(s.Addrs, ", ")})
	}
	if s.Leaf != "" && !slices.ContainsFunc(b.leaves, func(d dated) bool { return d.what == s.Leaf }) && len(b.leaves) < 100 {
		b.leaves = append(b.leaves, dated{s.Ended, s.Leaf})
	}
	if s.Lane == sample.Fresh && s.Connected > s.Started && len(b.rtts) < 10000 {
		b.rtts = append(b.rtts, s.Connected-s.Started)
	}
}

func (b *Builder) keep(s *sample.Sample) *sample.Sample {
	c := *s
	if len(b.fails) >= wholeFailures {
		c.Headers, c.Excerpt = nil, ""
	}
	return &c
}

// each calls f with every request, in the order in which they ended.
func (b *Builder) each(f func(*obs)) {
	for _, c := range b.chunks {
		for i := range c {
			f(&c[i])
		}
	}
}

func laneOf(l sample.Lane) laneIndex {
	switch l {
	case sample.Kept:
		return laneKept
	case sample.Fresh:
		return laneFresh
	case sample.Slow:
		return laneSlow
	}
	return laneOther
}

func clamp32(v int64) int32 { return int32(min(v, 1<<31-1)) }

// interner gives small numbers to strings; 0 is the empty one.
type interner struct {
	numbers map[string]uint16
	names   []string
}

func newInterner() interner {
	return interner{numbers: map[string]uint16{"": 0}, names: []string{""}}
}

// maxIDs bounds the ids told apart: a service that answers with a new id each
// time (a request id taken for a version, say) must not fill the memory.
const maxIDs = 10000

// index is s's number. Beyond maxIDs all further ids share one.
func (in *interner) index(s string) uint16 {
	if i, ok := in.numbers[s]; ok {
		return i
	}
	if len(in.names) >= maxIDs {
		return in.index("(more ids)")
	}
	if len(in.names) == maxIDs-1 {
		s = "(more ids)"
	}
	i := uint16(len(in.names))
	in.numbers[s] = i
	in.names = append(in.names, s)
	return i
}

func (in *interner) name(i uint16) string { return in.names[i] }

func ns(t int64) time.Duration { return time.Duration(t) }

func ptr[T any](v T) *T { return &v }
