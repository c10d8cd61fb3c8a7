package box

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// pool is the instances that a front sends new work to, as the front sees
// them: changes reach it only after a lag.
//
// It picks in rounds, each a new random order of the instances, with rounds of
// its own for every key. So the shares are even, and two streams of requests
// that are sent in step never fall into phase with the picking.
type pool struct {
	lag time.Duration

	mu     sync.Mutex
	rng    *rand.Rand
	list   []*instance
	rounds map[string][]*instance
	timers []*time.Timer

	changed func([]*instance) // told of every new list; nil: nobody is
}

func newPool(seed uint64, lag time.Duration) *pool {
	return &pool{lag: lag, rng: rand.New(rand.NewPCG(seed, 2)), rounds: map[string][]*instance{}}
}

// set puts the instances in at once, in place of all others. One that is in
// several times gets so many times as much.
func (p *pool) set(list ...*instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.Clone(list)
	p.renew()
}

// renew begins new rounds, after a change of the list.
func (p *pool) renew() {
	clear(p.rounds)
	if p.changed != nil {
		p.changed(p.list)
	}
}

// add and remove change the list once the lag is over.

func (p *pool) add(in *instance) { p.later(func() { p.list = append(p.list, in) }) }

func (p *pool) remove(in *instance) {
	p.later(func() {
		p.list = slices.DeleteFunc(p.list, func(other *instance) bool { return other == in })
	})
}

func (p *pool) later(change func()) {
	apply := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		change()
		p.renew()
	}
	if p.lag == 0 {
		apply()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timers = append(p.timers, time.AfterFunc(p.lag, apply))
}

// pick chooses the instance for the next piece of work of a kind; nil: there is none.
func (p *pool) pick(key string) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == 0 {
		return nil
	}
	round := p.rounds[key]
	if len(round) == 0 {
		round = slices.Clone(p.list)
		p.rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	}
	p.rounds[key] = round[1:]
	return round[0]
}

// stop forgets the changes that have not come about.
func (p *pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.timers {
		t.Stop()
	}
}
