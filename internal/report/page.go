package report

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/cutwatch/cutwatch/internal/format"
)

// style is the colour of a piece of text. It never carries meaning alone: what
// it says is in the words and shapes too.
type style int

const (
	plain style = iota
	bold
	dim
	oldStyle
	newStyle
	badStyle
	warnStyle
	goodStyle
	verdictBad
	verdictWarn
	verdictGood
)

// sgr is the terminal's code of each style.
func (s style) sgr() string {
	switch s {
	case bold:
		return "1"
	case dim:
		return "2"
	case oldStyle:
		return "34"
	case newStyle:
		return "32"
	case badStyle:
		return "1;31"
	case warnStyle:
		return "33"
	case goodStyle:
		return "32"
	case verdictBad:
		return "1;97;41"
	case verdictWarn:
		return "1;30;43"
	case verdictGood:
		return "1;30;42"
	}
	return ""
}

// page is text being laid out. What goes through para is made safe here, by
// package format; what is given to line, draw and items was made so before.
type page struct {
	buf    bytes.Buffer
	color  bool
	width  int // columns of a line
	indent int // of what follows
}

// paint is text in a style. The text holds no escape of its own.
func (p *page) paint(s style, text string) string {
	if code := s.sgr(); p.color && code != "" && text != "" {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}

// blank ends a section.
func (p *page) blank() { p.buf.WriteByte('\n') }

// line writes one line that was laid out before.
func (p *page) line(text string) {
	p.buf.WriteString(strings.TrimRight(text, " "))
	p.buf.WriteByte('\n')
}

// para writes a head and, beside it, text wrapped to the page, each further
// line under the first. The head stands at the page's indent and takes at least
// col columns.
func (p *page) para(head string, s style, col int, text string) {
	p.paraIn(head, s, col, text, plain)
}

func (p *page) paraIn(head string, s style, col int, text string, in style) {
	head = format.Clean(head, maxHead)
	col = max(col, format.Width(head))
	margin := strings.Repeat(" ", p.indent)
	for i, line := range wrap(format.Clean(text, maxPara), p.width-p.indent-col) {
		left := strings.Repeat(" ", col)
		if i == 0 {
			left = p.paint(s, head) + left[format.Width(head):]
		}
		p.line(margin + left + p.paint(in, line))
	}
}

// items writes clean texts side by side, as many as fit on a line.
func (p *page) items(indent int, texts []string, s style) {
	margin := strings.Repeat(" ", indent)
	line := ""
	for _, text := range texts {
		joined := line + "   " + text
		if line == "" {
			joined = text
		} else if indent+format.Width(joined) > p.width {
			p.line(margin + p.paint(s, line))
			joined = text
		}
		line = joined
	}
	if line != "" {
		p.line(margin + p.paint(s, line))
	}
}

const (
	minWrap = 20 // the narrowest column that text is wrapped to
	maxHead = 16
	maxPara = 2000 // the most of one text that is shown
)

// wrap breaks clean text into lines of at most width columns, between words; a
// number stays with its unit. There is always one line.
func wrap(text string, width int) []string {
	width = max(width, minWrap)
	var lines []string
	line := ""
	for _, word := range words(text) {
		for {
			joined := word
			if line != "" {
				joined = line + " " + word
			}
			if format.Width(joined) <= width {
				line = joined
				break
			}
			if line != "" {
				lines = append(lines, line)
				line = ""
				continue
			}
			var head string
			if head, word = breakWord(word, width); head == "" {
				break
			}
			lines = append(lines, head)
		}
	}
	return append(lines, line)
}

// words splits text at its spaces, keeping "15.0 s" and "1m 00s" whole.
func words(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		if n := len(out); n > 0 && unit(w) && endsInDigit(out[n-1]) {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

func unit(w string) bool {
	w = strings.TrimRight(w, ",.;:)")
	switch w {
	case "ms", "s", "%", "×":
		return true
	}
	return len(w) == 3 && isDigit(w[0]) && isDigit(w[1]) && (w[2] == 's' || w[2] == 'm')
}

func endsInDigit(w string) bool {
	last := w[len(w)-1]
	return isDigit(last) || len(w) > 1 && isDigit(w[len(w)-2]) && (last == 'm' || last == 'h')
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// breakWord cuts a word that is wider than a line before a letter or a digit: a
// line that began with "::" could be a command to a runner. What offers no such
// place is given up behind an ellipsis.
func breakWord(word string, width int) (head, rest string) {
	cut, columns := 0, 0
	for i, r := range word {
		columns += format.Width(string(r))
		if columns > width {
			break
		}
		if i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			cut = i
		}
	}
	if cut > 0 {
		return word[:cut], word[cut:]
	}
	return format.Clean(word, width), ""
}
