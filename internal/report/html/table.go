package html

import (
	"fmt"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// mostTableRows is how many rows say what the picture says.
const mostTableRows = 40

// tableRow is a stretch of the picture in words.
type tableRow struct {
	From, Old, New, Other, Failed, InFlight, P50, P99, Events string
}

// tableRows is the picture in words, and whether any answer was neither old's
// nor new's.
func tableRows(t *report.Timeline) (rows []tableRow, other bool) {
	happened := events(t)
	for _, c := range t.Join(mostTableRows) {
		row := tableRow{
			From: format.At(c.From), Old: part(c.Old, c.Total()), New: part(c.New, c.Total()), Other: part(c.Other, c.Total()),
			InFlight: format.Count(c.InFlightOld), P50: "–", P99: "–",
		}
		other = other || c.Other > 0
		if row.Failed = strings.Join(failedTexts(c), ", "); row.Failed == "" {
			row.Failed = "none"
		}
		if q := t.Within(c.From, c.To); q != nil {
			row.P50, row.P99 = format.Duration(q.P50), format.Duration(q.P99)
		}
		var texts []string
		for _, e := range happened {
			if e.at >= c.From && e.at < c.To {
				texts = append(texts, format.At(e.at)+" "+e.text)
			}
		}
		row.Events = strings.Join(texts, "; ")
		rows = append(rows, row)
	}
	return rows, other
}

func part(n, total int) string {
	if total == 0 {
		return "–"
	}
	return format.Percent(float64(n) / float64(total))
}

type event struct {
	at   time.Duration
	text string
}

// events are the moments that the picture marks.
func events(t *report.Timeline) []event {
	const most = 60
	var out []event
	for _, p := range t.Phases[:min(most, len(t.Phases))] {
		out = append(out, event{p.From, "deploy" + before(": ", format.Clean(p.Name, 40))})
	}
	if t.Deploy != nil && t.Deploy.To < t.To {
		out = append(out, event{t.Deploy.To, "the deploy ends"})
	}
	for _, s := range t.Spans {
		if s.Kind == report.SpanBaseline {
			continue
		}
		out = append(out, event{s.From, s.Kind + " begins"})
		if s.Open {
			out = append(out, event{s.To, fmt.Sprintf("%s was seen until here", s.Kind)})
		} else {
			out = append(out, event{s.To, s.Kind + " ends"})
		}
	}
	for _, c := range t.Cuts {
		out = append(out, event{c.At, format.Plural(c.N, "request", "requests") + " in flight on old cut"})
	}
	return out
}
