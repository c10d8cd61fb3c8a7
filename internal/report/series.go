package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// SeriesColumns are the columns of [SeriesRows], the run's name first.
func SeriesColumns() []string {
	return []string{"", "requests", "failed", "deploy's", "overlap", "drain", "cut", "p50 before", "p50 during", "verdict"}
}

// SeriesRows is the table of several deploys in one run: the control period,
// where there was one, and a row a deploy. "cut" is the slow requests that were
// cut when old stopped, of those in flight on it. What is not known is "–". Every
// cell is safe to print.
func SeriesRows(r *Result) [][]string {
	var rows [][]string
	if r.Control != nil {
		row := seriesRow("control", r.Control)
		for _, i := range []int{3, 4, 5, 6, 8, 9} { // nothing was deployed
			row[i] = ""
		}
		rows = append(rows, row)
	}
	for i, one := range r.Runs {
		rows = append(rows, seriesRow(DeployName(i+1), one))
	}
	return rows
}

// DeployName is what the nth deploy of a run is called.
func DeployName(n int) string { return fmt.Sprintf("deploy %d", n) }

func seriesRow(name string, r *Result) []string {
	row := []string{
		name, format.Count(r.Requests.Total), format.Count(r.Requests.Failed), format.Count(r.Requests.Deploy),
		"–", "–", "–", "–", "–", r.Verdict,
	}
	if c := r.Cutover; c != nil {
		row[4] = MillisText(c.OverlapMS)
		row[5] = drainCell(c.Drain)
	}
	if n := r.Slow.InFlightAtLastAccept; n != nil {
		row[6] = cutCell(r.Slow.Cut, *n)
	}
	if l := r.Latency.Before; l != nil {
		row[7] = MillisText(&l.P50)
	}
	if l := r.Latency.During; l != nil {
		row[8] = MillisText(&l.P50)
	}
	return row
}

// cutCell is how many of those in flight were cut. Where old's instances stopped
// one after the other, more may have been cut than were in flight at the end.
func cutCell(cut, inFlight int) string {
	if cut > inFlight {
		return format.Count(cut)
	}
	return fmt.Sprintf("%s of %s", format.Count(cut), format.Count(inFlight))
}

// drainCell is the drain as it was measured: a bound where old's stop was not seen.
func drainCell(d *Drain) string {
	switch {
	case d == nil:
		return "–"
	case d.Exact:
		return MillisText(&d.Lower)
	}
	return "≥ " + MillisText(&d.Lower)
}

// TerminalSeries writes the judgement of several deploys in one run: the
// verdict, the table, the failures of each deploy and what is to be cured.
// samples names a run's samples file, by its name ("control", "deploy 1"). An
// error is the writer's.
func TerminalSeries(w io.Writer, o TerminalOptions, r *Result, samples func(name string) string) error {
	width := o.Width
	if width == 0 {
		width = defaultWidth
	}
	width = max(width, minWidth)
	p := &page{color: o.Color, width: min(width, maxText)}
	v := verdict.Verdict{Verdict: r.Verdict}
	for _, reason := range r.Reasons {
		v.Reasons = append(v.Reasons, verdict.Reason(reason))
	}
	p.verdict(v)
	p.blank()
	p.table(append([][]string{SeriesColumns()}, SeriesRows(r)...), 8, 7)
	if r.Control != nil {
		p.seriesFailures("control", r.Control, samples)
	}
	for i, one := range r.Runs {
		p.seriesFailures(DeployName(i+1), one, samples)
	}
	p.findings(findingsOf(r))
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// table writes rows of clean cells below each other, the first column to the
// left and the others to the right; the first row is the head. Where the page is
// too narrow the optional columns are left out, in their order.
func (p *page) table(rows [][]string, optional ...int) {
	widths := make([]int, len(rows[0]))
	total := -2
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], format.Width(row[i]))
		}
		total += widths[i] + 2
	}
	left := map[int]bool{}
	for _, i := range optional {
		if total > p.width {
			left[i], total = true, total-widths[i]-2
		}
	}
	for n, row := range rows {
		text := row[0] + strings.Repeat(" ", widths[0]-format.Width(row[0]))
		for i := 1; i < len(row); i++ {
			if !left[i] {
				text += "  " + strings.Repeat(" ", widths[i]-format.Width(row[i])) + row[i]
			}
		}
		if text = strings.TrimRight(text, " "); n == 0 {
			text = p.paint(dim, text)
		}
		p.line(text)
	}
}

// mostShown bounds the failures that are shown of one run.
const mostShown = 5

// seriesFailures are the failures of one run, what decides first.
func (p *page) seriesFailures(name string, r *Result, samples func(string) string) {
	if len(r.Failures) == 0 {
		return
	}
	p.blank()
	p.line(p.paint(bold, name) + p.paint(dim, ", "+format.Clean(samples(name), 200)))
	p.indent = 2
	groups := countFailures(r.Failures)
	for i, g := range groups {
		if i == mostShown {
			p.para("", plain, 0, format.Plural(len(groups)-mostShown, "further kind", "further kinds")+" in result.json")
			break
		}
		s := plain
		if g.first.Attribution == analysis.ByDeploy {
			s = badStyle
		}
		p.para(format.Count(g.n)+" × ", s, 6, g.title())
		p.indent = 8
		p.para("", plain, 0, g.first.Evidence)
		p.indent = 2
	}
	p.indent = 0
}

// counted is failures that are alike.
type counted struct {
	first Failure
	n     int
}

// title says what they are, whose, and when the first began.
func (c counted) title() string {
	f := c.first
	what := f.Class
	if f.Status != nil {
		what = fmt.Sprintf("%s %d", f.Class, *f.Status)
	}
	when := "at "
	if c.n > 1 {
		when = "from "
	}
	return fmt.Sprintf("%s (%s), %s (%s), %s%s", what, f.Lane, whose(f.Attribution), f.Reason, when,
		format.At(time.Duration(f.StartedMS*float64(time.Millisecond))))
}

func countFailures(list []Failure) []counted {
	type key struct {
		lane, class, attribution, reason string
		status                           int
	}
	var out []counted
	at := map[key]int{}
	for _, f := range list {
		k := key{lane: f.Lane, class: f.Class, attribution: f.Attribution, reason: f.Reason}
		if f.Status != nil {
			k.status = *f.Status
		}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, counted{first: f})
		}
		out[i].n++
	}
	return out
}

// FailureGroups is a result's failures, those that are alike together, what
// decides first: how many of what, and the evidence of the first.
func FailureGroups(r *Result) []Fact {
	var out []Fact
	for i, g := range countFailures(r.Failures) {
		if i == mostShown {
			out = append(out, Fact{Name: "more", Text: "further kinds are in result.json"})
			break
		}
		out = append(out, Fact{Name: format.Count(g.n) + " × " + g.title(), Text: g.first.Evidence})
	}
	if n := r.FailuresOmitted; n > 0 {
		out = append(out, Fact{Name: "left out", Text: format.Plural(n, "failure", "failures") + ", of which a sample of each kind is counted above"})
	}
	return out
}
