package analysis

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// evidenceOf is the sentence that says why an episode was decided so.
func (s *state) evidenceOf(e *episode, first *obs, d decision) string {
	failures := format.Plural(len(e.members), "failure", "failures")
	k := describeKind(e.kind)
	switch d.rule {
	case outsideWindow:
		return s.outsideOf(first)
	case onlyInCutover:
		return fmt.Sprintf("in the cutover, and none of the run's other %s failed so (%s); were it noise, %s have come in the cutover in %s of runs",
			format.Plural(d.out, "request", "requests"), k, allEpisodes(d.k), format.Percent(d.chance))
	case larger:
		return fmt.Sprintf("an episode of %s (%s); the largest elsewhere had %s", failures, k, format.Count(d.largest))
	case moreOften:
		return fmt.Sprintf("%s (%s) in the deploy's %s, %s in the other %s: by chance in %s of runs",
			format.Plural(d.k, "episode", "episodes"), k, format.Plural(d.in, "request", "requests"),
			format.Count(d.b), format.Count(d.out), format.Percent(d.chance))
	case oftenInCutover:
		return fmt.Sprintf("%s (%s) in the cutover's %s, %s in the %s outside the deploy window (by chance in %s of runs), though the window as a whole has no more than noise would give: a longer baseline, or a history of earlier runs, would tell",
			format.Plural(d.k, "episode", "episodes"), k, format.Plural(d.in, "request", "requests"),
			format.Count(d.b), format.Plural(d.out, "request", "requests"), format.Percent(d.chance))
	case stormInside:
		return fmt.Sprintf("%s (%s) in one episode inside the deploy window, and none of the kind in the %s outside; were it noise, %s have come in the window in %s of runs",
			failures, k, format.Plural(d.out, "request", "requests"), allEpisodes(d.k), format.Percent(d.chance))
	}
	return fmt.Sprintf("%s (%s) inside the deploy window but not in its cutover, none in the %s outside: too few to tell from noise, of which %s have come in the window in %s of runs; a clean baseline of %s, or a history of earlier runs, would tell",
		failures, k, format.Plural(d.out, "request", "requests"), allEpisodes(d.k), format.Percent(d.chance), format.Duration(d.decide))
}

// outsideOf says where a failure outside the window was.
func (s *state) outsideOf(o *obs) string {
	w := s.out.Deploy.Window
	switch {
	case w == nil:
		return "no deploy was seen that it could belong to"
	case ns(o.end) < w.From:
		return fmt.Sprintf("%s before the deploy's first sign", format.Duration(w.From-ns(o.end)))
	}
	return fmt.Sprintf("%s after the deploy window's end", format.Duration(ns(o.start)-w.To))
}

func describeKind(k kind) string {
	if k.class != sample.Status {
		return string(k.class)
	}
	if k.by == sample.ByEdge {
		return fmt.Sprintf("status %d from the edge", k.status)
	}
	return fmt.Sprintf("status %d", k.status)
}

func allEpisodes(k int) string {
	if k == 1 {
		return "its one episode would"
	}
	return "all of its " + format.Count(k) + " episodes would"
}
