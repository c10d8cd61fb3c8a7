package markdown

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// doc is a report being written: blocks with a blank line between them, as HTML
// blocks need around what is Markdown in them.
type doc struct {
	Input
	detail
	b strings.Builder
}

// block writes lines that belong together; none is no block.
func (d *doc) block(lines ...string) {
	if len(lines) == 0 {
		return
	}
	for _, l := range lines {
		d.b.WriteString(strings.TrimSuffix(l, "\n") + "\n")
	}
	d.b.WriteByte('\n')
}

// fold writes what is shown when its title is clicked. The title is Markdown's
// text, without code in it: it stands in HTML.
func (d *doc) fold(title string, write func()) {
	d.block("<details><summary>" + title + "</summary>")
	write()
	d.block("</details>")
}

// say is untrusted text within the limit of this report.
func (d *doc) say(text string) string { return Text(text, d.text) }

func render(in Input, chart string, previous *State, how detail) string {
	d := &doc{Input: in, detail: how}
	d.block(d.heading())
	d.verdict()
	d.table(previous)
	if d.picture && chart != "" {
		d.block(fence("mermaid", strings.TrimSuffix(chart, "\n")))
	}
	d.diagnosis()
	d.trendTable()
	d.failures()
	d.everyFailure()
	d.everything()
	d.footer()
	return strings.TrimSuffix(d.b.String(), "\n")
}

var marks = map[string]string{verdict.Pass: "✅", verdict.Fail: "❌", verdict.Inconclusive: "⚠️"}

// heading says what became of the deploy in a few words of ours.
func (d *doc) heading() string {
	mark, ok := marks[d.Result.Verdict]
	if !ok {
		mark = "⚠️"
	}
	name := "Cutwatch"
	if id := d.Head.Config.ID; id != "" {
		name += " (" + Text(id, 80) + ")"
	}
	return "### " + mark + " " + name + ": " + outcome(d.Result)
}

func outcome(r *report.Result) string {
	who := "the deploy"
	if len(r.Runs) > 1 {
		who = "the deploys"
	}
	dropped := who + " dropped " + format.Plural(r.Requests.Deploy, "request", "requests")
	switch {
	case r.Verdict == verdict.Fail && r.Requests.Deploy > 0:
		return dropped
	case r.Verdict == verdict.Fail:
		return who + " did not hold what was promised"
	case r.Verdict == verdict.Pass && r.Requests.Deploy > 0:
		return dropped + ", no more than is let pass"
	case r.Verdict == verdict.Pass:
		return who + " dropped no request"
	}
	return "this run cannot tell whether " + who + " dropped requests"
}

// verdict is the sentence to remember, and the further reasons.
func (d *doc) verdict() {
	first := "for a reason that was not given"
	if len(d.Result.Reasons) > 0 {
		first = d.Result.Reasons[0].Message
	}
	d.block("**" + Text(strings.ToUpper(d.Result.Verdict), 20) + "** " + d.say(first))
	rest := d.Result.Reasons[min(1, len(d.Result.Reasons)):]
	if len(rest) == 0 {
		return
	}
	var lines []string
	for _, r := range rest[:min(d.reasons, len(rest))] {
		lines = append(lines, "- "+d.say(r.Message))
	}
	d.block(append(lines, d.left(len(rest)-d.reasons, "further reason", "further reasons")...)...)
}

// left says how many of a list are not shown, as an item of it.
func (d *doc) left(n int, one, many string) []string {
	if n <= 0 {
		return nil
	}
	return []string{"- and " + format.Plural(n, one, many) + " in the report"}
}

// diagnosis is what is missing, why we think so, and its cure.
func (d *doc) diagnosis() {
	findings := d.Result.Diagnosis
	shown := findings[:min(d.findings, len(findings))]
	if len(shown) == 0 {
		return
	}
	d.block("#### What to change")
	for _, f := range shown {
		lines := []string{"**" + Text(f.Code, 60) + "** (" + Text(f.Severity, 20) + "): " + d.say(f.Summary) + "."}
		if f.Evidence != "" {
			lines[0] += "  " // a break
			lines = append(lines, "Seen: "+d.say(f.Evidence)+".")
		}
		d.block(lines...)
		d.cure(f)
	}
	d.block(d.left(len(findings)-len(shown), "further finding", "further findings")...)
}

// cure is what to do about a finding, and the lines to paste where there are any.
func (d *doc) cure(f report.Finding) {
	if f.Cure == "" {
		return
	}
	d.block("Cure: " + d.say(f.Cure) + ".")
	for _, found := range d.Analysis.Findings {
		if found.Code == f.Code && found.Cure == f.Cure && found.Paste != nil {
			d.block(fence(found.Paste.Language, found.Paste.Lines...))
			return
		}
	}
}

// trendTable is the deploys that this run knows of.
func (d *doc) trendTable() {
	if !d.trend {
		return
	}
	rows := report.Trend(d.Head.History, d.Result)
	if rows == nil {
		return
	}
	lines := []string{trendLine(report.TrendHead), "| --- | --- |" + strings.Repeat(" ---: |", 7)}
	for i, r := range rows {
		if i == len(rows)-1 {
			r.When += " (this)"
		}
		lines = append(lines, trendLine(r))
	}
	d.block("#### Deploy after deploy")
	d.block(lines...)
}

func trendLine(r report.TrendRow) string {
	return tableLine(Text(r.When, 60), Text(r.Verdict, 20), r.Requests, r.Failed, r.Deploy,
		ours(r.Overlap), ours(r.Drain), ours(r.P99Before), ours(r.P99During))
}

// tableLine is a line of a table; the cells are Markdown.
func tableLine(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// everything is how the verdict came about and all that was measured.
func (d *doc) everything() {
	if !d.measured || d.Analysis.Duration == 0 {
		return
	}
	v := verdict.Verdict{Verdict: d.Result.Verdict}
	for _, r := range d.Result.Reasons {
		v.Reasons = append(v.Reasons, verdict.Reason(r))
	}
	d.facts("How the verdict came about", report.Steps(d.Head, d.Analysis, v))
	d.facts("What was measured", report.Facts(d.Head, d.Analysis))
}

func (d *doc) facts(title string, facts []report.Fact) {
	d.fold(title, func() {
		lines := []string{tableLine("", ""), "| --- | --- |"}
		for _, f := range facts {
			lines = append(lines, tableLine(Text(f.Name, 60), d.say(f.Text)))
		}
		d.block(lines...)
	})
}

// footer says where the rest is.
func (d *doc) footer() {
	if d.short {
		d.block("> [!NOTE]", "> Shortened, so that it can be shown here: the whole is in the report.")
	}
	var parts []string
	if d.JobURL != "" {
		parts = append(parts, link("the job", d.JobURL))
	}
	if d.Report != "" {
		parts = append(parts, "the report: "+where(d.Report))
	}
	if u := d.Result.Target.URL; u != "" {
		parts = append(parts, "probed "+Code(u, 100))
	}
	if d.Result.StartedAt != "" {
		parts = append(parts, Text(report.StartText(d.Result.StartedAt), 60)+" UTC")
	}
	if len(parts) > 0 {
		d.block("<sub>" + strings.Join(parts, " · ") + "</sub>")
	}
}

// where is a file's place: an address as a link, a path as code.
func where(place string) string {
	if strings.HasPrefix(place, "https://") || strings.HasPrefix(place, "http://") {
		return link("open", place)
	}
	return Code(place, 200)
}
