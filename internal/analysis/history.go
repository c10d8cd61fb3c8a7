package analysis

import "github.com/cutwatch/cutwatch/internal/sample"

// History is what earlier runs saw of the background: it counts as exposure
// outside the deploy.
type History struct {
	Requests int // sent in all of them
	Kinds    map[kind]Past
}

// Past is one kind of failure in earlier runs, the deploys' own left out.
type Past struct {
	Episodes int
	Largest  int // failures of the largest
}

// historyOf takes the history that a run was given; h may be nil.
func historyOf(h *sample.History) History {
	if h == nil {
		return History{}
	}
	out := History{Requests: h.Requests, Kinds: make(map[kind]Past, len(h.Kinds))}
	for _, k := range h.Kinds {
		out.Kinds[kind{k.Class, k.Status, k.By}] = Past{k.Episodes, k.Largest}
	}
	return out
}
