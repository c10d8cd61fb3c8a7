// Package audit sets what was measured beside what a box knows of itself: which
// of its drops were missed, which failures were invented, and which were laid
// at another's door. It is pure.
package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Match is the truth's drops and the measured failures, paired.
type Match struct {
	Truth         int            // drops: by id, and those known by port or time alone that a failure fits
	Owners        map[string]int // of Truth, by whose they are
	Missed        []string       // dropped, and not measured as failed
	Invented      []string       // measured as failed, and not dropped
	Misattributed []string       // attributed to another than their owner; a missed one is too
}

const (
	// blindWithin is how close to the end of a connection a failure on it must be
	// to be that end's.
	blindWithin = time.Second
	// spanWithin is how much before a time without a listener, or after it, a
	// request can have begun that it took.
	spanWithin = 100 * time.Millisecond
)

// Run is what is known of the run beside its failures.
type Run struct {
	ID    string          // drops of other runs' requests, which lost their way, are passed over; "": there are none
	Start time.Time       // the zero of the failures' times; the zero value takes it for the box's own
	Left  map[string]bool // ids of requests that the prober left unfinished when it ended: nobody can say that they failed
}

// Of pairs them.
func Of(truth box.Truth, failures []analysis.Failure, run Run) Match {
	shift := time.Duration(0)
	if !run.Start.IsZero() {
		shift = run.Start.Sub(truth.Start)
	}
	measured := make(map[string]analysis.Failure, len(failures))
	for _, f := range failures {
		measured[f.ID] = f
	}
	m := Match{Owners: map[string]int{}}
	known := map[string]bool{}
	for _, drop := range truth.Drops {
		f, ok := measured[drop.ID]
		if !ok && (run.Left[drop.ID] || run.foreign(drop.ID)) {
			continue
		}
		known[drop.ID] = true
		m.count(drop.Owner)
		if !ok {
			m.Missed = append(m.Missed, fmt.Sprintf("%s %s on %q", format.Clean(drop.ID, 60), drop.Kind, drop.Instance))
		}
		if f.Attribution != drop.Owner {
			m.Misattributed = append(m.Misattributed, wrong(drop.ID, drop.Kind, drop.Owner, f))
		}
	}
	for _, f := range failures {
		if known[f.ID] {
			continue
		}
		owner, lost := lostUnread(truth, f, shift)
		if !lost {
			m.Invented = append(m.Invented, fmt.Sprintf("%s %s %s %s: %s", f.ID, f.Lane, f.Class, f.Phase, format.Clean(f.Error, 100)))
			continue
		}
		m.count(owner)
		if owner != "" && f.Attribution != owner {
			m.Misattributed = append(m.Misattributed, wrong(f.ID, f.Class, owner, f))
		}
	}
	return m
}

// foreign tells whether the id is of another run's request: one that probes an
// address of which the box has the port by now.
func (r Run) foreign(id string) bool {
	return r.ID != "" && id != "" && !strings.HasPrefix(id, strings.TrimSuffix(sample.RequestID(r.ID, 0), "0"))
}

func (m *Match) count(owner string) {
	m.Truth++
	m.Owners[owner]++
}

func wrong(id, kind, owner string, f analysis.Failure) string {
	return fmt.Sprintf("%s %s: %q (%s), want %q", format.Clean(id, 60), kind, f.Attribution, f.Reason, owner)
}

// lostUnread tells whether a failure is of a request that the box may have lost
// before anything could read it, and whose that is; "" where the end of one
// connection, which may cross anything, is all there is.
func lostUnread(truth box.Truth, f analysis.Failure, shift time.Duration) (owner string, lost bool) {
	if f.Status != nil {
		return "", false
	}
	from, to := f.Started+shift, f.Ended+shift
	for _, s := range truth.Spans {
		if from >= s.From-spanWithin && (s.To > 1<<62 || from <= s.To+spanWithin) {
			return s.Owner, true
		}
	}
	for _, b := range truth.Blind {
		if f.LocalPort != 0 && b.Port == f.LocalPort && to >= b.At-blindWithin && from <= b.At+blindWithin {
			return "", true
		}
	}
	return "", false
}
