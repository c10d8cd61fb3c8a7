package report

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/format"
)

// cell is one column of a row. The second half of a wide character is the rune 0.
type cell struct {
	r rune
	s style
}

// row is a line of the picture: a label and one cell a column.
type row struct {
	label      string
	labelStyle style
	cells      []cell
}

func newRow(label string, s style, n int) *row {
	r := &row{label: label, labelStyle: s, cells: make([]cell, n)}
	for i := range r.cells {
		r.cells[i].r = ' '
	}
	return r
}

// set puts one character, if it is within the row.
func (r *row) set(i int, c rune, s style) {
	if i >= 0 && i < len(r.cells) {
		r.cells[i] = cell{c, s}
	}
}

// fill puts a character from i to j, both included.
func (r *row) fill(i, j int, c rune, s style) {
	for ; i <= j; i++ {
		r.set(i, c, s)
	}
}

// text writes clean text from column i on; what does not fit is not written.
func (r *row) text(i int, text string, s style) {
	if i < 0 || i+format.Width(text) > len(r.cells) {
		return
	}
	for _, c := range text {
		r.set(i, c, s)
		i++
		if format.Width(string(c)) == 2 {
			r.set(i, 0, s)
			i++
		}
	}
}

// free tells whether the columns from i to j, both included, are blank.
func (r *row) free(i, j int) bool {
	if i < 0 || j >= len(r.cells) {
		return false
	}
	for ; i <= j; i++ {
		if r.cells[i].r != ' ' {
			return false
		}
	}
	return true
}

// beside writes text right of column j, else left of column i, where there is
// room; it tells whether there was.
func (r *row) beside(i, j int, text string, s style) bool {
	w := format.Width(text)
	switch {
	case r.free(j+1, min(j+2+w, len(r.cells)-1)) && j+2+w <= len(r.cells):
		r.text(j+2, text, s)
	case i-1-w >= 0 && r.free(i-1-w, i-1):
		r.text(i-1-w, text, s)
	default:
		return false
	}
	return true
}

// draw writes the row, one escape a stretch of equal style.
func (p *page) draw(r *row, labelWidth int) {
	var b strings.Builder
	b.WriteString(p.paint(r.labelStyle, r.label))
	b.WriteString(strings.Repeat(" ", max(labelWidth-format.Width(r.label), 0)))
	end := len(r.cells)
	for end > 0 && r.cells[end-1].r == ' ' {
		end--
	}
	for i := 0; i < end; {
		j := i
		var run strings.Builder
		for ; j < end && r.cells[j].s == r.cells[i].s; j++ {
			if r.cells[j].r != 0 {
				run.WriteRune(r.cells[j].r)
			}
		}
		b.WriteString(p.paint(r.cells[i].s, run.String()))
		i = j
	}
	p.line(b.String())
}
