package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// SumInput is results that are judged together: several deploys in one run, or
// one deploy seen from several places.
type SumInput struct {
	Verdict verdict.Verdict
	Result  *report.Result // their sum
	Parts   []Part         // in order; the control period first, where the sum has one
}

// Part is one of them.
type Part struct {
	report.Part
	Page    string // its own page as seen from this one; "": there is none
	Samples string // its samples file, likewise
}

//go:embed sum.gohtml
var sumText string

// sums is the page of several results, with the parts that all pages have.
var sums = template.Must(template.Must(pages.Clone()).New("sum").Parse(sumText))

// sum is what the template shows.
type sum struct {
	frame

	Side     *sideBySide // nil: none has a cutover
	Head     []string
	Rows     []sumRow
	Each     []sumPart
	Commands string // "" where no samples are there
}

type sumRow struct {
	Name, Page string
	Cells      []string
}

// sumPart is one of the results in words.
type sumPart struct {
	Name, Verdict, Word, Page string
	Reasons                   []string
	Failures                  []report.Fact
}

// WriteSum writes one page of several results; the same ones give the same
// bytes. Its error is the writer's.
func WriteSum(w io.Writer, in SumInput) error {
	return lay(w, sums, newSum(in))
}

func newSum(in SumInput) sum {
	p := sum{frame: newFrame(in.Verdict, in.Result.Target.URL, in.Result.Cutwatch), Head: report.SeriesColumns()}
	p.Figures = sumFigures(in)
	var found []analysis.Finding
	for _, f := range in.Result.Diagnosis {
		found = append(found, analysis.Finding{Code: f.Code, Severity: f.Severity, Summary: f.Summary, Evidence: f.Evidence, Cure: f.Cure})
	}
	p.findings(found)
	for i, row := range sumRows(in) {
		p.Rows = append(p.Rows, sumRow{Name: row[0], Page: in.Parts[i].Page, Cells: row[1:]})
	}
	left := tableBudget
	for _, part := range in.Parts {
		p.Each = append(p.Each, newSumPart(in, part, &left))
		if part.Samples != "" {
			p.Commands += "cutwatch analyze " + format.Clean(part.Samples, mostName) + "\n"
		}
	}
	p.Side = newSideBySide(in)
	return p
}

// control tells whether a part is the time before the deploys.
func (in SumInput) control(p Part) bool {
	return in.Result.Control != nil && p.Result == in.Result.Control
}

// sumRows is the table: a row a part, in their order.
func sumRows(in SumInput) [][]string {
	if in.Result.Control != nil {
		return report.SeriesRows(in.Result)
	}
	var parts []report.Part
	for _, p := range in.Parts {
		parts = append(parts, p.Part)
	}
	return report.MergedRows(parts)[1:]
}

// sumFigures are the numbers to remember.
func sumFigures(in SumInput) []figure {
	passed, judged := 0, 0
	for _, p := range in.Parts {
		if in.control(p) {
			continue
		}
		if judged++; p.Result.Verdict == verdict.Pass {
			passed++
		}
	}
	r := in.Result.Requests
	out := []figure{
		{"passed", fmt.Sprintf("%s of %s", format.Count(passed), format.Count(judged)), ""},
		{"requests", format.Count(r.Total), format.Count(r.Failed) + " failed"},
		{"the deploy's failures", format.Count(r.Deploy), ""},
	}
	if r.Undecided > 0 {
		out = append(out, figure{"undecided", format.Count(r.Undecided), ""})
	}
	return out
}

func newSumPart(in SumInput, p Part, left *budget) sumPart {
	out := sumPart{Name: format.Clean(p.Name, mostName), Page: p.Page}
	for _, f := range clean(report.FailureGroups(p.Result)) {
		if !left.take(f.Name, f.Text) {
			out.Failures = append(out.Failures, report.Fact{Name: "more", Text: "further kinds are in result.json"})
			break
		}
		out.Failures = append(out.Failures, f)
	}
	if in.control(p) {
		out.Reasons = []string{"Nothing was deployed in it: what failed here is the background of the deploys that follow."}
		return out
	}
	out.Verdict, out.Word = verdictClass(p.Result.Verdict), format.Clean(p.Result.Verdict, mostName)
	for _, r := range p.Result.Reasons {
		out.Reasons = append(out.Reasons, format.Clean(r.Message, mostPara))
	}
	return out
}
