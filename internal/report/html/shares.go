package html

import (
	"fmt"
	"strings"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// shares is the row that says who answered: areas on top of each other, each as
// high as its share of a column's requests.
type shares struct {
	Y, H   int
	Size   string // of the areas' own coordinates: columns across, shares of a thousand down
	Areas  []area
	Failed []item // the failures' part: hatched, which an area that is stretched cannot be
	Labels []areaLabel
}

type areaLabel struct {
	label
	Class string // the area it is on, and how wide the screen must be
}

type area struct{ Class, Path string }

const shareHeight = 110

// layer is one part of every column.
type layer struct {
	class, name string
	of          func(report.Column) int
}

// layers are from the bottom up.
func (d *plot) layers() []layer {
	return []layer{
		{"old", sideName(d.a, analysis.Old), func(c report.Column) int { return c.Old }},
		{"other", sideName(d.a, analysis.Other), func(c report.Column) int { return c.Other }},
		{"failed", "failed", func(c report.Column) int { return c.Deploy + c.Undecided + c.NotDeploy }},
		{"new", sideName(d.a, analysis.New), func(c report.Column) int { return c.New }},
	}
}

// sideName is what a side is called: "old v1", "new (3 versions)".
func sideName(a *analysis.Analysis, role string) string {
	if role == analysis.Other && a.Target.NoID {
		return "answered"
	}
	for _, s := range report.Sides(a) {
		switch {
		case s.Role != role:
		case len(s.IDs) == 1:
			return role + " " + format.Name(s.IDs[0], 24)
		default:
			return fmt.Sprintf("%s (%s)", role, format.Count(len(s.IDs)))
		}
	}
	return role
}

func (d *plot) shares() {
	d.title("who answered: share of the requests")
	n := len(d.t.Columns)
	d.p.Shares = shares{Y: d.y, H: shareHeight, Size: fmt.Sprintf("0 0 %d 1000", n)}
	below := make([]int, n) // in each column, what is under the layer
	for _, l := range d.layers() {
		if l.class == "failed" {
			d.failedShares(l, below)
		} else if path := layerPath(d.t.Columns, below, l.of); path != "" {
			d.p.Shares.Areas = append(d.p.Shares.Areas, area{l.class, path})
			d.labelArea(l)
		}
		for i, c := range d.t.Columns {
			below[i] += l.of(c)
		}
	}
	d.end(shareHeight)
}

// edges are a layer's upper and lower edge in a column, counted from the top in
// parts of the row's height; equal where it has nothing there.
func edges(c report.Column, below, n, height int) (top, bottom int) {
	if n == 0 {
		return 0, 0
	}
	return height - (below+n)*height/c.Total(), height - below*height/c.Total()
}

// layerPath draws a layer: a closed shape for each stretch of equal columns.
func layerPath(columns []report.Column, below []int, of func(report.Column) int) string {
	var b strings.Builder
	for i := 0; i < len(columns); {
		top, bottom := edges(columns[i], below[i], of(columns[i]), 1000)
		j := i + 1
		for ; j < len(columns); j++ {
			if t, u := edges(columns[j], below[j], of(columns[j]), 1000); t != top || u != bottom {
				break
			}
		}
		if top != bottom {
			fmt.Fprintf(&b, "M%d %dH%dV%dH%dz", i, top, j, bottom, i)
		}
		i = j
	}
	return b.String()
}

// failedShares is the failures' part of each column, never less than a line.
func (d *plot) failedShares(l layer, below []int) {
	for i, c := range d.t.Columns {
		if n := l.of(c); n > 0 {
			top, bottom := edges(c, below[i], n, shareHeight)
			x, w, _ := d.across(c.From, c.To)
			d.p.Shares.Failed = append(d.p.Shares.Failed, item{X: x, W: w, Y: d.y + top, H: max(bottom-top, 2)})
		}
	}
}

// labelArea names a layer where it is most of the answers for long enough: by
// its side alone where there is no room for more.
func (d *plot) labelArea(l layer) {
	most := func(i int) bool {
		return l.of(d.t.Columns[i])*10 >= d.t.Columns[i].Total()*7 && l.of(d.t.Columns[i]) > 0
	}
	n := float64(len(d.t.Columns))
	from, to := longest(len(d.t.Columns), most)
	y := d.y + shareHeight - 12
	if l.class == "new" {
		y = d.y + 20
	}
	add := func(text, class string) {
		d.p.Shares.Labels = append(d.p.Shares.Labels, areaLabel{
			label{X: percent(round(float64(from+to) / 2 / n)), Y: y, Text: text, Anchor: "middle"}, "on-" + l.class + " " + class,
		})
	}
	side, _, _ := strings.Cut(l.name, " ")
	switch width := float64(to-from) / n; fits(l.name, width) {
	case "always":
		add(l.name, "always")
	case "wide":
		add(l.name, "wide")
		if fits(side, width) == "always" {
			add(side, "narrow")
		}
	default:
		if class := fits(side, width); class != "" {
			add(side, class)
		}
	}
}

// longest is the longest stretch of the numbers below n that all are so.
func longest(n int, so func(int) bool) (from, to int) {
	begin := 0
	for i := range n {
		if !so(i) {
			begin = i + 1
			continue
		}
		if i+1-begin > to-from {
			from, to = begin, i+1
		}
	}
	return from, to
}

// columnsOver makes every column of time something to be pointed at, behind all
// that is drawn on it.
func (d *plot) columnsOver() {
	d.p.Columns = list{Name: "The run in steps of " + format.Duration(d.t.Step)}
	names := d.layers()
	for _, c := range d.t.Columns {
		x, w, _ := d.across(c.From, c.To)
		tip := []string{fmt.Sprintf("%s to %s", format.At(c.From), format.At(c.To))}
		for _, l := range names {
			if n := l.of(c); n > 0 && l.class != "failed" {
				tip = append(tip, fmt.Sprintf("%s: %s, %s", l.name, format.Count(n), format.Percent(float64(n)/float64(c.Total()))))
			}
		}
		if c.Total() == 0 {
			tip = append(tip, "no answer came, and nothing failed")
		}
		tip = append(tip, failedTexts(c)...)
		if c.InFlightOld > 0 {
			tip = append(tip, format.Count(c.InFlightOld)+" in flight on old")
		}
		if q := d.t.Within(c.From, c.To); q != nil {
			tip = append(tip, fmt.Sprintf("latency: half below %s, 99 %% below %s", format.Duration(q.P50), format.Duration(q.P99)))
		}
		d.p.Columns.Items = append(d.p.Columns.Items, item{X: x, W: w, Y: d.p.Shares.Y, H: d.y - d.p.Shares.Y, Class: "column", Tip: strings.Join(tip, ".\n")})
	}
}

// failedTexts is the failures of a column by whose they are.
func failedTexts(c report.Column) []string {
	var out []string
	for _, f := range []struct {
		n    int
		what string
	}{{c.Deploy, "the deploy's failure"}, {c.Undecided, "failure undecided"}, {c.NotDeploy, "other failure"}} {
		switch {
		case f.n == 1:
			out = append(out, "1 "+f.what)
		case f.n > 1:
			out = append(out, format.Count(f.n)+" "+strings.Replace(f.what, "failure", "failures", 1))
		}
	}
	return out
}
