package box

import (
	"cmp"
	"regexp"
	"slices"
	"time"
)

// mayCross is how shortly before a connection's end a request on it may have
// crossed the end, for all that its client can see.
const mayCross = 5 * time.Millisecond

// Truth is what the box itself knows of a deploy, from its own front's record.
// All times are since Start. A nil pointer is "did not happen".
type Truth struct {
	Start      time.Time // with a monotonic reading
	OldVersion string
	NewVersion string

	// Requests = Answered + len(Drops) + Gone + InFlight. What a prober sends
	// as evidence after a failure (its id ends in -f or -c) is in FollowUps, and
	// in nothing else.
	Requests, Answered, Gone, InFlight, FollowUps int

	Drops    []Drop            // in order of arrival
	Blind    []BlindDrop       // connections ended so that a request on them may be lost unread
	Spans    []BlindSpan       // times in which requests may be lost before anything can see them
	Repeated []string          // ids that came more than once
	RunTwice []string          // ids that the front itself had two instances run
	By       map[string]Server // who answered each id

	NewFirstAnswer  *time.Duration // new's first answer left; nil: nothing changed
	LastOldAnswered *time.Duration // the last request that old answered came
	LastAccept      *time.Duration // the last request that reached old came
	Stops           []Stop         // of old's instances, in order
	LastStop        *time.Duration // nil while one of them runs

	Overlap *time.Duration // NewFirstAnswer to LastOldAnswered
	Drain   *time.Duration // LastAccept to LastStop
	// DrainAtMost is Drain without the requests that came so shortly before they
	// were cut (5 ms) that from outside they may as well have crossed the stop.
	DrainAtMost *time.Duration
	CutAtStop   bool // something that cannot have crossed it was cut at LastStop

	// Stood is the longest that one of the apps got no processor: what the box
	// did then is the machine's doing, not the scene's. What is under 50 ms is 0.
	Stood time.Duration

	InFlightAtLastAccept     *int // on old
	SlowInFlightAtLastAccept *int // of them, slow requests
}

// Drop is one request that was not answered whole.
type Drop struct {
	ID       string
	Port     int // the client's
	Kind     string
	Slow     bool
	Instance string // whom it was sent to, "" for nobody
	Arrived  time.Duration
	At       time.Duration
	// ByRollout: the deploy caused it. Noise is nobody's, and so are the faults
	// that old had already.
	ByRollout bool
	Owner     string // whose it is: "deploy", "background" or what an incident says
}

// BlindDrop is the end of a client's connection that may have lost a request
// before anything could read it.
type BlindDrop struct {
	Port int
	At   time.Duration
}

// BlindSpan is a time in which requests may be lost before anything can see
// them: nothing listens, say.
type BlindSpan struct {
	From, To time.Duration
	Owner    string // whose those are
}

// Server is who answered.
type Server struct{ Version, Instance string }

// Stop is the end of one of old's instances.
type Stop struct {
	Instance string
	At       time.Duration
	Cut      int // requests cut at it
	Crossing int // of them, those that from outside may have crossed it
}

// RolloutDrops counts the drops that the deploy caused.
func (t *Truth) RolloutDrops() int {
	n := 0
	for _, d := range t.Drops {
		if d.ByRollout {
			n++
		}
	}
	return n
}

// Truth is the record as it stands; after Close, as it stood then.
func (b *Box) Truth() Truth {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frozen != nil {
		return *b.frozen
	}
	return b.truth()
}

func (b *Box) truth() Truth {
	t := Truth{Start: b.ledger.start, OldVersion: b.scene.OldVersion, NewVersion: b.scene.NewVersion}
	old := 0
	for _, in := range b.instances {
		t.Stood = max(t.Stood, time.Duration(in.stood.Load()))
		if in.isNew {
			continue
		}
		old++
		if in.gone() {
			t.Stops = append(t.Stops, Stop{Instance: in.id, At: in.exitAt.Sub(b.ledger.start)})
		}
	}
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	t.Blind, t.Spans = slices.Clone(b.ledger.blind), slices.Clone(b.ledger.spans)
	t.fill(b.ledger.entries, old)
	if other := b.scene.Rollout.Owner; other != "" {
		t.disown(other)
	}
	return t
}

// fill derives everything from the requests; old is how many instances old had.
func (t *Truth) fill(entries []*entry, old int) {
	counted := slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return followUpID.MatchString(e.id) })
	t.FollowUps = len(entries) - len(counted)
	t.read(counted)
	t.conclude(counted, old)
}

// disown makes the rollout's drops another's: instances that come and go
// without a deploy.
func (t *Truth) disown(owner string) {
	for i := range t.Drops {
		if d := &t.Drops[i]; d.ByRollout && d.Kind != DropIncident {
			d.ByRollout, d.Owner = false, owner
		}
	}
}

var followUpID = regexp.MustCompile(`^cw-.+-\d+-[fc]$`)

// read takes in every request.
func (t *Truth) read(entries []*entry) {
	t.Requests = len(entries)
	t.By = make(map[string]Server, len(entries))
	seen := make(map[string]int, len(entries))
	for _, e := range entries {
		if e.id != "" {
			if seen[e.id]++; seen[e.id] == 2 {
				t.Repeated = append(t.Repeated, e.id)
			}
		}
		switch e.state {
		case open:
			t.InFlight++
		case gone:
			t.Gone++
		case dropped:
			t.Drops = append(t.Drops, e.drop())
		case answered:
			t.Answered++
			if e.id != "" && e.inst != nil {
				t.By[e.id] = Server{e.inst.version, e.inst.id}
			}
		}
		if e.runs > 1 {
			t.RunTwice = append(t.RunTwice, e.id)
		}
		t.cutover(e)
	}
	slices.SortStableFunc(t.Drops, func(a, b Drop) int { return cmp.Compare(a.Arrived, b.Arrived) })
}

// cutover moves the marks of the change by one request.
func (t *Truth) cutover(e *entry) {
	switch {
	case e.inst == nil:
	case e.inst.isNew:
		spoke := e.state == answered || e.kind == DropFault
		if spoke && (t.NewFirstAnswer == nil || e.ended < *t.NewFirstAnswer) {
			t.NewFirstAnswer = ptr(e.ended)
		}
	case e.reached:
		t.LastAccept = later(t.LastAccept, e.arrived)
		if e.state == answered {
			t.LastOldAnswered = later(t.LastOldAnswered, e.arrived)
		}
	}
}

// conclude derives the lengths.
func (t *Truth) conclude(entries []*entry, old int) {
	slices.SortFunc(t.Stops, func(a, b Stop) int { return cmp.Compare(a.At, b.At) })
	for i := range t.Stops {
		for _, d := range t.Drops {
			if d.Kind == DropCut && d.Instance == t.Stops[i].Instance {
				t.Stops[i].Cut++
				if d.At-d.Arrived < mayCross {
					t.Stops[i].Crossing++
				}
			}
		}
	}
	if t.NewFirstAnswer == nil || t.LastAccept == nil {
		t.LastAccept, t.LastOldAnswered, t.Stops = nil, nil, nil // old is simply running
		return
	}
	if t.LastOldAnswered != nil {
		t.Overlap = ptr(*t.LastOldAnswered - *t.NewFirstAnswer)
	}
	if len(t.Stops) == old {
		last := t.Stops[old-1]
		t.LastStop, t.CutAtStop = &last.At, last.Cut > last.Crossing
		t.Drain = ptr(last.At - *t.LastAccept)
		t.DrainAtMost = ptr(last.At - lastSureAccept(entries, *t.LastAccept))
	}
	all, slow := 0, 0
	for _, e := range entries {
		stillThere := e.state == open || e.ended > *t.LastAccept
		if e.inst != nil && !e.inst.isNew && e.reached && e.arrived <= *t.LastAccept && stillThere {
			all++
			if e.slow {
				slow++
			}
		}
	}
	t.InFlightAtLastAccept, t.SlowInFlightAtLastAccept = &all, &slow
}

// lastSureAccept is the last request that reached old and cannot have crossed
// its stop; where there is none, it is the last.
func lastSureAccept(entries []*entry, last time.Duration) time.Duration {
	var sure *time.Duration
	for _, e := range entries {
		crossing := e.kind == DropCut && e.ended-e.arrived < mayCross
		if e.inst != nil && !e.inst.isNew && e.reached && !crossing {
			sure = later(sure, e.arrived)
		}
	}
	if sure == nil {
		return last
	}
	return *sure
}

func (e *entry) drop() Drop {
	d := Drop{ID: e.id, Port: e.port, Kind: e.kind, Slow: e.slow, Arrived: e.arrived, At: e.ended}
	isNew := false
	if e.inst != nil {
		d.Instance, isNew = e.inst.id, e.inst.isNew
	}
	switch {
	case e.kind == DropIncident:
		d.Owner = e.owner
	case e.kind == DropNoise, e.kind == DropFault && !isNew:
		d.Owner = ownerBackground
	default:
		d.Owner = ownerDeploy
	}
	d.ByRollout = d.Owner == ownerDeploy
	return d
}

// Owners of what no incident made.
const (
	ownerDeploy     = "deploy"
	ownerBackground = "background"
)

func later(old *time.Duration, d time.Duration) *time.Duration {
	if old == nil || d > *old {
		return &d
	}
	return old
}

func ptr[T any](v T) *T { return &v }
