package report

import (
	"fmt"
	"io"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// MergedRows is the table of results that are judged together, a row each, below
// a row of its columns. Every cell is safe to print.
func MergedRows(parts []Part) [][]string {
	rows := [][]string{SeriesColumns()}
	for _, p := range parts {
		rows = append(rows, seriesRow(p.Name, p.Result))
	}
	return rows
}

// TerminalMerged writes the judgement of results that are judged together: the
// verdict, a row each, their failures and what is to be cured. r is their sum.
// An error is the writer's.
func TerminalMerged(w io.Writer, o TerminalOptions, parts []Part, r *Result) error {
	width := o.Width
	if width == 0 {
		width = defaultWidth
	}
	p := &page{color: o.Color, width: min(max(width, minWidth), maxText)}
	v := verdict.Verdict{Verdict: r.Verdict}
	for _, reason := range r.Reasons {
		v.Reasons = append(v.Reasons, verdict.Reason(reason))
	}
	p.verdict(v)
	p.blank()
	p.table(MergedRows(parts), 8, 7)
	for _, part := range parts {
		p.seriesFailures(part.Name, part.Result, func(string) string { return part.Result.Target.URL })
	}
	p.findings(findingsOf(r))
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// findingsOf is a result's diagnosis as it was found.
func findingsOf(r *Result) []analysis.Finding {
	var out []analysis.Finding
	for _, f := range r.Diagnosis {
		out = append(out, analysis.Finding{Code: f.Code, Severity: f.Severity, Summary: f.Summary, Evidence: f.Evidence, Cure: f.Cure})
	}
	return out
}
