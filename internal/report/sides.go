package report

import (
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
)

// Side is one side of the cutover: the versions on it, or where the version
// stayed the instances, and the time in which they answered.
type Side struct {
	Role     string // analysis.Old, New, Other
	IDs      []string
	From, To time.Duration // arrival of the first answer, end of the last
}

// Sides are those that answered: old, new, other.
func Sides(a *analysis.Analysis) []Side {
	var out []Side
	for _, role := range []string{analysis.Old, analysis.New, analysis.Other} {
		s := Side{Role: role, IDs: sideIDs(a, role)}
		lives := livesOf(a, role)
		if len(lives) == 0 {
			continue
		}
		s.From, s.To = lives[0].From, lives[0].To
		for _, l := range lives {
			s.From, s.To = min(s.From, l.From), max(s.To, l.To)
		}
		out = append(out, s)
	}
	return out
}

// livesOf is when each id of a side answered.
func livesOf(a *analysis.Analysis, role string) []analysis.Span {
	var out []analysis.Span
	byInstances := a.Cutover != nil && a.Cutover.By == byInstance
	for _, v := range a.Versions {
		if !byInstances && v.Role == role {
			out = append(out, analysis.Span{From: v.First, To: v.LastEnd})
		}
		for _, i := range v.Instances {
			if byInstances && i.Role == role {
				out = append(out, analysis.Span{From: i.First, To: i.LastEnd})
			}
		}
	}
	return out
}
