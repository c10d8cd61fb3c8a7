package probe

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	followUpRate    = 4 // failures a second that are followed up, and at once at most
	followUpTimeout = 2 * time.Second
)

// Kinds of a follow-up, and what is put behind the failed request's id.
const (
	toService, serviceMark = "fresh", "-f"
	toControl, controlMark = "control", "-c"
)

// followUps looks around when a request has failed: does the service answer on
// a new connection, does a host that has nothing to do with it? They are
// evidence and count as nothing else, have goroutines of their own so that they
// delay no schedule, and are bounded so that an outage is not answered by a
// flood.
type followUps struct {
	p       *Probe
	running sync.WaitGroup

	mu      sync.Mutex
	tokens  float64
	filled  int64 // when tokens was right
	stopped bool
}

func newFollowUps(p *Probe) *followUps { return &followUps{p: p, tokens: followUpRate} }

// controlEvery is how often the control host is asked while nothing has failed.
const controlEvery = time.Second

// startControl asks the control host once a second. What is usual for it tells,
// when requests fail, whether it too was out of reach, or only slow to be
// reached: an outage of the prober's network may be over when a request that it
// hit runs into its timeout. Like follow-ups these checks are in no count; they
// are follow-ups of request 0.
func (r *run) startControl() {
	if r.control == nil {
		return
	}
	every := schedule{first: r.between(0.75), gap: float64(controlEvery)}
	r.begin(&r.held, func() {
		pace(r.ctx, r.now, every, func(at slot) {
			if at.woke-at.at > grace {
				return
			}
			r.begin(&r.held, func() { r.follow.look(r.requests, 0, toControl, r.controlJob(0)) })
		})
	})
}

// controlJob asks the control host about request n. Any answer will do: it
// shows that the prober reaches another host.
func (p *Probe) controlJob(n int64) job {
	return job{to: p.control.to, msg: p.control.msg, id: sample.RequestID(p.runID, n) + controlMark, timeout: followUpTimeout}
}

// stop lets no further follow-up begin, so that wait can wait for the last.
func (f *followUps) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
}

func (f *followUps) wait() { f.running.Wait() }

// fire begins the follow-ups of a failed request, if the bound allows it.
func (f *followUps) fire(ctx context.Context, failed *sample.Sample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || !f.take(f.p.now()) {
		return
	}
	service := f.p.fastJob()
	service.id, service.timeout, service.addr = sample.RequestID(f.p.runID, failed.N)+serviceMark, followUpTimeout, f.p.sameAddress(failed)
	f.running.Go(f.p.faults.guard(func() { f.look(ctx, failed.N, toService, service) }))
	if f.p.control != nil {
		control := f.p.controlJob(failed.N)
		f.running.Go(f.p.faults.guard(func() { f.look(ctx, failed.N, toControl, control) }))
	}
}

// take spends one token of the bucket; now is the time since the run's start.
func (f *followUps) take(now int64) bool {
	f.tokens = min(followUpRate, f.tokens+float64(now-f.filled)/float64(time.Second)*followUpRate)
	f.filled = now
	if f.tokens < 1 {
		return false
	}
	f.tokens--
	return true
}

// sameAddress is the address that a failed request used; the zero value where
// it used none, or another endpoint than follow-ups do.
func (p *Probe) sameAddress(failed *sample.Sample) netip.Addr {
	if failed.Lane == sample.Slow && p.slow[0].to != p.main.to {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddrPort(failed.Remote)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Addr()
}

// look sends one follow-up and records it. One that the run's end broke off
// says nothing, and is not recorded.
func (f *followUps) look(ctx context.Context, n int64, kind string, j job) {
	m := f.p.memories.Get().(*scratch)
	defer f.p.memories.Put(m)
	s := sample.Sample{Started: f.p.now()}
	if k := f.p.do(ctx, nil, &s, &j, m); k != nil {
		k.leave()
	}
	if s.Unfinished {
		return
	}
	out := &sample.FollowUp{N: n, Kind: kind, Started: s.Started, Ended: s.Ended, Status: s.Status, Class: s.Class, Error: s.Error}
	if kind == toService {
		out.Version, out.Instance = s.Version, s.Instance
	}
	f.p.sink(sample.Line{FollowUp: out})
}
