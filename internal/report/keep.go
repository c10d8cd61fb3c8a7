package report

import (
	"cmp"
	"slices"

	"github.com/cutwatch/cutwatch/internal/analysis"
)

// maxFailures is how many failures a result holds.
const maxFailures = 1000

// kind is what failures are sampled by.
type kind struct{ attribution, class string }

// kindOf is a failure's kind.
func kindOf(f analysis.Failure) kind { return kind{f.Attribution, f.Class} }

// sampleFailures is all failures where there are at most limit, else limit of
// them, in their order. Every kind keeps its share of the first half of the
// places, the deploy's kinds then take what they need of the rest, and what
// they leave goes to the others. Within a kind they are spread over the run,
// the first and the last included.
func sampleFailures[T any](all []T, limit int, kindOf func(T) kind) []T {
	if len(all) <= limit {
		return all
	}
	byKind := map[kind][]int{}
	for i, f := range all {
		k := kindOf(f)
		byKind[k] = append(byKind[k], i)
	}
	kinds := make([]kind, 0, len(byKind))
	for k := range byKind {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(rank(a.attribution), rank(b.attribution)), cmp.Compare(a.class, b.class))
	})
	deploys := slices.IndexFunc(kinds, func(k kind) bool { return k.attribution != analysis.ByDeploy })
	if deploys < 0 {
		deploys = len(kinds)
	}

	places := map[kind]int{}
	left := limit - fill(kinds, byKind, places, limit/2)
	left -= fill(kinds[:deploys], byKind, places, left)
	fill(kinds[deploys:], byKind, places, left)

	var picked []int
	for _, k := range kinds {
		picked = append(picked, spread(byKind[k], places[k])...)
	}
	slices.Sort(picked)
	out := make([]T, len(picked))
	for i, p := range picked {
		out[i] = all[p]
	}
	return out
}

// fill hands out n places, one to each kind in turn while it has failures left
// without one, and tells how many it could hand out.
func fill(kinds []kind, byKind map[kind][]int, places map[kind]int, n int) int {
	given := 0
	for progress := true; progress; {
		progress = false
		for _, k := range kinds {
			if given < n && places[k] < len(byKind[k]) {
				places[k]++
				given++
				progress = true
			}
		}
	}
	return given
}

// spread picks n of the items, evenly, the first and the last included.
func spread(items []int, n int) []int {
	if n >= len(items) {
		return items
	}
	if n == 1 {
		return items[:1]
	}
	out := make([]int, 0, n)
	for i := range n {
		out = append(out, items[i*(len(items)-1)/(n-1)])
	}
	return out
}

// rank is the order in which attributions are shown: what decides comes first.
func rank(attribution string) int {
	order := []string{analysis.ByDeploy, analysis.Undecided, analysis.ByConfig, analysis.ByProber, analysis.ByBackground}
	if i := slices.Index(order, attribution); i >= 0 {
		return i
	}
	return len(order)
}
