package run

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Phase is where in its life a run is.
type Phase string

// The phases, in the order of a smooth run.
const (
	Baseline   Phase = "baseline"
	Deploying  Phase = "deploying"
	WaitingNew Phase = "waiting for new"
	InCutover  Phase = "cutover"
	Settling   Phase = "settling"
	Draining   Phase = "waiting for requests on old"
	Tail       Phase = "tail"
	Control    Phase = "control" // instead of all others: nothing is deployed
)

const (
	// slack is how much later than old's last answered request another may
	// have started and still be on old: routing changes while requests fly.
	slack = int64(time.Second)
	// active is how long after its last request old still counts as answering.
	active = int64(time.Second)
)

// state is what a tracker says at one moment.
type state struct {
	Phase   Phase
	Done    bool
	Reason  string // of sample.End, when Done
	Message string
}

// tracker follows a run by its lines and says when it is over. It has no clock:
// the present is told to it. It decides only how long to go on; what happened
// is found out by package analysis from the whole file.
type tracker struct {
	mu  sync.Mutex
	cfg *config.Config
	// deployed tells that a source makes the deploy; its end is waited for.
	deployed bool

	baselineAt             int64 // -1: not in
	deployStart, deployEnd int64 // -1: not yet
	outcome                string

	versions  cut // old's version ids against a new one
	instances cut // old's instance ids against a new one, where the version stays
	answered  bool
	withID    bool

	// Slow requests that failed after old's last answer so far: they may be
	// old's, if old turns out to have gone on.
	slowFailures []span
}

type span struct{ start, end int64 }

// cut is the change from a set of old ids to a new one.
type cut struct {
	old               map[string]bool
	new               string
	newFirst, newLast int64 // arrival of new's first answer, end of its last; -1: none
	oldStart, oldEnd  int64 // start and end of old's last answer; -1: none

	// Where every id that is not old is new (instances): those seen, and when
	// the latest of them first answered.
	seen   map[string]bool // nil: there is one new id
	latest int64
}

// maxSeen bounds the new ids that are remembered, against a service that names
// another instance in each answer.
const maxSeen = 10_000

func newCut() cut {
	return cut{old: map[string]bool{}, newFirst: -1, newLast: -1, oldStart: -1, oldEnd: -1}
}

func newTracker(cfg *config.Config, deployed bool) *tracker {
	t := &tracker{
		cfg: cfg, deployed: deployed,
		baselineAt: -1, deployStart: -1, deployEnd: -1,
		versions: newCut(), instances: newCut(),
	}
	t.instances.seen = map[string]bool{}
	return t
}

// Add takes note of a line. It may be called from several goroutines.
func (t *tracker) Add(l sample.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case l.Signal != nil:
		t.signal(l.Signal)
	case l.Sample != nil && l.Sample.Lane != sample.Control:
		t.sample(l.Sample)
	}
}

func (t *tracker) signal(s *sample.Signal) {
	if s.Deployment != "" {
		t.deployed = true // it will have an end, whether or not a start is told
	}
	switch s.Kind {
	case sample.SignalBaseline:
		t.baselineAt = s.At
	case sample.SignalStart:
		t.deployed = true
		if t.deployStart < 0 {
			t.deployStart = s.At
		}
	case sample.SignalEnd:
		t.deployed = true // it is over, be it that none came
		t.deployEnd, t.outcome = s.At, s.Outcome
		if t.deployStart < 0 {
			t.deployStart = s.At
		}
	}
}

func (t *tracker) sample(s *sample.Sample) {
	if s.Lane == sample.Slow && s.Failed() {
		t.slowFailures = append(t.slowFailures, span{s.Started, s.Ended})
	}
	if s.Status == 0 {
		return // nobody answered
	}
	t.answered = true
	if s.Version == "" && s.Instance == "" {
		return
	}
	if s.CacheHit || s.CacheAge > 0 {
		t.withID = true
		return // it says who answered once
	}
	t.withID = true
	inBaseline := t.baselineAt < 0 || s.Ended <= t.baselineAt
	t.versions.add(s, s.Version, inBaseline, t.isNewVersion)
	// An instance is new by itself only where it serves an old version, and
	// only once the deploy may have begun.
	if s.Version == "" || t.versions.old[s.Version] {
		t.instances.add(s, s.Instance, inBaseline, func(string) bool {
			return !t.deployed || (t.deployStart >= 0 && s.Started >= t.deployStart)
		})
	}
}

// isNewVersion tells whether a version that the baseline did not have is new.
func (t *tracker) isNewVersion(id string) bool {
	return t.cfg.ExpectVersion == "" || t.cfg.ExpectVersion == id
}

func (c *cut) add(s *sample.Sample, id string, inBaseline bool, isNew func(string) bool) {
	if id == "" {
		return
	}
	if inBaseline {
		c.old[id] = true
	}
	switch {
	case c.old[id]:
		c.oldStart, c.oldEnd = max(c.oldStart, s.Started), max(c.oldEnd, s.Ended)
	case c.new == "" && isNew(id):
		c.new, c.newFirst, c.newLast = id, s.FirstByte, s.Ended
	case c.new == id || c.seen != nil && c.new != "":
		c.newFirst, c.newLast = min(c.newFirst, s.FirstByte), max(c.newLast, s.Ended)
	default:
		return
	}
	if c.seen != nil && !c.old[id] && !c.seen[id] && len(c.seen) < maxSeen {
		c.seen[id] = true
		c.latest = s.FirstByte
	}
}

// Old is the ids that the baseline had.
func (t *tracker) Old() (versions, instances []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.versions.old)), slices.Sorted(maps.Keys(t.instances.old))
}

// IsNew tells whether an answer is new's, by what is known so far.
func (t *tracker) IsNew(s *sample.Sample) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.versions.new != "" {
		return s.Version == t.versions.new
	}
	return t.instances.new != "" && s.Instance != "" && !t.instances.old[s.Instance]
}

// Next says where the run is at now and whether it is over. inFlight is when each
// request under way started.
func (t *tracker) Next(now time.Duration, inFlight []int64) state {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := int64(now)
	s := t.next(n, inFlight)
	if limit := time.Duration(t.cfg.MaxDuration); !s.Done && now >= limit {
		return state{s.Phase, true, sample.EndMaxDuration,
			fmt.Sprintf("the run reached max-duration (%s) in its phase %q", format.Duration(limit), s.Phase)}
	}
	return s
}

func (t *tracker) next(now int64, inFlight []int64) state {
	if t.baselineAt < 0 {
		return state{Phase: Baseline}
	}
	c := t.cutover()
	if c == nil {
		return t.withoutCutover(now, inFlight)
	}
	if t.deployed && t.deployEnd < 0 {
		if now-c.oldStart < active {
			return state{Phase: InCutover}
		}
		return state{Phase: Deploying}
	}
	if why := t.endless(c, now); why != "" {
		return state{Tail, true, t.reason(), why}
	}
	start, end := t.oldEnd(c)
	s := t.closing(now, start, end, inFlight)
	if !s.Done && c.oldStart >= 0 && now-c.oldStart < active {
		s.Phase = InCutover
	}
	return s
}

// cutover is the change that is under way or done; nil: none was seen.
func (t *tracker) cutover() *cut {
	switch {
	case t.versions.new != "":
		return &t.versions
	case t.instances.new != "":
		return &t.instances
	}
	return nil
}

// oldEnd is the start of the last request that old answered, and old's end: its
// last answer, or the end of a slow request of its that failed later. After a gap
// the end is new's first answer: until then nothing has settled.
func (t *tracker) oldEnd(c *cut) (start, end int64) {
	start = c.oldStart
	if start < 0 { // a first deploy: nothing was before new
		return c.newFirst, c.newFirst
	}
	end = max(c.oldEnd, c.newFirst)
	for _, f := range t.slowFailures {
		if f.start <= start+slack {
			end = max(end, f.end)
		}
	}
	return start, end
}

// withoutCutover: no sign of new so far.
func (t *tracker) withoutCutover(now int64, inFlight []int64) state {
	switch {
	case !t.deployed:
		return state{Phase: WaitingNew}
	case t.deployEnd < 0:
		return state{Phase: Deploying}
	case t.outcome == sample.Failed || t.outcome == sample.TimedOut || t.marksAlone():
		// There is no new to wait for, or none that could be recognised.
		return t.closing(now, t.deployEnd, t.deployEnd, inFlight)
	case now < t.deployEnd+int64(t.cfg.CutoverTimeout):
		return state{Phase: WaitingNew}
	}
	return state{WaitingNew, true, sample.EndCutoverTimeout,
		fmt.Sprintf("no answer by a new version within cutover-timeout (%s) of the deploy's end", format.Duration(time.Duration(t.cfg.CutoverTimeout)))}
}

// marksAlone tells whether the deploy's marks are all there is to go by.
func (t *tracker) marksAlone() bool {
	return (t.cfg.VersionFrom.None() && t.cfg.InstanceFrom.None()) || (t.answered && !t.withID)
}

// endless says why old's end, which is being waited for, is not going to come;
// "" where it still may.
func (t *tracker) endless(c *cut, now int64) string {
	if !t.deployed && c == &t.instances {
		return "" // instances come and go by themselves; the deploy is still to come
	}
	timeout, closing := int64(t.cfg.CutoverTimeout), int64(t.cfg.Settle)+int64(t.cfg.Tail)
	failed := t.outcome == sample.Failed || t.outcome == sample.TimedOut
	patience := timeout
	if failed {
		patience = closing
	}
	switch {
	case c.oldStart < 0 || now-c.oldStart >= active:
		return "" // old has fallen silent, or was never there
	case now >= max(c.newLast, t.deployEnd)+patience:
		return "new fell silent and old answers again"
	case failed && now >= t.deployEnd+timeout+closing:
		return "the deploy did not succeed, and old and new both still answer"
	case c == &t.instances && now >= max(c.latest, t.deployEnd)+timeout+closing:
		return "the version stayed, and the instances of the baseline still answer beside others"
	}
	return ""
}

// closing waits for settle and tail after old's end and for what may still be
// in flight on old.
func (t *tracker) closing(now, oldStart, oldEnd int64, inFlight []int64) state {
	window := max(oldEnd+int64(t.cfg.Settle), t.deployEnd)
	if slices.ContainsFunc(inFlight, func(started int64) bool { return started <= oldStart+slack }) {
		if now <= oldStart+slack {
			return state{Phase: Settling} // any request may be on old so soon
		}
		return state{Phase: Draining}
	}
	switch {
	case now < window:
		return state{Phase: Settling}
	case now < window+int64(t.cfg.Tail):
		return state{Phase: Tail}
	}
	return state{Phase: Tail, Done: true, Reason: t.reason()}
}

// reason is why a run ends that was brought to its end.
func (t *tracker) reason() string {
	if t.outcome == sample.TimedOut {
		return sample.EndDeployTimeout
	}
	return sample.EndComplete
}
