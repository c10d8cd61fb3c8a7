package box

import (
	"math"
	"sync"
	"time"
)

// How a request went undelivered.
const (
	DropCut        = "cut"         // its instance ended while it was in flight there
	DropCrossed    = "crossed"     // it came on a connection whose instance had just ended
	DropRefused    = "refused"     // sent to an instance that no longer accepted
	DropNoInstance = "no-instance" // there was nowhere to send it
	DropNoise      = "noise"       // lost by the front at random, deploy or not
	DropFault      = "fault"       // the app itself answered badly
	DropIncident   = "incident"    // an incident of the scene's struck it
)

// state of a request in the front's record.
type state int

const (
	open     state = iota
	answered       // the app's whole answer was handed on
	dropped
	gone // the client left first
)

// entry is one request as the front saw it. Its fields are guarded by the
// ledger's lock.
type entry struct {
	id      string
	port    int // the client's
	slow    bool
	arrived time.Duration
	ended   time.Duration
	state   state
	kind    string    // of a drop
	owner   string    // of a drop, where an incident says whose it is
	inst    *instance // whom it was sent to; nil: nobody
	reached bool      // it got there
	runs    int       // on how many instances it was begun
}

// ledger is the front's own record.
type ledger struct {
	start time.Time

	mu      sync.Mutex
	entries []*entry
	blind   []BlindDrop
	spans   []BlindSpan
}

func newLedger() *ledger { return &ledger{start: time.Now()} }

// arrive records a request; inst is where it is being sent, nil for nowhere.
func (l *ledger) arrive(id string, port int, slow bool, inst *instance) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &entry{id: id, port: port, slow: slow, arrived: time.Since(l.start), inst: inst}
	l.entries = append(l.entries, e)
	return e
}

// sendTo says whom a request is being sent to.
func (l *ledger) sendTo(e *entry, inst *instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.inst, e.reached = inst, false
}

func (l *ledger) reach(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.reached = true
	e.runs++
}

// suffer ends a request that an incident struck: as a drop of its owner's, or,
// where it has none, as answered.
func (l *ledger) suffer(e *entry, i *Incident) {
	if i.Owner == "" {
		l.finish(e, answered, "")
		return
	}
	l.finish(e, dropped, DropIncident)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.kind == DropIncident {
		e.owner = i.Owner
	}
}

func (l *ledger) hasReached(e *entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.reached
}

// finish ends a request; the first end counts.
func (l *ledger) finish(e *entry, s state, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.state != open {
		return
	}
	e.state, e.kind, e.ended = s, kind, time.Since(l.start)
}

// resetUnread records that a connection was ended in a way that may have lost
// a request nobody could read.
func (l *ledger) resetUnread(port int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blind = append(l.blind, BlindDrop{Port: port, At: time.Since(l.start)})
}

// lose records that requests may be lost from now on before they can be seen,
// until the function that it returns is called.
func (l *ledger) lose(owner string) (over func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.spans)
	l.spans = append(l.spans, BlindSpan{From: time.Since(l.start), To: math.MaxInt64, Owner: owner})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.spans[i].To = time.Since(l.start)
	}
}
