package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
)

// Mark is failures of one owner that ended in one slot of time: one of them,
// where there is room for a mark each.
type Mark struct {
	Slot, Row int // from the left, and from the bottom, both from 0
	Failures  []analysis.Failure
}

// Marks draws the failures of the picture as marks in equal slots of time, at
// most high of them on top of each other, the deploy's at the bottom. Every
// failure is in one mark, and no owner goes without.
func (t *Timeline) Marks(slots, high int) []Mark {
	var marks []Mark
	for rest := t.Failures; len(rest) > 0; {
		slot := t.slot(rest[0].Ended, slots)
		n := slices.IndexFunc(rest, func(f analysis.Failure) bool { return t.slot(f.Ended, slots) != slot })
		if n < 0 {
			n = len(rest)
		}
		for row, failures := range stack(rest[:n], high) {
			marks = append(marks, Mark{Slot: slot, Row: row, Failures: failures})
		}
		rest = rest[n:]
	}
	return marks
}

// slot is which of n equal slots of the picture holds a moment.
func (t *Timeline) slot(at time.Duration, n int) int {
	return min(int(float64(at-t.From)/float64(t.To-t.From)*float64(n)), n-1)
}

// stack divides the failures of a slot into at most high heaps of one owner
// each, as even as can be.
func stack(failures []analysis.Failure, high int) [][]analysis.Failure {
	owners := byOwner(failures)
	heaps := make([]int, len(owners))
	for i := range heaps {
		heaps[i] = 1
	}
	for left := high - len(owners); left > 0; left-- {
		most := -1 // the owner with the largest heaps gets another
		for i, o := range owners {
			if heaps[i] < len(o) && (most < 0 || len(o)*heaps[most] > len(owners[most])*heaps[i]) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		heaps[most]++
	}
	var out [][]analysis.Failure
	for i, o := range owners {
		for k := range heaps[i] {
			out = append(out, o[k*len(o)/heaps[i]:(k+1)*len(o)/heaps[i]])
		}
	}
	return out
}

// byOwner puts together the failures of each owner, those that decide first.
func byOwner(failures []analysis.Failure) [][]analysis.Failure {
	index := map[string]int{}
	var out [][]analysis.Failure
	for _, f := range failures {
		i, ok := index[f.Attribution]
		if !ok {
			i = len(out)
			index[f.Attribution] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	slices.SortStableFunc(out, func(a, b []analysis.Failure) int {
		return cmp.Compare(rank(a[0].Attribution), rank(b[0].Attribution))
	})
	return out
}

// Join is the columns joined into at most n of equal length, but for the last.
func (t *Timeline) Join(n int) []Column {
	size := (len(t.Columns) + n - 1) / max(n, 1)
	var out []Column
	for i := 0; i < len(t.Columns); i += size {
		joined := t.Columns[i]
		for _, c := range t.Columns[i+1 : min(i+size, len(t.Columns))] {
			joined.To = c.To
			joined.Old += c.Old
			joined.New += c.New
			joined.Other += c.Other
			joined.Deploy += c.Deploy
			joined.Undecided += c.Undecided
			joined.NotDeploy += c.NotDeploy
			joined.InFlightOld = max(joined.InFlightOld, c.InFlightOld)
		}
		out = append(out, joined)
	}
	return out
}

// Within is the latency of the worst of the seconds that a stretch of time
// touches; nil where nothing was answered in them.
func (t *Timeline) Within(from, to time.Duration) *Quantiles {
	var worst *Quantiles
	for _, q := range t.Latency {
		if q.To <= from || q.From >= to {
			continue
		}
		if worst == nil {
			worst = &Quantiles{From: q.From}
		}
		worst.To = q.To
		worst.N += q.N
		worst.P50, worst.P99 = max(worst.P50, q.P50), max(worst.P99, q.P99)
	}
	return worst
}
