package markdown

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// failures is every kind of failure with its evidence, and the ids of requests
// to look up in the service's own logs.
func (d *doc) failures() {
	if d.kinds == 0 || len(d.Analysis.Failures) == 0 {
		return
	}
	kinds := report.Kinds(d.Analysis.Failures)
	all := d.Result.Requests.Failed
	d.fold(format.Plural(all, "failure", "failures")+", whose they are and why", func() {
		if known := len(d.Analysis.Failures); known < all {
			d.block("Of these, " + format.Count(known) + " are looked at here.")
		}
		d.block("The ids are in the service's own logs, where it logs <code>X-Request-Id</code>.")
		for _, k := range kinds[:min(d.kinds, len(kinds))] {
			d.kind(k)
		}
		d.block(d.left(len(kinds)-d.kinds, "further kind", "further kinds")...)
	})
}

func (d *doc) kind(k report.Kind) {
	lines := []string{"**" + format.Count(len(k.Failures)) + " × " + Text(k.Title, 120) + "**"}
	if !d.sum() { // a sum's times are on another clock than those of the evidence
		lines[0] += ", " + Text(k.When, 60)
	}
	if evidence := k.Failures[0].Evidence; evidence != "" {
		lines[0] += ": " + d.say(evidence)
	}
	lines[0] += "  " // a break
	d.block(append(lines, d.say(k.Facts))...)
	d.block(fence("text", idLines(k.Failures, d.ids)...))
}

// idLines is at most so many ids, some on a line.
func idLines(failures []analysis.Failure, most int) []string {
	const perLine = 5
	var lines []string
	shown := failures[:min(most, len(failures))]
	for len(shown) > 0 {
		n := min(perLine, len(shown))
		var ids []string
		for _, f := range shown[:n] {
			ids = append(ids, format.Clean(f.ID, 60))
		}
		lines = append(lines, strings.Join(ids, " "))
		shown = shown[n:]
	}
	if more := len(failures) - most; more > 0 {
		lines = append(lines, "and "+format.Count(more)+" more")
	}
	return lines
}

// everyFailure is a table of single failures, as many as result.json holds.
func (d *doc) everyFailure() {
	shown := d.Result.Failures[:min(d.rows, len(d.Result.Failures))]
	if len(shown) == 0 {
		return
	}
	d.fold("One by one", func() {
		lines := []string{tableLine("id", "lane", "ended", "took", "what", "whose", "reason", "version", "error"), "|" + strings.Repeat(" --- |", 9)}
		for _, f := range shown {
			lines = append(lines, failureLine(f))
		}
		d.block(lines...)
		d.block(d.left(d.Result.Requests.Failed-len(shown), "further failure", "further failures")...)
	})
}

func failureLine(f report.Failure) string {
	what := f.Class
	if f.Status != nil {
		what += " " + format.Count(*f.Status)
	}
	version := unknown
	if f.Version != nil {
		version = Code(*f.Version, 30)
	}
	return tableLine(Code(f.ID, 60), Text(f.Lane, 20), format.At(report.Duration(f.EndedMS)),
		ours(format.Duration(report.Duration(f.EndedMS)-report.Duration(f.StartedMS))), Text(what, 40),
		Text(report.Whose(f.Attribution), 30), Text(f.Reason, 40), version, Text(f.Error, 80))
}
