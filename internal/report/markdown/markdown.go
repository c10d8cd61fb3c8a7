// Package markdown shows a judgement on GitHub: as the comment on a pull
// request and as a job's summary. Values go in and text comes out; posting it is
// package host's.
//
// What the probed service says of itself (versions, errors, the evidence that
// quotes them) is shown as text: none of it becomes markup, a link, a mention or
// a reference. See [Text].
//
// A report that would be too long is made anew with less in it: fewer failures,
// then none, then no more than the verdict and the table. Nothing is cut in the
// middle, so that no fence and no tag is left open, and what is left out is said.
package markdown

import (
	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Input is what a report is made of.
type Input struct {
	Head   sample.Run
	Result *report.Result
	// Analysis is nil where there is no single one, of several deploys: there is
	// no picture then, and the failures are those that the result holds.
	Analysis *analysis.Analysis
	// Parts are the results that were merged into this one, if it is such.
	Parts []report.Part

	JobURL string // of the job's page, https or http; "": no link
	// Report is where report.html, or result.json, is: a path as the steps of the
	// job know it, or an address. "": nowhere.
	Report string
}

// sum tells whether this is several results in one.
func (in Input) sum() bool { return len(in.Result.Runs) > 0 || len(in.Parts) > 0 }

const (
	// MaxComment is the most bytes of a comment. GitHub takes 65,536 characters.
	MaxComment = 60_000
	// MaxSummary is the most bytes of a summary. GitHub shows nothing of one over 1 MiB.
	MaxSummary = 1<<20 - 1<<10
)

// detail is how much a report tells.
type detail struct {
	text     int  // columns of one text, at most
	reasons  int  // further reasons of the verdict
	picture  bool // the gantt chart
	findings int  // of the diagnosis
	kinds    int  // of failures
	ids      int  // of requests of each kind
	rows     int  // failures in a table of their own
	measured bool // everything that was measured, and how the verdict came about
	trend    bool
	short    bool // says that this is not all
}

var (
	least = detail{text: 200, reasons: 2, short: true}

	commentDetails = []detail{
		{text: 1000, reasons: 10, picture: true, findings: 20, kinds: 12, ids: 20},
		{text: 400, reasons: 5, picture: true, findings: 10, kinds: 4, ids: 10, short: true},
		{text: 400, reasons: 5, picture: true, findings: 5, short: true},
		least,
	}
	summaryDetails = []detail{
		{text: 2000, reasons: 20, picture: true, findings: 50, kinds: 100, ids: 100, rows: 1000, measured: true, trend: true},
		{text: 1000, reasons: 20, picture: true, findings: 50, kinds: 50, ids: 20, rows: 100, measured: true, trend: true, short: true},
		{text: 1000, reasons: 10, picture: true, findings: 20, measured: true, trend: true, short: true},
		least,
	}
)

// Comment is the comment on a pull request, at most [MaxComment] bytes. Its
// first line is a marker with the key and this run's [State]. Previous is the
// state of the comment that it replaces; nil: there was none, or none that could
// be read. Then, and for a summary, the last of the run's history is compared with.
func Comment(in Input, key string, previous *State) string {
	first := marker(key, report.AsPast(in.Result)) + "\n"
	return first + fit(in, previous, MaxComment-len(first), commentDetails)
}

// Summary is the report for the job's summary, at most [MaxSummary] bytes.
func Summary(in Input) string {
	return fit(in, nil, MaxSummary, summaryDetails)
}

// fit is the report with the most detail that the budget has room for. The least
// one is small whatever it tells of.
func fit(in Input, previous *State, budget int, details []detail) string {
	if in.Analysis == nil {
		in.Analysis = &analysis.Analysis{Failures: report.Found(in.Result.Failures)}
	}
	previous = compared(in, previous)
	chart, text := Gantt(in.Analysis), ""
	for _, d := range details {
		if text = render(in, chart, previous, d); len(text) <= budget {
			break
		}
	}
	return text
}

// compared is the deploy that this one is compared with; nil: none.
func compared(in Input, previous *State) *State {
	if in.sum() {
		return nil // sums are not compared
	}
	if previous == nil && in.Head.History != nil && len(in.Head.History.Deploys) > 0 {
		last := in.Head.History.Deploys[len(in.Head.History.Deploys)-1]
		previous = &last
	}
	if previous != nil && previous.StartedAt == in.Result.StartedAt {
		return nil // this run itself, told once before
	}
	return previous
}
