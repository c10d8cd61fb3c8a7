package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// columns is how many the picture has, at most.
const columns = 240

// picture is the cutover drawn: places and sizes for the template. Across, they
// are shares of the width, "12.5%", so that the picture fits any screen while its
// letters and marks keep their size; down, they are pixels.
type picture struct {
	Height int
	Top    int      // of the rows below the axis, the deploy and the brackets
	Label  string   // what it is and shows, for who does not see it
	Notes  []string // what is not in it

	Ticks    []tick
	Window   *stretch  // the deploy window, on the axis
	Shades   []stretch // behind everything: gap, drain
	Cuts     []string  // when requests in flight on old were cut
	Titles   []label   // of the rows
	Phases   list
	Brackets []bracket
	Shares   shares
	Columns  list
	Wide     list // failures, for wide screens and for narrow ones
	Narrow   list
	Bars     list
	Lives    list
	Latency  *latencyRow
	Legend   []legendItem
}

const axisY = 20

// Axis is how far down the axis is, and Below how high all below it.
func (p *picture) Axis() int  { return axisY }
func (p *picture) Below() int { return p.Height - axisY }

// list is things that can be pointed at. With the keyboard it is one stop, and
// arrows go from one to the next.
type list struct {
	Name   string
	Items  []item
	Bottom int // the row's lower end
}

// item is one of them: Tip is its name, and what is shown of it.
type item struct {
	X, W     string
	Y, H     int
	Class    string
	Shape    string // a mark, or the mark at a bar's end
	EndX     string // where that is
	Text     string // within or above it
	TextX    string
	TextY    int
	Anchor   string
	TextFits string // class of the width from which on the text fits
	Tip      string
}

// Middle is half way down.
func (i item) Middle() int { return i.Y + i.H/2 }

type tick struct{ X, Text, Anchor, Class string }

type label struct {
	X, Text, Anchor string
	Y               int
}

type stretch struct {
	X, W  string
	Class string
}

type bracket struct {
	X, X2 string
	Y     int
	Class string
	Open  bool // where it ends was not seen
	Label label
}

type legendItem struct{ Sample, Class, Text string }

// plot lays the rows of the picture below each other.
type plot struct {
	t    *report.Timeline
	a    *analysis.Analysis
	p    *picture
	y    int // the next row's top
	left budget
}

const (
	titleHeight = 20
	gap         = 14 // below a row
)

func newPicture(t *report.Timeline, a *analysis.Analysis) *picture {
	d := &plot{t: t, a: a, p: &picture{}, left: pictureBudget}
	d.axis()
	d.phases()
	d.brackets()
	d.shares()
	d.failures()
	d.bars()
	d.lives()
	d.latency()
	d.columnsOver()
	d.p.Height = d.y
	d.p.Label = d.describe()
	d.legend()
	d.notes()
	return d.p
}

// share is where a moment lies, from 0 on the left to 1 on the right.
func (d *plot) share(at time.Duration) float64 { return shareOf(at, d.t.From, d.t.To) }

func shareOf(at, from, to time.Duration) float64 {
	return max(0, min(float64(at-from)/float64(to-from), 1))
}

// percent writes a share of the width.
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', -1, 32) + "%"
}

// across is a stretch of time as a place and a width; ok is whether any of it is
// in the picture.
func (d *plot) across(from, to time.Duration) (x, w string, ok bool) {
	if to < d.t.From || from > d.t.To {
		return "", "", false
	}
	a, b := round(d.share(from)), round(d.share(max(from, to)))
	return percent(a), percent(b - a), true
}

// round keeps places to a hundredth of a percent: less than a pixel.
func round(share float64) float64 { return float64(int(share*10000+0.5)) / 10000 }

// title begins a row.
func (d *plot) title(text string) {
	d.p.Titles = append(d.p.Titles, label{X: "0%", Y: d.y + 13, Text: text, Anchor: "start"})
	d.y += titleHeight
}

// end ends a row of that height.
func (d *plot) end(height int) { d.y += height + gap }

// above is text above a stretch, on the side on which there is more room.
func (d *plot) above(from, to time.Duration, y int, text string) label {
	if a := d.share(from); a <= 0.5 {
		return label{X: percent(round(a)), Y: y, Text: text, Anchor: "start"}
	}
	return label{X: percent(round(d.share(to))), Y: y, Text: text, Anchor: "end"}
}

const (
	wideWidth   = 800 // the least pixels of a wide picture, and of a narrow one
	narrowWidth = 330
	letter      = 7.2 // pixels of one
	mostLabel   = 22  // columns of a label that has half a narrow picture
)

// fits is the class of text within a share of the width: always there, only on
// wide screens, or never.
func fits(text string, share float64) string {
	switch w := float64(format.Width(text))*letter + 8; {
	case w <= share*narrowWidth:
		return "always"
	case w <= share*wideWidth:
		return "wide"
	}
	return ""
}

// axisSteps are distances between the marks of the axis.
var axisSteps = [...]time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// axis is the marks of time: about ten on a wide screen, of which a narrow one
// shows those that a coarser step has too.
func (d *plot) axis() {
	d.p.Ticks = ticks(d.t.From, d.t.To, 12, 5, func(at time.Duration) string { return strings.TrimSuffix(format.At(at), ".0") })
	if w := d.t.Span(report.SpanWindow); w != nil {
		if x, width, ok := d.across(w.From, w.To); ok {
			d.p.Window = &stretch{X: x, W: width}
		}
	}
	d.y = 30
}

// ticks are the marks of a scale of time: at most so many on a wide screen, of
// which a narrow one shows those that a coarser step has too.
func ticks(from, to time.Duration, wide, narrow int, text func(time.Duration) string) []tick {
	fine := stepOf(to-from, wide)
	coarse := fine
	for to-from > time.Duration(narrow)*coarse {
		coarse += fine
	}
	first := time.Duration(math.Ceil(float64(from)/float64(fine))) * fine
	var out []tick
	for at := first; at <= to; at += fine {
		share := shareOf(at, from, to)
		k := tick{X: percent(round(share)), Text: text(at), Anchor: "middle", Class: "wide"}
		if at%coarse == 0 {
			k.Class = "always"
		}
		switch {
		case share < 0.02:
			k.Anchor = "start"
		case share > 0.98:
			k.Anchor = "end"
		}
		out = append(out, k)
	}
	return out
}

// stepOf is the shortest distance with which a length has at most n marks.
func stepOf(length time.Duration, n int) time.Duration {
	for _, s := range axisSteps {
		if length <= time.Duration(n)*s {
			return s
		}
	}
	longest := axisSteps[len(axisSteps)-1]
	return longest * (length/longest + 1)
}

// phases is the deploy's life.
func (d *plot) phases() {
	if d.t.Deploy == nil {
		return
	}
	if _, _, ok := d.across(d.t.Deploy.From, d.t.Deploy.To); !ok {
		return
	}
	text := "deploy"
	if d.a.Deploy.Ended != nil {
		text += " " + format.Duration(*d.a.Deploy.Ended-*d.a.Deploy.Started)
	}
	if o := d.a.Deploy.Outcome; o != "" && o != "unknown" {
		text += ", " + format.Clean(o, 12)
	}
	l := d.above(d.t.Deploy.From, d.t.Deploy.To, d.y+13, text)
	d.p.Titles = append(d.p.Titles, l)
	d.y += titleHeight
	const height, most = 20, 60
	d.p.Phases.Name = "The deploy's phases"
	for _, ph := range d.t.Phases[:min(most, len(d.t.Phases))] {
		x, w, ok := d.across(ph.From, ph.To)
		if !ok {
			continue
		}
		name := format.Clean(ph.Name, 40)
		d.p.Phases.Items = append(d.p.Phases.Items, item{
			X: x, W: w, Y: d.y, H: height, Class: "phase", Text: name,
			TextFits: fits(name, d.share(ph.To)-d.share(ph.From)),
			Tip:      fmt.Sprintf("Deploy%s.\n%s, %s", before(": ", name), span(ph.From, ph.To), format.Duration(ph.To-ph.From)),
		})
	}
	d.end(height)
}

// before is the text behind its prefix, "" where there is none.
func before(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// brackets are the spans whose lengths are to be read; gap and drain are shaded
// through all rows as well.
func (d *plot) brackets() {
	for _, kind := range []string{report.SpanGap, report.SpanOverlap, report.SpanDrain} {
		s := d.t.Span(kind)
		if s == nil {
			continue
		}
		x, w, ok := d.across(s.From, s.To)
		if !ok {
			continue
		}
		length := report.SpanText(d.a, *s)
		d.p.Brackets = append(d.p.Brackets, bracket{
			X: x, X2: percent(round(d.share(s.To))), Y: d.y + 22, Class: kind, Open: s.Open,
			Label: d.above(s.From, s.To, d.y+13, length),
		})
		if kind != report.SpanOverlap {
			d.p.Shades = append(d.p.Shades, stretch{X: x, W: w, Class: kind})
		}
		d.y += 30
	}
	for _, c := range d.t.Cuts {
		if x, _, ok := d.across(c.At, c.At); ok {
			d.p.Cuts = append(d.p.Cuts, x)
		}
	}
	d.y += 4
	d.p.Top = d.y + titleHeight
}

// describe is the picture in a sentence.
func (d *plot) describe() string {
	text := fmt.Sprintf("The cutover from %s to %s: who answered, failures, requests held open, latency", format.At(d.t.From), format.At(d.t.To))
	for _, b := range d.p.Brackets {
		text += "; " + b.Label.Text
	}
	return text + ". All of it is in the table below."
}

// notes is what the picture leaves out.
func (d *plot) notes() {
	if d.t.From > 0 || d.t.To < d.a.Duration {
		d.p.Notes = append(d.p.Notes, fmt.Sprintf("The picture shows %s of a run of %s.", span(d.t.From, min(d.t.To, d.a.Duration)), format.Duration(d.a.Duration)))
	}
	if n := d.t.Outside; n > 0 {
		d.p.Notes = append(d.p.Notes, format.Plural(n, "failure lies", "failures lie")+" outside of it.")
	}
}
