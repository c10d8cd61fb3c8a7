package report

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
)

// inFlight is how many slow requests were under way on old, against the most
// there were, and where they were cut.
func (p *picture) inFlight() {
	most := 0
	for _, c := range p.t.Columns {
		most = max(most, c.InFlightOld)
	}
	if most == 0 {
		return
	}
	r := p.add("in flight", oldStyle)
	for i, c := range p.t.Columns {
		r.set(i, height(c.InFlightOld, most), oldStyle)
	}
	p.legend = append(p.legend, fmt.Sprintf("in flight on old: █ = %s", format.Count(most)))
	cut, last := 0, -1
	for _, c := range p.t.Cuts {
		if i, ok := p.t.Index(c.At); ok {
			r.set(i, cutMark, badStyle)
			cut, last = cut+c.N, i
		}
	}
	if cut > 0 {
		r.beside(last, last, format.Count(cut)+" cut", badStyle)
		p.explainCut()
	}
}

// failures is a mark in each column in which requests failed, of the worst kind
// there. What it says beside the marks is how many are the deploy's.
func (p *picture) failures() {
	r := newRow("failed", plain, p.n)
	first, last := -1, -1
	seen := map[rune]bool{}
	for i, c := range p.t.Columns {
		mark, s := worst(c)
		if mark == 0 {
			continue
		}
		r.set(i, mark, s)
		seen[mark] = true
		if mark == deployMark {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if len(seen) == 0 {
		return
	}
	p.rows = append(p.rows, r)
	if n := p.a.Requests.Deploy; last >= 0 && n > 1 {
		r.beside(first, last, format.Count(n), badStyle)
	}
	for _, m := range []struct {
		mark rune
		text string
	}{{deployMark, "the deploy's failure"}, {undecidedMark, "undecided"}, {otherMark, "not the deploy's"}} {
		if seen[m.mark] {
			p.legend = append(p.legend, string(m.mark)+" "+m.text)
		}
	}
}

const (
	deployMark    = '×'
	undecidedMark = '?'
	otherMark     = '·'
)

func worst(c Column) (rune, style) {
	switch {
	case c.Deploy > 0:
		return deployMark, badStyle
	case c.Undecided > 0:
		return undecidedMark, warnStyle
	case c.NotDeploy > 0:
		return otherMark, plain
	}
	return 0, plain
}

// brackets are the spans that have a length to be read: overlap or gap, and
// drain, each with its length beside it.
func (p *picture) brackets() {
	for _, kind := range []string{SpanGap, SpanOverlap, SpanDrain} {
		span := p.t.Span(kind)
		if span == nil {
			continue
		}
		i, j, ok := p.columns(span.From, span.To)
		if !ok {
			continue
		}
		text, s := SpanText(p.a, *span), bold
		switch {
		case kind == SpanGap:
			s = badStyle
		case kind == SpanDrain && span.Open && i == j:
			continue // so little that it says nothing
		}
		r := p.add("", plain)
		r.fill(i, j, '─', s)
		r.set(i, '├', s)
		switch {
		case span.Open && j > i:
			r.set(j, '╌', s)
		case j > i:
			r.set(j, '┤', s)
		}
		if i == j {
			r.set(i, '│', s)
		}
		r.beside(i, j, text, s)
	}
}

// SpanText is a span's kind and its length as far as that is known: "overlap
// 10.0 s", "drain at least 1.2 s".
func SpanText(a *analysis.Analysis, s Span) string {
	switch {
	case s.Kind == SpanDrain && a.Stop != nil:
		return s.Kind + " " + drainText(a.Stop.Drain)
	case s.Open:
		return s.Kind + " at least " + format.Duration(s.To-s.From)
	}
	return s.Kind + " " + format.Duration(s.To-s.From)
}

// drainText is the drain window's length as far as it is known.
func drainText(d analysis.Bounds) string {
	switch {
	case d.Exact:
		return format.Duration(d.Lower)
	case d.Upper != nil:
		return format.Duration(d.Lower) + " to " + format.Duration(*d.Upper)
	}
	return "at least " + format.Duration(d.Lower)
}
