package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// gapOverlap and gapProbes make a negative overlap a gap rather than two
// neighbouring probes: design of the word "gap".
const (
	gapOverlap = -100 * time.Millisecond
	gapProbes  = 5
)

// findCutover measures the change from old to new by who answered.
func (s *state) findCutover() {
	c := s.out.Cutover
	if c == nil {
		s.cutoverByMarks()
		return
	}
	start, end := int64(-1), int64(-1)
	freshStart, freshEnd := int64(-1), int64(-1)
	for _, o := range s.all {
		if o.unfinished() {
			continue
		}
		switch s.roleOf(o) {
		case New:
			start = earlier(start, o.arrival())
			if !o.reused() {
				freshStart = earlier(freshStart, o.arrival())
			}
		case Old:
			end = max(end, o.start)
			if !o.reused() {
				freshEnd = max(freshEnd, o.start)
			}
		}
	}
	if end < 0 {
		// A first deploy: nothing was old, so nothing was cut over.
		s.out.Cutover = nil
		s.cutoverByMarks()
		return
	}
	c.Start, c.End, c.Overlap = ns(start), ns(end), ns(end-start)
	c.LastAccept = c.End
	if freshStart >= 0 && freshEnd >= 0 {
		c.FreshOverlap = ptr(ns(freshEnd - freshStart))
	}
	s.shareNew(c)
	s.findGap(c)
	c.Complete = s.oldWent(c)
	c.RolledBack = s.newWent(c)
}

// noneCame tells whether the end that was told is that no deployment came.
func (s *state) noneCame() bool {
	return slices.ContainsFunc(s.signals, func(g sample.Signal) bool {
		return g.Kind == sample.SignalEnd && g.Name == sample.NoDeployment && g.Outcome == sample.Unknown
	})
}

// cutoverByMarks takes the cutover from the deploy's own marks: where answers
// carry no version, asked for in so many words.
func (s *state) cutoverByMarks() {
	if s.head.Config.VersionFrom.Kind != "none" || s.deployStart < 0 || s.deployEnd < 0 || s.baselineEnd < 0 || s.noneCame() {
		return
	}
	s.out.Cutover = &Cutover{By: "marks", Start: ns(s.deployStart), End: ns(s.deployEnd), LastAccept: ns(s.deployEnd), Complete: true}
}

func earlier(a, b int64) int64 {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// shareNew is new's share of the fast answers while both answered.
func (s *state) shareNew(c *Cutover) {
	old, new := 0, 0
	for _, o := range s.fast {
		if at := ns(o.arrival()); at < c.Start || ns(o.start) > c.End {
			continue
		}
		switch s.roleOf(o) {
		case Old:
			old++
		case New:
			new++
		}
	}
	if old+new > 0 {
		c.ShareNew = ptr(float64(new) / float64(old+new))
	}
}

// findGap looks for the longest row of probes that no version answered between
// old's last and new's first. Where as many failed before, rows are no gap.
func (s *state) findGap(c *Cutover) {
	if c.Overlap >= gapOverlap {
		return
	}
	row, before, failed := 0, 0, 0
	for _, o := range s.fast {
		if ns(o.start) >= c.Start {
			break
		}
		if o.failed() && s.probersOwn(o) {
			continue
		}
		lost := o.failed() && !o.named()
		if ns(o.start) <= c.End {
			if before++; lost {
				failed++
			}
			continue
		}
		if row++; !lost {
			row = 0
		}
		c.GapProbes = max(c.GapProbes, row)
	}
	c.Gap = c.GapProbes >= gapProbes && rowByChance(c.GapProbes, failed, before) < significance
}

// rowByChance is at most how often so many probes in a row fail by chance
// somewhere among as many as were made before, of which so many failed.
func rowByChance(row, failed, of int) float64 {
	if failed == 0 {
		return 0
	}
	return min(1, float64(of)*math.Pow(float64(failed)/float64(of), float64(row)))
}

// quietEnd is how long one side must have been silent at the run's end, in
// fast probes all of which the other answered, to count as gone: a twentieth
// of the baseline's requests, 20 at least.
func (s *state) quietEnd() int { return max(20, s.out.BaselineRequests/20) }

// oldWent tells whether old answered none of the last fast probes.
func (s *state) oldWent(c *Cutover) bool { return !s.answersAtEnd(Old) }

// newWent tells whether the run ended with old answering and new gone.
func (s *state) newWent(c *Cutover) bool { return s.answersAtEnd(Old) && !s.answersAtEnd(New) }

// answersAtEnd tells whether this role is among the last answers that came.
func (s *state) answersAtEnd(role string) bool {
	seen := 0
	for i := len(s.fast) - 1; i >= 0 && seen < s.quietEnd(); i-- {
		r := s.roleOf(s.fast[i])
		if r == role {
			return true
		}
		if r != "" {
			seen++
		}
	}
	return false
}
