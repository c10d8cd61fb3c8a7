package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// maxTried bounds the addresses that are told of a service that does not answer.
const maxTried = 6

// stats counts what the progress line shows and remembers what was tried, for a
// service that does not answer. Nothing of it reaches the judgement.
type stats struct {
	mu                      sync.Mutex
	total, good, failed     int
	withVersion, withoutIDs int      // good answers that name their version; that name nothing
	tried                   []string // addresses, in order of the first attempt
	lastFailure             string
	newSeen                 bool
	recent                  [10]slot // answers by tenths of a second
}

// slot counts the answers of one tenth of a second.
type slot struct {
	tenth    int64
	all, new int
}

const tenth = int64(100 * time.Millisecond)

// Add counts one sample; isNew tells whether new answered it.
func (st *stats) Add(s *sample.Sample, isNew bool) {
	if s.Lane == sample.Control || s.Unfinished {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.total++
	if s.Remote != "" && len(st.tried) < maxTried && !slices.Contains(st.tried, s.Remote) {
		st.tried = append(st.tried, s.Remote)
	}
	if s.Failed() {
		st.failed++
		st.lastFailure = describe(s)
		return
	}
	st.good++
	switch {
	case s.Version != "":
		st.withVersion++
	case s.Instance == "":
		st.withoutIDs++
	}
	at := s.Ended / tenth
	slot := &st.recent[at%int64(len(st.recent))]
	if slot.tenth != at {
		slot.tenth, slot.all, slot.new = at, 0, 0
	}
	slot.all++
	if isNew {
		st.newSeen = true
		slot.new++
	}
}

// describe says how a request failed, for a person.
func describe(s *sample.Sample) string {
	var b strings.Builder
	b.WriteString(string(s.Class))
	if s.Status != 0 {
		fmt.Fprintf(&b, " %d", s.Status)
	}
	if s.Remote != "" {
		fmt.Fprintf(&b, " from %s", s.Remote)
	}
	if s.Error != "" {
		fmt.Fprintf(&b, " (%s)", format.Clean(s.Error, 160))
	}
	return b.String()
}

// counts is a copy of what stats counted.
type counts struct {
	Total, Good, Failed     int
	WithVersion, WithoutIDs int
	LastFailure             string
	ShareNew                *float64 // of the last second's good answers; nil: there were none, or new was never seen
}

// Counts is the present state at now.
func (st *stats) Counts(now time.Duration) counts {
	st.mu.Lock()
	defer st.mu.Unlock()
	c := counts{
		Total: st.total, Good: st.good, Failed: st.failed,
		WithVersion: st.withVersion, WithoutIDs: st.withoutIDs, LastFailure: st.lastFailure,
	}
	all, fresh := 0, 0
	for _, s := range st.recent {
		if age := int64(now)/tenth - s.tenth; age < int64(len(st.recent)) {
			all, fresh = all+s.all, fresh+s.new
		}
	}
	if all > 0 && st.newSeen {
		share := float64(fresh) / float64(all)
		c.ShareNew = &share
	}
	return c
}

// Tried says what was tried, for a service that gave no good answer.
func (st *stats) Tried() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.total == 0 {
		return "no request ended"
	}
	var b strings.Builder
	b.WriteString(format.Plural(st.total, "request", "requests"))
	if len(st.tried) > 0 {
		fmt.Fprintf(&b, " to %s", strings.Join(st.tried, ", "))
	}
	fmt.Fprintf(&b, ", the last: %s", st.lastFailure)
	return b.String()
}
