package box

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Marks of a box's life, that incidents begin and end at.
const (
	MarkStart   = "start"   // the first request came
	MarkDeploy  = "deploy"  // the rollout began
	MarkCutover = "cutover" // an instance of new is sent requests
	MarkAlone   = "alone"   // no instance of old is sent new ones any more
	MarkStop    = "stop"    // the first instance of old is told to stop
	MarkOldEnd  = "old-end" // the last instance of old is gone
)

var markNames = []string{MarkStart, MarkDeploy, MarkCutover, MarkAlone, MarkStop, MarkOldEnd}

// Moment is a time in a box's life: a mark, or a while after it. As text:
// "cutover", "cutover+1.5s".
type Moment struct {
	Mark  string
	After time.Duration
}

// MarshalText writes the moment as it is read.
func (m Moment) MarshalText() ([]byte, error) {
	if m.After == 0 {
		return []byte(m.Mark), nil
	}
	return []byte(m.Mark + "+" + m.After.String()), nil
}

// UnmarshalText reads "MARK" or "MARK+DURATION"; "" is the zero value.
func (m *Moment) UnmarshalText(text []byte) error {
	mark, after, later := strings.Cut(string(text), "+")
	var d time.Duration
	if later {
		var err error
		if d, err = time.ParseDuration(after); err != nil || d < 0 {
			return fmt.Errorf("moment %q: expected MARK+DURATION, like cutover+1.5s", text)
		}
	}
	*m = Moment{mark, d}
	return nil
}

func (m Moment) validate() error {
	if slices.Contains(markNames, m.Mark) {
		return nil
	}
	return fmt.Errorf("moment %q: expected one of the marks %q", m.Mark, markNames)
}

// marks is when each mark came.
type marks struct {
	mu   sync.Mutex
	at   map[string]time.Time
	came map[string]chan struct{} // closed when it has
}

func newMarks() *marks {
	m := &marks{at: map[string]time.Time{}, came: map[string]chan struct{}{}}
	for _, name := range markNames {
		m.came[name] = make(chan struct{})
	}
	return m
}

// set says that a mark is there; only the first time counts.
func (m *marks) set(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.at[name]; known {
		return
	}
	m.at[name] = time.Now()
	close(m.came[name])
}

// when is the time of a moment; false while its mark has not come.
func (m *marks) when(x Moment) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, known := m.at[x.Mark]
	return t.Add(x.After), known
}

// wait returns at the moment.
func (m *marks) wait(ctx context.Context, x Moment) error {
	select {
	case <-m.came[x.Mark]:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t, _ := m.when(x)
	return sleep(ctx, time.Until(t))
}
