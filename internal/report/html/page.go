package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Most columns of a text that is shown.
const (
	mostID       = 60
	mostName     = 80
	mostError    = 200
	mostSentence = 500
	mostPara     = 2000
)

// frame is what every page has around its own; all text in it is clean.
type frame struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title, Verdict, Word string   // Verdict is the class, Word what is read
	Reason               string   // the first
	More                 []string // the others
	Target               string
	Figures              []figure
	Findings             []finding
	By                   string
}

func newFrame(v verdict.Verdict, target, by string) frame {
	f := frame{
		Policy: policy(), Style: template.CSS(style), Script: template.JS(script),
		Verdict: verdictClass(v.Verdict), Word: strings.ToUpper(format.Clean(v.Verdict, mostName)),
		Target: format.Clean(target, mostSentence), By: "Cutwatch " + format.Clean(by, mostName),
	}
	f.reasons(v)
	return f
}

// page is what the template shows of one run.
type page struct {
	frame

	Picture             *picture // nil: nothing was recorded
	Rows                []tableRow
	Other               bool // answers that are neither old's nor new's
	Steps, Facts, Asked []report.Fact
	Failures            failures
	Latency             []latency
	Trend               []report.TrendRow
	TrendHead           report.TrendRow
	Power               string
	Command, RunID      string
}

// figure is a number to remember.
type figure struct{ Name, Value, Note string }

type finding struct{ Severity, Code, Summary, Evidence, Cure, Paste string }

type latency struct{ Name, P50, P95, P99, Max, N string }

func newPage(in Input) page {
	p := page{
		frame:   newFrame(in.Verdict, in.Result.Target.URL, in.Head.Cutwatch),
		Steps:   clean(report.Steps(in.Head, in.Analysis, in.Verdict)),
		Facts:   clean(report.Facts(in.Head, in.Analysis)),
		Asked:   asked(&in.Head.Config),
		Latency: latencies(in.Analysis),
		Trend:   report.Trend(in.Head.History, in.Result), TrendHead: report.TrendHead,
		Command: command(in), RunID: format.Clean(in.Head.ID, mostName),
	}
	p.Figures = figures(in.Result, in.Analysis)
	p.findings(in.Analysis.Findings)
	if t := report.NewTimeline(in.Analysis, columns); t != nil {
		p.Picture = newPicture(t, in.Analysis)
		p.Rows, p.Other = tableRows(t)
	}
	p.Failures = newFailures(in.Analysis.Failures, in.Result)
	i := slices.IndexFunc(p.Facts, func(f report.Fact) bool { return f.Name == "power" })
	if i >= 0 {
		p.Power = p.Facts[i].Text
		p.Facts = slices.Delete(p.Facts, i, i+1)
	}
	return p
}

func verdictClass(v string) string {
	switch v {
	case verdict.Pass, verdict.Fail:
		return v
	}
	return verdict.Inconclusive
}

func (p *frame) reasons(v verdict.Verdict) {
	p.Reason = "for a reason that was not given"
	for i, r := range v.Reasons {
		text := format.Clean(r.Message, mostPara)
		if i == 0 {
			p.Reason = text
			continue
		}
		p.More = append(p.More, text)
	}
	p.Title = p.Word + " – " + format.Clean(p.Reason, mostName)
}

func (p *frame) findings(all []analysis.Finding) {
	for _, f := range all {
		severity := f.Severity
		if severity != analysis.Error && severity != analysis.Warning {
			severity = analysis.Note
		}
		p.Findings = append(p.Findings, finding{
			Severity: severity, Code: format.Clean(f.Code, mostName), Summary: format.Clean(f.Summary, mostPara),
			Evidence: format.Clean(f.Evidence, mostPara), Cure: format.Clean(f.Cure, mostPara), Paste: pasteOf(f.Paste),
		})
	}
}

// pasteOf is lines to paste; "" without any.
func pasteOf(p *analysis.Paste) string {
	if p == nil {
		return ""
	}
	lines := make([]string, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = format.Clean(l, mostSentence)
	}
	return strings.Join(lines, "\n")
}

func clean(facts []report.Fact) []report.Fact {
	out := make([]report.Fact, len(facts))
	for i, f := range facts {
		out[i] = report.Fact{Name: format.Clean(f.Name, mostName), Text: format.Clean(f.Text, mostPara)}
	}
	return out
}

// figures are the numbers to remember. What is not known says so.
func figures(r *report.Result, a *analysis.Analysis) []figure {
	out := []figure{
		{"requests", format.Count(r.Requests.Total), format.Count(r.Requests.Failed) + " failed"},
		{"the deploy's failures", format.Count(r.Requests.Deploy), ""},
	}
	if n := r.Requests.Undecided; n > 0 {
		out = append(out, figure{"undecided", format.Count(n), ""})
	}
	out = append(out, overlapFigure(a.Cutover), drainFigure(r.Cutover))
	if b, d := r.Latency.Before, r.Latency.During; b != nil && d != nil {
		out = append(out, figure{"p99 in the cutover", report.MillisText(&d.P99), report.MillisText(&b.P99) + " before"})
	}
	return out
}

// drainFigure is how long old went on: a bound where its stop was not seen.
func drainFigure(c *report.Cutover) figure {
	if c == nil || c.Drain == nil {
		return figure{"drain", "unknown", ""}
	}
	lower := report.MillisText(&c.Drain.Lower)
	if !c.Drain.Exact {
		return figure{"drain", "≥ " + lower, "old's stop was not seen"}
	}
	return figure{"drain", lower, ""}
}

// overlapFigure is how old and new met. Between them may be a moment of no
// answer without a gap: a gap is one in which requests failed.
func overlapFigure(c *analysis.Cutover) figure {
	switch {
	case c == nil:
		return figure{"overlap", "unknown", "no cutover was seen"}
	case c.By == "marks":
		return figure{"overlap", "unknown", ""}
	case c.Gap:
		return figure{"gap", format.Duration(-c.Overlap), ""}
	case c.Overlap < 0:
		return figure{"overlap", "none", "new answered " + format.Duration(-c.Overlap) + " later"}
	}
	return figure{"overlap", format.Duration(c.Overlap), ""}
}

func latencies(a *analysis.Analysis) []latency {
	var out []latency
	for _, l := range []struct {
		name string
		l    *analysis.Latency
	}{{"before", a.Before}, {"during", a.During}, {"after", a.After}} {
		if l.l != nil {
			out = append(out, latency{l.name, format.Duration(l.l.P50), format.Duration(l.l.P95),
				format.Duration(l.l.P99), format.Duration(l.l.Max), format.Count(l.l.N)})
		}
	}
	return out
}

// asked is the inputs as they were recorded, less those that were not given.
func asked(c *config.Config) []report.Fact {
	var out []report.Fact
	for _, in := range config.Inputs() {
		value := c.Get(in.Name)
		if !in.Recorded || value == "" || value == "0s" && in.Default == "" {
			continue
		}
		out = append(out, report.Fact{Name: in.Name, Text: format.Clean(value, mostSentence)})
	}
	return out
}

// command judges the samples again as this page does.
func command(in Input) string {
	words := []string{"cutwatch analyze", format.Clean(in.Samples, mostName)}
	for _, f := range in.Flags {
		words = append(words, format.Clean(f, mostName))
	}
	return strings.Join(words, " ")
}

// span is a stretch of time in words.
func span(from, to time.Duration) string {
	if a, b := format.At(from), format.At(to); a != b {
		return fmt.Sprintf("%s to %s", a, b)
	}
	return "at " + format.At(from)
}
