package report

import (
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
)

// A picture of a whole run shows little of an event much shorter than it.
// enlarge is how many times the event's length a picture may be long.
const enlarge = 6

// focus is the stretch of the run to show in n columns: what happened, with
// room on both sides, more of it before than after; or the whole run, where
// that is not much longer.
func focus(a *analysis.Analysis, n int) analysis.Span {
	whole := analysis.Span{To: a.Duration}
	event := eventOf(a)
	if event == nil {
		return whole
	}
	length := event.To - event.From
	show := max(length*enlarge, 2*time.Duration(n)*a.Series.Step)
	if show >= a.Duration*2/3 {
		return whole
	}
	from := event.From - (show-length)*55/100
	from = max(0, min(from, a.Duration-show))
	return analysis.Span{From: from, To: from + show}
}

// eventOf is what happened: the cutover until old's end, and the failures that
// are the deploy's or may be. Without a cutover it is the deploy window. Nil:
// nothing happened.
func eventOf(a *analysis.Analysis) *analysis.Span {
	var event *analysis.Span
	include := func(from, to time.Duration) {
		from, to = min(from, to), max(from, to)
		if event == nil {
			event = &analysis.Span{From: from, To: to}
			return
		}
		event.From, event.To = min(event.From, from), max(event.To, to)
	}
	if c := a.Cutover; c != nil {
		include(c.Start, c.End)
		if a.Stop != nil {
			include(c.LastAccept, a.Stop.End)
		}
	} else if w := a.Deploy.Window; w != nil {
		include(w.From, w.To)
	}
	for _, f := range a.Failures {
		if f.Attribution == analysis.ByDeploy || f.Attribution == analysis.Undecided {
			include(f.Ended, f.Ended)
		}
	}
	return event
}
