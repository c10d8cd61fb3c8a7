package box

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// incidents are those of a scene, under way or not.
type incidents struct {
	marks *marks

	mu   sync.Mutex
	rng  *rand.Rand
	list []*incident
}

// incident is one of them.
type incident struct {
	Incident
	struck int
	victim *instance // of one that strikes one instance alone
}

func newIncidents(s Scene, m *marks) *incidents {
	x := &incidents{marks: m, rng: rand.New(rand.NewPCG(uint64(s.Seed), 7))}
	for _, i := range s.Incidents {
		x.list = append(x.list, &incident{Incident: i})
	}
	return x
}

// span is when the incident began and ends; zero where one is not known yet.
func (x *incidents) span(i *Incident) (from, until time.Time) {
	from, begun := x.marks.when(i.At)
	if !begun {
		return time.Time{}, time.Time{}
	}
	if i.For > 0 {
		return from, from.Add(time.Duration(i.For))
	}
	if i.Until != (Moment{}) {
		if t, known := x.marks.when(i.Until); known {
			until = t
		}
	}
	return from, until
}

// active tells whether the incident is under way.
func (x *incidents) active(i *Incident) (from time.Time, ok bool) {
	now := time.Now()
	from, until := x.span(i)
	return from, !from.IsZero() && !now.Before(from) && (until.IsZero() || now.Before(until))
}

// over waits for the incident's end.
func (x *incidents) over(ctx context.Context, i *Incident) error {
	if i.For == 0 && i.Until == (Moment{}) {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if i.For == 0 {
		return x.marks.wait(ctx, i.Until)
	}
	return x.marks.wait(ctx, Moment{i.At.Mark, i.At.After + time.Duration(i.For)})
}

// strike finds the first incident of one of the kinds that strikes a request,
// and counts it as struck; nil: none does.
func (x *incidents) strike(q asked, kinds ...string) *Incident {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, i := range x.list {
		if !slices.Contains(kinds, i.Kind) || i.Count > 0 && i.struck >= i.Count {
			continue
		}
		from, under := x.active(&i.Incident)
		if !under || !i.fits(q, from) || i.victim != nil && i.victim != q.inst {
			continue
		}
		if i.Share > 0 && x.rng.Float64() >= i.Share {
			continue
		}
		i.struck++
		if i.One {
			i.victim = q.inst
		}
		return &i.Incident
	}
	return nil
}

// first is the first incident of the kind that is under way.
func (x *incidents) first(fits func(*Incident) bool) *Incident {
	for _, i := range x.list {
		if _, under := x.active(&i.Incident); under && fits(&i.Incident) {
			return &i.Incident
		}
	}
	return nil
}

// ofKind lists the incidents of a kind.
func (x *incidents) ofKind(kind string) []*Incident {
	var list []*Incident
	for _, i := range x.list {
		if i.Kind == kind {
			list = append(list, &i.Incident)
		}
	}
	return list
}
