package analysis

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	// likeOthers is how many answers of a kind there must be to say what is usual.
	likeOthers = 20
	// usual is the share of them that must be alike.
	usual = 0.95
)

// lengthVaries is by how many bytes a whole body may be shorter than usual: a
// number in it that was one of fewer digits.
const lengthVaries = 8

// bodyKind is the answers whose bodies can be compared.
type bodyKind struct {
	lane   laneIndex
	ver    uint16
	status uint16
}

// bodies is what the bodies of a kind were like.
type bodies struct {
	n, broken int
	lengths   map[int32]int
}

// maxLengths bounds the lengths told apart; a body that varies so much has no
// usual length.
const maxLengths = 64

// findTruncated makes failures of good answers whose body ended early without
// an error: a close without a length looks like an end. They are told by the
// others of their version: where these are whole by their own grammar, or have
// one length, one that is broken, or shorter, was cut.
func (s *state) findTruncated() {
	all := map[bodyKind]*bodies{}
	for _, o := range s.all {
		if !o.good() || o.status == 0 {
			continue
		}
		k := kindOfBody(o)
		b := all[k]
		if b == nil {
			b = &bodies{lengths: map[int32]int{}}
			all[k] = b
		}
		b.n++
		if o.flags&flagBroken != 0 {
			b.broken++
		}
		if _, known := b.lengths[o.bytes]; known || len(b.lengths) < maxLengths {
			b.lengths[o.bytes]++
		}
	}
	for _, o := range s.all {
		if !o.good() || o.status == 0 {
			continue
		}
		if why := all[kindOfBody(o)].cut(o); why != "" {
			o.fail = int32(len(s.fails))
			s.fails = append(s.fails, s.rebuilt(o, why))
		}
	}
}

// kindOfBody takes the fast lanes together: they ask for the same.
func kindOfBody(o *obs) bodyKind {
	lane := o.lane
	if o.fast() {
		lane = laneKept
	}
	return bodyKind{lane, o.ver, o.status}
}

// cut says why this answer's body was cut; "" where it was not, or nobody can tell.
func (b *bodies) cut(o *obs) string {
	if b.n < likeOthers {
		return ""
	}
	if o.flags&flagBroken != 0 && 2*b.broken <= b.n {
		return fmt.Sprintf("the body does not parse, %s of this version's %s do", format.Count(b.n-b.broken), format.Count(b.n))
	}
	if o.flags&flagUnsized == 0 {
		return "" // a body that ends before its Content-Length is an error
	}
	length, n := b.usualLength()
	if float64(n) >= usual*float64(b.n) && length-o.bytes > lengthVaries {
		return fmt.Sprintf("the body has %s, %s of this version's %s have %s",
			format.Plural(o.bytes, "byte", "bytes"), format.Count(n), format.Count(b.n), format.Count(length))
	}
	return ""
}

// usualLength is the commonest length; of two that are as common, the longer.
func (b *bodies) usualLength() (length int32, n int) {
	for l, c := range b.lengths {
		if c > n || c == n && l > length {
			length, n = l, c
		}
	}
	return length, n
}

// rebuilt is the sample of an answer that was taken for good when it was
// recorded, as far as the analysis kept it.
func (s *state) rebuilt(o *obs, why string) *sample.Sample {
	lanes := map[laneIndex]sample.Lane{laneKept: sample.Kept, laneFresh: sample.Fresh, laneSlow: sample.Slow}
	return &sample.Sample{
		N: o.n, Lane: lanes[o.lane], Scheduled: o.sched, Started: o.start, Wrote: o.start, FirstByte: o.first, Ended: o.end,
		Conn: int64(o.conn), Status: int(o.status), Bytes: int64(o.bytes), Seconds: float64(o.seconds),
		Version: s.ids.name(o.ver), Instance: s.ids.name(o.inst), By: sample.ByApp,
		Class: sample.Truncated, Phase: sample.PhaseBody, Error: why,
	}
}
