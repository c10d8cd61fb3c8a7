package report

import "github.com/cutwatch/cutwatch/internal/analysis"

// Kind is failures of one kind and one reason, told in text. The texts may hold
// what the service said: they are untrusted.
type Kind struct {
	Attribution string
	Title       string             // what happened and whose it is: "status 504, the deploy's (cut-at-stop)"
	When        string             // "at 0:56.0", "from 0:56.0 to 1:02.3"
	Facts       string             // lanes, phase, who answered, the error
	Failures    []analysis.Failure // in order of start; one at least
}

// Kinds puts failures together: the deploy's first, then the largest first.
func Kinds(all []analysis.Failure) []Kind {
	groups := groupFailures(all)
	out := make([]Kind, 0, len(groups))
	for _, g := range groups {
		out = append(out, Kind{Attribution: g.attribution, Title: g.title(), When: g.when(), Facts: g.facts(), Failures: g.failures})
	}
	return out
}

// Found is a result's failures as they were found, where there is no analysis
// that holds all of them.
func Found(list []Failure) []analysis.Failure {
	known := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	var out []analysis.Failure
	for _, f := range list {
		out = append(out, analysis.Failure{
			ID: f.ID, Lane: f.Lane, Started: Duration(f.StartedMS), Ended: Duration(f.EndedMS),
			Class: f.Class, Status: f.Status, Phase: f.Phase, Error: f.Error, AnsweredBy: known(f.AnsweredBy),
			Connection: f.Connection, Reused: f.Reused, Version: known(f.Version), Instance: known(f.Instance),
			Attribution: f.Attribution, Reason: f.Reason, Evidence: f.Evidence,
		})
	}
	return out
}

// Whose names an attribution in a sentence: "the deploy's".
func Whose(attribution string) string { return whose(attribution) }
