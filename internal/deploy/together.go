package deploy

import (
	"context"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Both is one deploy of which two sources tell: a command or other steps that
// deploy, say, and the platform that is deployed to.
type Both struct {
	lead, beside Source
	grace        time.Duration

	start time.Time
}

var _ Timed = (*Both)(nil)

// Together is lead and beside as one source. It begins when either begins, and
// is over when all that began are over; its outcome is the worst that one of
// them knows. Once lead is over, beside has grace to tell of anything; what tells
// nothing of a deployment is not waited for. lead is waited for unless it told nothing and beside
// is over.
func Together(lead, beside Source, grace time.Duration) *Both {
	return &Both{lead: lead, beside: beside, grace: grace}
}

// Name is that of the leading source.
func (b *Both) Name() string { return b.lead.Name() }

// StartedAt tells both when the run started.
func (b *Both) StartedAt(start time.Time) {
	b.start = start
	for _, s := range []Source{b.lead, b.beside} {
		if timed, ok := s.(Timed); ok {
			timed.StartedAt(start)
		}
	}
}

// Run runs both. An error is of the one that leads; what goes wrong beside it is
// told by a signal.
func (b *Both) Run(ctx context.Context, emit Emit) error {
	if b.start.IsZero() {
		b.start = time.Now()
	}
	t := &together{emit: emit, start: b.start}
	leadCtx, endLead := context.WithCancel(ctx)
	defer endLead()
	besideCtx, endBeside := context.WithCancel(ctx)
	defer endBeside()

	lead, beside := newPart(b.lead, t), newPart(b.beside, t)
	go lead.run(leadCtx)
	go beside.run(besideCtx)
	select {
	case <-lead.over:
		if lead.err == nil {
			beside.await(ctx, b.grace)
		}
		endBeside()
	case <-beside.over:
		if !lead.hasTold() && beside.hasTold() {
			endLead()
		}
	}
	<-lead.over
	<-beside.over
	for _, p := range []*part{lead, beside} {
		if p.broken != nil {
			panic(p.broken)
		}
	}
	if beside.err != nil {
		t.tell(beside.source, sample.Signal{Kind: sample.SignalNote, Name: "source-lost", Message: beside.err.Error()})
	}
	t.end()
	return lead.err
}

// part is one of the two under way.
type part struct {
	source Source
	t      *together
	once   sync.Once
	told   chan struct{} // closed when it first told something of a deploy
	over   chan struct{}
	err    error
	broken any // what it panicked with
}

func newPart(s Source, t *together) *part {
	return &part{source: s, t: t, told: make(chan struct{}), over: make(chan struct{})}
}

func (p *part) run(ctx context.Context) {
	defer close(p.over)
	defer func() { p.broken = recover() }()
	p.err = p.source.Run(ctx, func(s sample.Signal) {
		if s.Kind == sample.SignalStart || s.Kind == sample.SignalEnd || s.Deployment != "" {
			p.once.Do(func() { close(p.told) })
		}
		p.t.tell(p.source, s)
	})
}

func (p *part) hasTold() bool {
	select {
	case <-p.told:
		return true
	default:
		return false
	}
}

// await waits for the part's end, or, where it tells nothing, for as long as grace.
func (p *part) await(ctx context.Context, grace time.Duration) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.over:
		return
	case <-p.told:
	case <-timer.C:
	case <-ctx.Done():
	}
	if p.hasTold() {
		<-p.over
	}
}

// together passes signals on as those of one deploy.
type together struct {
	mu    sync.Mutex
	emit  Emit
	start time.Time
	began bool
	last  *sample.Signal // the end that is to be told, with the worst outcome of all
}

// tell passes a signal on. A second start is a phase; ends are held back until
// no other can come.
func (t *together) tell(source Source, s sample.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.At == 0 {
		s.At = max(1, int64(time.Since(t.start)))
	}
	if s.Source == "" {
		s.Source = source.Name()
	}
	switch {
	case s.Kind == sample.SignalStart && t.began:
		s.Kind = sample.SignalPhase
	case s.Kind == sample.SignalStart:
		t.began = true
	case s.Kind == sample.SignalEnd && t.last == nil:
		t.last = &s
		return
	case s.Kind == sample.SignalEnd:
		first, second := *t.last, s
		if first.At > second.At {
			first, second = second, first
		}
		if rank[first.Outcome] > rank[second.Outcome] {
			second.Outcome, second.Message = first.Outcome, first.Message
		}
		first.Kind, first.Outcome = sample.SignalPhase, ""
		t.last = &second
		s = first
	}
	t.emit(s)
}

// rank orders outcomes by how much they weigh.
var rank = map[string]int{sample.Unknown: 0, sample.Succeeded: 1, sample.TimedOut: 2, sample.Failed: 3}

// end tells the end that was held back.
func (t *together) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		t.emit(*t.last)
	}
}
