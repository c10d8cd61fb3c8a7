package probe

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// InFlight is a request that is under way.
type InFlight struct {
	N       int64 // its number
	Started int64 // since the run's start, in nanoseconds
}

// InFlight lists the requests of a lane that are under way, the oldest first.
func (p *Probe) InFlight(lane sample.Lane) []InFlight { return p.flying.list(lane) }

// flying is the requests under way. The zero value is ready.
type flying struct {
	mu    sync.Mutex
	lanes map[sample.Lane]map[int64]int64 // number → start
}

func (f *flying) add(s *sample.Sample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lanes == nil {
		f.lanes = map[sample.Lane]map[int64]int64{}
	}
	if f.lanes[s.Lane] == nil {
		f.lanes[s.Lane] = map[int64]int64{}
	}
	f.lanes[s.Lane][s.N] = s.Started
}

func (f *flying) remove(s *sample.Sample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.lanes[s.Lane], s.N)
}

func (f *flying) list(lane sample.Lane) []InFlight {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]InFlight, 0, len(f.lanes[lane]))
	for n, started := range f.lanes[lane] {
		out = append(out, InFlight{N: n, Started: started})
	}
	slices.SortFunc(out, func(a, b InFlight) int {
		return cmp.Or(cmp.Compare(a.Started, b.Started), cmp.Compare(a.N, b.N))
	})
	return out
}
