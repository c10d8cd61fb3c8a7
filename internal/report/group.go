package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
)

// group is failures of one kind and one reason, in order of start.
type group struct {
	attribution, reason, class string
	status                     int
	failures                   []analysis.Failure
}

// groupFailures puts together what belongs together: the deploy's first, then
// the largest first.
func groupFailures(all []analysis.Failure) []group {
	type key struct {
		attribution, reason, class string
		status                     int
	}
	index := map[key]int{}
	var groups []group
	for _, f := range all {
		k := key{f.Attribution, f.Reason, f.Class, 0}
		if f.Status != nil {
			k.status = *f.Status
		}
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, group{attribution: k.attribution, reason: k.reason, class: k.class, status: k.status})
		}
		groups[i].failures = append(groups[i].failures, f)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(rank(a.attribution), rank(b.attribution)), cmp.Compare(len(b.failures), len(a.failures)))
	})
	return groups
}

// title is what happened and whose it is: "status 504, the deploy's (cut-at-stop)".
func (g group) title() string {
	what := g.class
	if g.status != 0 {
		what = fmt.Sprintf("%s %d", g.class, g.status)
	}
	what += ", " + whose(g.attribution)
	if g.reason != g.attribution {
		what += " (" + g.reason + ")"
	}
	return what
}

// whose names an attribution in a sentence.
func whose(attribution string) string {
	switch attribution {
	case analysis.ByDeploy:
		return "the deploy's"
	case analysis.ByBackground:
		return "background"
	case analysis.ByProber:
		return "the prober's own"
	case analysis.ByConfig:
		return "the configuration's"
	}
	return attribution
}

// when is the time at which they failed.
func (g group) when() string {
	first, last := g.failures[0].Ended, g.failures[0].Ended
	for _, f := range g.failures {
		first, last = min(first, f.Ended), max(last, f.Ended)
	}
	from, to := format.At(first), format.At(last)
	if from == to {
		return "at " + from
	}
	return "from " + from + " to " + to
}

// facts is where the failures came up, and what the first said of itself.
func (g group) facts() string {
	var lanes []string
	for _, f := range g.failures {
		if !slices.Contains(lanes, f.Lane) {
			lanes = append(lanes, f.Lane)
		}
	}
	first := g.failures[0]
	text := "lane " + strings.Join(lanes, ", ")
	if first.Phase != "" {
		text += "; phase " + first.Phase
	}
	if first.AnsweredBy != "" {
		text += "; answered by " + first.AnsweredBy
	}
	if first.Error != "" {
		text += "; " + format.Clean(first.Error, 120)
	}
	return text
}

// ids names some of the requests, to be looked up in the service's own logs.
func (g group) ids() string {
	const most = 10
	var ids []string
	for _, f := range g.failures[:min(most, len(g.failures))] {
		ids = append(ids, format.Clean(f.ID, 60))
	}
	text := strings.Join(ids, " ")
	if more := len(g.failures) - most; more > 0 {
		text += " and " + format.Count(more) + " more"
	}
	return text
}
