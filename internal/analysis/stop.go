package analysis

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A cluster is requests that were in flight and ended together without their
// answer: what an instance takes with it when it dies.
type cluster struct {
	at      int64 // the first of their ends
	members []*obs
	certain bool // some are known to have been old's
}

const (
	// together is how far apart the ends of requests cut by one death are seen.
	together = int64(50 * time.Millisecond)
	// heldAtLeast tells a request that was cut in flight from one that was
	// refused at once.
	heldAtLeast = int64(5 * time.Millisecond)
	// runningAtLeast tells a slow request that old was running from one that a
	// busy front was slow to refuse.
	runningAtLeast = int64(250 * time.Millisecond)
	// answerTime is how much longer than its length a slow request takes to be
	// answered: until then it can still be cut.
	answerTime = int64(250 * time.Millisecond)
	// acceptSlack is how much later than the last request that old answered
	// one that old took, but did not live to answer, can have started.
	acceptSlack = int64(time.Second)
)

// findStop finds old's stop and the drain before it.
func (s *state) findStop() {
	c := s.out.Cutover
	if c == nil || c.By == "marks" {
		return
	}
	s.findOldEnd()
	s.findClusters(c)
	stop := &Stop{End: ns(s.oldEnd)}
	if s.stop = s.lastStop(); s.stop != nil && c.Complete {
		stop.At, stop.End = ptr(ns(s.stop.at)), max(ns(s.stop.at), ns(s.oldEnd))
		for _, o := range s.stop.members {
			stop.Cut = append(stop.Cut, o.n)
			c.LastAccept = max(c.LastAccept, ns(o.start))
		}
		slices.Sort(stop.Cut)
	}
	stop.Drain = s.drain(c, stop)
	s.stopsOfInstances()
	s.out.Stop = stop
}

// lastStop is the cluster that was old's stop; nil where none was. Old answers
// after a cut mean that another instance of old lived on. Of requests known to
// be old's the last cut counts; of others the first, since a front goes on
// failing requests for an upstream that is dead.
func (s *state) lastStop() *cluster {
	var stop *cluster
	for i := range s.clusters {
		g := &s.clusters[i]
		if g.at+together >= s.oldEnd && (stop == nil || g.certain) {
			stop = g
		}
	}
	return stop
}

// drain is the time from last accept to old's stop: where requests were cut,
// else from below only. A request that came so shortly before the stop that
// nobody can tell whether old took it leaves a width; up to exactly wide the
// drain still counts as exact.
func (s *state) drain(c *Cutover, stop *Stop) Bounds {
	if stop.At == nil {
		return Bounds{Lower: max(0, stop.End-c.LastAccept)}
	}
	upper := max(0, *stop.At-c.LastAccept)
	lower := max(0, min(upper, *stop.At-s.perhapsAccepted()))
	return Bounds{Lower: lower, Upper: ptr(upper), Exact: upper-lower <= ns(together)}
}

// perhapsAccepted is the start of the last request on one of old's connections
// that ended without a byte when old stopped, too soon for a cut.
func (s *state) perhapsAccepted() time.Duration {
	var last time.Duration
	for _, o := range s.all {
		if !o.failed() || !o.reused() || o.first != 0 || s.isCutMember(o) || !s.pinned() {
			continue
		}
		if s.roleFor(o.prevVer, o.prevInst) == Old && o.start <= s.stop.at && o.end >= s.stop.at-together && o.end <= s.stop.at+together {
			last = max(last, ns(o.start))
		}
	}
	return last
}

// findOldEnd finds the end of old's last answer.
func (s *state) findOldEnd() {
	for _, o := range s.all {
		if s.roleOf(o) == Old && !o.unfinished() {
			s.oldEnd = max(s.oldEnd, o.end)
		}
	}
}

// findClusters groups the failures that can be old's cuts by their ends.
func (s *state) findClusters(c *Cutover) {
	var cuts []*obs
	for _, o := range s.all {
		if o.failed() && s.canBeCut(o, c) {
			cuts = append(cuts, o)
		}
	}
	slices.SortFunc(cuts, func(a, b *obs) int { return cmpThen(a.end, b.end, "", "") })
	for len(cuts) > 0 {
		n := 1
		for n < len(cuts) && cuts[n].end-cuts[n-1].end <= together {
			n++
		}
		now, later := cuts[:n], cuts[n:]
		if g, ok := s.clusterOf(now); ok {
			for _, o := range g.members {
				s.cutOf[o.n] = len(s.clusters)
			}
			s.clusters = append(s.clusters, g)
			if g.at+together >= s.oldEnd {
				// Old answered nothing after this: what began later was
				// refused, however long a front took to say so.
				later = slices.DeleteFunc(later, func(o *obs) bool { return o.start > g.at })
			}
		}
		cuts = later
	}
}

// canBeCut tells whether a failure has the shape of a request that old took
// and did not live to answer.
func (s *state) canBeCut(o *obs, c *Cutover) bool {
	f := s.sampleOf(o)
	if s.roleOf(o) == New {
		return false
	}
	switch f.Class {
	case sample.Reset, sample.EOF, sample.Truncated:
	case sample.Status:
		if f.Status < 500 {
			return false
		}
	default:
		return false
	}
	if f.Wrote == 0 || o.end < s.cutsFrom(c) {
		return false
	}
	if o.end-o.start < heldAtLeast || o.start > int64(c.End)+acceptSlack {
		return false
	}
	if o.lane == laneSlow && o.end-o.start >= int64(o.seconds*1e9)+answerTime {
		return false // it had its time: that is not why it failed
	}
	if s.pinned() && o.reused() {
		return s.roleFor(o.prevVer, o.prevInst) == Old
	}
	return true
}

// cutsFrom is when the first instance of old can have been stopped: after the
// deploy's start, or a little before new's first answer where that is unknown.
// One of several may die before new answers, while its place is being taken.
func (s *state) cutsFrom(c *Cutover) int64 {
	from := s.deployStart
	if from < 0 {
		from = int64(min(c.Start, c.End) - around)
	}
	return max(from, s.baselineEnd)
}

// clusterOf makes a cluster of failures that ended within one moment: those
// that were under way when the first of them ended. Fast failures alone are a
// cut only on connections known to be old's, or where old answered nothing
// after them: elsewhere a few errors in a row look just so.
func (s *state) clusterOf(cuts []*obs) (cluster, bool) {
	g := cluster{at: cuts[0].end}
	for _, o := range cuts {
		if o.start > g.at {
			continue
		}
		g.members = append(g.members, o)
		if o.lane == laneSlow && o.end-o.start >= runningAtLeast || s.pinned() && o.reused() {
			g.certain = true
		}
	}
	return g, g.certain || len(g.members) >= 2 && g.at+together >= s.oldEnd && !s.failedBefore(g.members[0]) && s.heldLonger(&g) && s.othersEnded(&g)
}

const (
	// heldTimes is how many times longer than those that a front failed later a
	// request must have been held to have been on old when it stopped.
	heldTimes = 1.5
	// laterAtLeast is how many later ones say how long a front takes to fail one.
	laterAtLeast = 3
)

// heldLonger tells whether the requests of a cluster were held longer than
// those of their kind that were begun in the second after it, which cannot have
// been on old: a front that only began to fail requests takes as long for the
// first as for the others.
func (s *state) heldLonger(g *cluster) bool {
	k := s.kindOf(g.members[0])
	var cut, later []int64
	for _, o := range g.members {
		cut = append(cut, o.end-o.start)
	}
	i, _ := slices.BinarySearchFunc(s.all, g.at+1, func(o *obs, t int64) int { return cmpInt(o.start, t) })
	for ; i < len(s.all) && s.all[i].start <= g.at+acceptSlack; i++ {
		if o := s.all[i]; o.failed() && s.kindOf(o) == k {
			later = append(later, o.end-o.start)
		}
	}
	if len(later) < laterAtLeast {
		return true
	}
	slices.Sort(cut)
	slices.Sort(later)
	return float64(quantile(cut, 0.5)) >= heldTimes*float64(quantile(later, 0.5))
}

// othersEnded tells whether other requests ended while the longest held one of a
// cluster was held: any in the middle of that time, or one that had begun after
// it. Where none did, everything stood still for that moment, and they ended
// together because that was over.
func (s *state) othersEnded(g *cluster) bool {
	held := slices.MaxFunc(g.members, func(a, b *obs) int { return cmpInt(a.end-a.start, b.end-b.start) })
	long := held.end - held.start
	return slices.ContainsFunc(s.all, func(o *obs) bool {
		return o.end < held.end-long/8 && (o.start > held.start || o.end > held.start+long/4)
	})
}

// failedBefore tells whether requests failed like this one before, not together
// with it: then something fails them one by one, and some end together by chance.
func (s *state) failedBefore(o *obs) bool {
	k := s.kindOf(o)
	return slices.ContainsFunc(s.all, func(p *obs) bool { return p.failed() && p.end < o.end-together && s.kindOf(p) == k })
}

// stopsOfInstances gives each old instance its stop where a cut tells it: by
// the connections that were its own, or because it was the only one.
func (s *state) stopsOfInstances() {
	byName := map[string]int64{}
	for _, g := range s.clusters {
		for _, o := range g.members {
			if s.pinned() && o.reused() && o.prevInst != 0 {
				byName[s.ids.name(o.prevInst)] = g.at
			}
		}
	}
	var olds []*Instance
	for i := range s.out.Versions {
		for j := range s.out.Versions[i].Instances {
			in := &s.out.Versions[i].Instances[j]
			if in.Role != Old {
				continue
			}
			olds = append(olds, in)
			if at, ok := byName[in.ID]; ok {
				in.Stop = ptr(ns(at))
			}
		}
	}
	if len(olds) == 1 && s.stop != nil {
		olds[0].Stop = ptr(ns(s.stop.at))
	}
}
