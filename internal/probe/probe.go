package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// finishTime is how long, at the end, fast requests in flight are waited for.
const finishTime = 2 * time.Second

// Probe sends the requests of one run.
type Probe struct {
	client
	runID   string
	sink    func(sample.Line)
	main    target
	slow    []slowTarget // nil: no slow lane
	control *target      // nil: none
	follow  *followUps
	faults  *faults

	numbers  atomic.Int64 // of the last request
	flying   flying
	memories sync.Pool // of *scratch
	ran      atomic.Bool
}

// target is an endpoint and the request that is sent to it.
type target struct {
	to  *endpoint
	msg *message
}

// slowTarget is the slow request of one length.
type slowTarget struct {
	target
	seconds float64
}

// New builds the probe of a run; cfg has been validated. Nothing is sent before
// Preflight. runID becomes part of every request's id, start is the zero of all
// times, and sink takes every line: it is called from many goroutines at once,
// and what it gets is its own.
func New(cfg *config.Config, runID string, start time.Time, sink func(sample.Line)) (*Probe, error) {
	p := &Probe{client: client{cfg: cfg, start: start, hider: newHider(cfg)}, runID: runID, sink: sink, faults: newFaults()}
	p.memories.New = func() any { return new(scratch) }
	p.follow = newFollowUps(p)
	var err error
	if p.main, err = p.newTarget(cfg.URL, cfg.Method, cfg.Headers, cfg.Body); err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if cfg.SlowURL != "" {
		if err := p.newSlow(); err != nil {
			return nil, fmt.Errorf("slow-url: %w", err)
		}
	}
	if cfg.ControlURL != "" {
		// Another host: it gets none of the headers, which may hold secrets.
		control, err := p.newTarget(cfg.ControlURL, "GET", nil, "")
		if err != nil {
			return nil, fmt.Errorf("control-url: %w", err)
		}
		p.control = &control
	}
	return p, nil
}

func (p *Probe) newTarget(address, method string, headers config.Headers, body string) (target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return target{}, errors.New("not a URL: write one like https://example.com/health")
	}
	to, err := newEndpoint(u, p.cfg)
	if err != nil {
		return target{}, err
	}
	return target{to: to, msg: newMessage(u, method, headers, body)}, nil
}

// newSlow builds the slow requests, one for each length. They share one
// endpoint: the main one where that is the same.
func (p *Probe) newSlow() error {
	if len(p.cfg.SlowSeconds) == 0 || p.cfg.SlowInterval <= 0 {
		return errors.New("give slow-seconds a length and slow-interval a duration")
	}
	shared := p.main.to
	for _, seconds := range p.cfg.SlowSeconds {
		t, err := p.newTarget(p.cfg.SlowAddress(seconds), p.cfg.Method, p.cfg.Headers, p.cfg.Body)
		if err != nil {
			return err
		}
		if t.to.name != shared.name || (t.to.tls == nil) != (shared.tls == nil) {
			shared = t.to
		}
		t.to = shared
		p.slow = append(p.slow, slowTarget{target: t, seconds: seconds})
	}
	return nil
}

// Resolve has all names looked up by another resolver than the system's: for
// tests, and for networks whose own resolver does not know the service. It must
// be called before Preflight.
func (p *Probe) Resolve(with *net.Resolver) {
	p.main.to.names.ask(with)
	for _, t := range p.slow {
		t.to.names.ask(with)
	}
	if p.control != nil {
		p.control.to.names.ask(with)
	}
}

// Preflight finds out, before the first request, whether there is something to
// connect to, and over which family of addresses: runners often have no IPv6.
// Its error tells everything that was tried, of url, slow-url and control-url
// alike. The probe can be used all the same; then the first address that
// accepts a connection decides the family.
func (p *Probe) Preflight(ctx context.Context) error {
	errs := []error{about("url", p.main.to.preflight(ctx))}
	if p.slow != nil && p.slow[0].to != p.main.to {
		errs = append(errs, about("slow-url", p.slow[0].to.preflight(ctx)))
	}
	if p.control != nil {
		errs = append(errs, about("control-url", p.control.to.preflight(ctx)))
	}
	return errors.Join(errs...)
}

func about(input string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", input, err)
}

// Run probes until ctx is done. Then it sends nothing more, waits for the fast
// requests in flight for up to 2 s, and leaves the rest, the slow ones too:
// their samples say that they are unfinished. When it returns everything was
// given to sink and no goroutine of the probe is left. It can be called once.
//
// Where the probe breaks, Run ends as soon as it can and returns a *[Fault].
func (p *Probe) Run(ctx context.Context) error {
	if p.ran.Swap(true) {
		return errors.New("probe: Run was called a second time; make a new Probe")
	}
	p.faults.guard(func() { p.probe(ctx) })()
	return p.faults.met()
}

// probe is Run.
func (p *Probe) probe(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The requests outlive ctx: it ends the schedule, abort ends them.
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	r := &run{Probe: p, ctx: ctx, requests: requests, first: p.now()}
	r.startKept()
	r.startFresh()
	r.startSlow()
	r.startControl()

	select {
	case <-ctx.Done():
	case <-p.faults.any:
		stop()
	}
	p.follow.stop()
	fastDone, allDone := make(chan struct{}), make(chan struct{})
	go func() {
		r.fast.Wait()
		p.follow.wait()
		close(fastDone)
		r.held.Wait()
		close(allDone)
	}()
	select {
	case <-fastDone:
	case <-p.faults.any:
	case <-time.After(finishTime):
	}
	abort()
	select {
	case <-allDone:
	case <-p.faults.any:
		select {
		case <-allDone:
		case <-time.After(finishTime): // what broke holds a lock that others wait for
		}
		return
	}
	for _, s := range r.skips {
		s.flush()
	}
}

// run is the state of one Run.
type run struct {
	*Probe
	ctx      context.Context // ends the schedules
	requests context.Context // ends the requests
	first    int64           // when it began
	skips    []*skips        // of the lanes
	fast     sync.WaitGroup  // kept and fresh
	held     sync.WaitGroup  // slow, and regular checks of the control host
}

// begin starts a goroutine that work counts.
func (r *run) begin(work *sync.WaitGroup, do func()) { work.Go(r.faults.guard(do)) }

func (r *run) newSkips(lane sample.Lane) *skips {
	s := &skips{lane: lane, sink: r.sink}
	r.skips = append(r.skips, s)
	return s
}

// request numbers, sends and records one request, and fires the follow-ups of a
// failure. s holds its lane, its place in the schedule and its start. It
// returns the connection where that can be used again.
func (r *run) request(s *sample.Sample, k *conn, j job, m *scratch) *conn {
	s.N = r.numbers.Add(1)
	j.id = sample.RequestID(r.runID, s.N)
	r.flying.add(s)
	k = r.do(r.requests, k, s, &j, m)
	r.flying.remove(s)
	if s.Failed() && s.Class != sample.Local {
		r.follow.fire(r.requests, s)
	}
	r.sink(sample.Line{Sample: s})
	return k
}

// fastJob is a request of the kept and fresh lanes.
func (p *Probe) fastJob() job {
	return job{to: p.main.to, msg: p.main.msg, timeout: p.cfg.Fast(), status: p.cfg.ExpectStatus, body: p.cfg.ExpectBody}
}
