package html

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// failures is the table of them.
type failures struct {
	Rows    []failureRow
	Owners  []owner // of the rows, for the filter
	Total   string  // "" where there are none
	Omitted string  // "" where the table has all
}

type failureRow struct {
	Owner                         owner
	ID, When, Took, What, Details string
	Evidence                      string
}

// owner is whose a failure is: a shape and a colour, and its words.
type owner struct{ Code, Shape, Name string }

// shapes are the marks of each attribution. Each has a colour as well.
var shapes = map[string]string{
	analysis.ByDeploy: "cross", analysis.Undecided: "triangle", analysis.ByBackground: "dot",
	analysis.ByProber: "square", analysis.ByConfig: "diamond",
}

func ownerOf(attribution string) owner {
	shape := shapes[attribution]
	if shape == "" {
		shape = "dot"
	}
	return owner{Code: format.Clean(attribution, mostName), Shape: shape, Name: format.Clean(report.Whose(attribution), mostName)}
}

// budget is how many bytes a part of the page may still take.
type budget int

const (
	tableBudget   budget = 600_000
	pictureBudget budget = 300_000
	markup               = 450 // bytes around the texts of one thing
)

// take tells whether a thing fits whose texts are these, as they are written in
// HTML, and counts it.
func (b *budget) take(texts ...string) bool {
	n := markup
	for _, t := range texts {
		n += len(template.HTMLEscapeString(t))
	}
	if *b -= budget(n); *b < 0 {
		*b = 0
		return false
	}
	return true
}

// newFailures shows those that the result holds, as far as a page can hold them.
func newFailures(all []analysis.Failure, r *report.Result) failures {
	var out failures
	if len(all) == 0 {
		return out
	}
	out.Total = format.Plural(r.Requests.Failed, "failure", "failures")
	kept := map[string]bool{}
	for _, f := range r.Failures {
		kept[f.ID] = true
	}
	left, seen := tableBudget, map[string]bool{}
	for _, f := range all {
		if !kept[f.ID] {
			continue
		}
		row := newFailureRow(f)
		if !left.take(row.ID, row.What, row.Details, row.Evidence) {
			break
		}
		out.Rows = append(out.Rows, row)
		if !seen[row.Owner.Code] {
			seen[row.Owner.Code] = true
			out.Owners = append(out.Owners, row.Owner)
		}
	}
	if n := len(all) - len(out.Rows); n > 0 {
		out.Omitted = format.Count(n) + " more are left out here: a sample of each kind is shown; the samples file has every one"
	}
	return out
}

func newFailureRow(f analysis.Failure) failureRow {
	row := failureRow{
		Owner: ownerOf(f.Attribution), ID: format.Clean(f.ID, mostName),
		When: span(f.Started, f.Ended), Took: format.Duration(f.Ended - f.Started),
		What: whatOf(f), Evidence: evidenceOf(f),
	}
	details := []string{"lane " + format.Clean(f.Lane, mostName)}
	if f.Phase != "" {
		details = append(details, "phase "+format.Clean(f.Phase, mostName))
	}
	if by := answeredBy(f); by != "" {
		details = append(details, by)
	}
	if f.Error != "" {
		details = append(details, format.Clean(f.Error, mostError))
	}
	row.Details = strings.Join(details, "; ")
	return row
}

// whatOf is the class of a failure, with its status.
func whatOf(f analysis.Failure) string {
	text := format.Clean(f.Class, mostName)
	if f.Status != nil {
		text += fmt.Sprintf(" %d", *f.Status)
	}
	return text
}

// evidenceOf is why a failure is whose it is: the code of the reason, and the
// sentence.
func evidenceOf(f analysis.Failure) string {
	text := format.Clean(f.Reason, mostName)
	if f.Evidence != "" {
		text += ": " + format.Clean(f.Evidence, mostSentence)
	}
	return text
}

// answeredBy is who answered, or whose connection it was; "" where neither is known.
func answeredBy(f analysis.Failure) string {
	var out []string
	if f.AnsweredBy != "" {
		out = append(out, "answered by "+format.Clean(f.AnsweredBy, mostName))
	}
	who := ""
	if f.Version != "" {
		who = format.Name(f.Version, mostName)
	}
	if f.Instance != "" {
		who = strings.TrimSpace(who + " " + format.Name(f.Instance, mostName))
	}
	if who != "" {
		out = append(out, "on "+who)
	}
	return strings.Join(out, ", ")
}

// tipOf tells the failures of one mark. One is told as a whole where there is
// room for that; several by their number and the first of them.
func tipOf(all []analysis.Failure, left *budget) string {
	f := all[0]
	o := ownerOf(f.Attribution)
	first := []string{
		fmt.Sprintf("%s, lane %s", format.Clean(f.ID, mostID), format.Clean(f.Lane, 20)),
		fmt.Sprintf("%s, %s", whatOf(f), o.Name),
		fmt.Sprintf("%s, %s", span(f.Started, f.Ended), format.Duration(f.Ended-f.Started)),
	}
	if len(all) > 1 {
		last := time.Duration(0)
		for _, g := range all {
			last = max(last, g.Ended)
		}
		first = append([]string{fmt.Sprintf("%s failures, %s, %s. The first:", format.Count(len(all)), o.Name, span(f.Ended, last))}, first...)
	}
	by, evidence := answeredBy(f), evidenceOf(f)
	if by != "" {
		first = append(first, by)
	}
	if long := append(first, evidence); left.take(long...) {
		return strings.Join(long, ".\n")
	}
	return strings.Join(first[:2], ".\n")
}
