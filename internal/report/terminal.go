package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// TerminalOptions are what the terminal can do.
type TerminalOptions struct {
	Color bool // ANSI colours; without, the text holds no escape
	Width int  // columns; 0 is 80, less than 60 is 60
}

const (
	defaultWidth = 80
	minWidth     = 60
	maxText      = 100 // columns of text; a wider line is hard to read
	maxPicture   = 160
)

// Terminal writes the judgement for people: the verdict in a sentence, one
// picture of the cutover, the numbers, the failures and the diagnosis. What was
// not seen is left out or called unknown. An error is the writer's.
func Terminal(w io.Writer, o TerminalOptions, head sample.Run, a *analysis.Analysis, v verdict.Verdict) error {
	width := o.Width
	if width == 0 {
		width = defaultWidth
	}
	width = max(width, minWidth)
	p := &page{color: o.Color, width: min(width, maxText)}
	p.verdict(v)
	if t := NewTimeline(a, min(width, maxPicture)-labelWidth); t != nil {
		p.picture(drawPicture(t, a))
	}
	p.numbers(head, a)
	p.trend(head.History, NewResult(head, a, v))
	p.failures(a)
	p.findings(a.Findings)
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// verdict is the line to remember, and the further reasons.
func (p *page) verdict(v verdict.Verdict) {
	word, s := strings.ToUpper(v.Verdict), verdictWarn
	switch v.Verdict {
	case verdict.Pass:
		s = verdictGood
	case verdict.Fail:
		s = verdictBad
	}
	first := "for a reason that was not given"
	if len(v.Reasons) > 0 {
		first = v.Reasons[0].Message
	}
	col := format.Width(word) + 2
	p.paraIn(word, s, col, first, bold)
	for _, r := range v.Reasons[min(1, len(v.Reasons)):] {
		p.para(strings.Repeat(" ", col-2)+"+ ", dim, col, r.Message)
	}
}

// picture writes the rows and what their marks mean.
func (p *page) picture(pic *picture) {
	p.blank()
	for _, r := range pic.rows {
		p.draw(r, labelWidth)
	}
	p.items(labelWidth, pic.legend, dim)
}

// failures groups them by whose they are and why.
func (p *page) failures(a *analysis.Analysis) {
	if len(a.Failures) == 0 {
		return
	}
	p.blank()
	p.line(p.paint(bold, "failures"))
	groups := groupFailures(a.Failures)
	const most = 12
	for i, g := range groups {
		if i == most {
			p.line("  " + format.Plural(len(groups)-most, "further kind", "further kinds") + " in result.json")
			break
		}
		p.group(g)
	}
}

func (p *page) group(g group) {
	s := plain
	switch g.attribution {
	case analysis.ByDeploy:
		s = badStyle
	case analysis.Undecided:
		s = warnStyle
	}
	p.indent = 2
	p.para(format.Count(len(g.failures))+" × ", s, 6, g.title()+", "+g.when())
	p.indent = 8
	first := g.failures[0]
	if first.Evidence != "" {
		p.para("", plain, 0, first.Evidence)
	}
	p.para("", plain, 0, g.facts())
	p.paraIn("", plain, 0, g.ids(), dim)
	p.indent = 0
}

// findings is the diagnosis: what is missing, why we think so, and its cure.
func (p *page) findings(list []analysis.Finding) {
	if len(list) == 0 {
		return
	}
	p.blank()
	p.line(p.paint(bold, "diagnosis"))
	p.indent = 2
	for _, f := range list {
		s := dim
		switch f.Severity {
		case analysis.Error:
			s = badStyle
		case analysis.Warning:
			s = warnStyle
		}
		p.para(f.Severity, s, 9, f.Code+": "+f.Summary)
		if f.Evidence != "" {
			p.para("", plain, 9, f.Evidence)
		}
		if f.Cure != "" {
			p.para("  cure", goodStyle, 9, f.Cure)
		}
	}
	p.indent = 0
}
