package html

import (
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
)

const (
	mostBars     = 320
	mostBarRows  = 36
	barsHeight   = 190 // at most
	mostBarPitch = 8
)

// bars is the requests that were held open, from start to end, packed into as
// few rows as they need.
func (d *plot) bars() {
	shown := d.barsWithin()
	if len(shown) == 0 {
		return
	}
	drawn, rows, n := thin(shown, (d.t.To-d.t.From)/300)
	onOld, cut := 0, 0
	for _, c := range d.t.Columns {
		onOld = max(onOld, c.InFlightOld)
	}
	for _, c := range d.t.Cuts {
		cut += c.N
	}
	text := fmt.Sprintf("in flight: requests held open, %s on old at most", format.Count(onOld))
	if cut > 0 {
		text = fmt.Sprintf("in flight: %s on old at most, %s cut at its stop", format.Count(onOld), format.Count(cut))
	}
	if left := len(shown) - len(drawn); left > 0 {
		d.p.Notes = append(d.p.Notes, fmt.Sprintf("%s of %s requests held open are not drawn.", format.Count(left), format.Count(len(shown))))
	}
	d.title(text)
	pitch := max(min(barsHeight/n, mostBarPitch), 4)
	failures := map[string]analysis.Failure{}
	for _, f := range d.a.Failures {
		if f.Lane == "slow" {
			failures[f.ID] = f
		}
	}
	d.p.Bars.Name = "Requests held open"
	for i, b := range drawn {
		f, failed := failures[b.ID]
		it := d.bar(b, d.y+rows[i]*pitch, pitch-2, f, failed)
		d.p.Bars.Items = append(d.p.Bars.Items, it)
	}
	d.p.Bars.Bottom = d.y + n*pitch
	d.end(n * pitch)
}

// barsWithin are those of which something is in the picture.
func (d *plot) barsWithin() []analysis.Bar {
	var out []analysis.Bar
	for _, b := range d.t.Bars {
		if b.To > d.t.From && b.From < d.t.To {
			out = append(out, b)
		}
	}
	return out
}

// bar is one of them. One that was cut, or failed, ends in the mark of whose
// failure it is.
func (d *plot) bar(b analysis.Bar, y, height int, f analysis.Failure, failed bool) item {
	x, w, _ := d.across(b.From, b.To)
	on := b.Role
	if on == "" {
		on = "an unknown version"
	}
	it := item{X: x, W: w, Y: y, H: height, Class: "bar " + role(b.Role)}
	if b.Outcome == "unfinished" {
		it.Class += " hollow"
	}
	what := map[string]string{"completed": "answered", "cut": "cut at old's stop", "unfinished": "not finished at the run's end", "failed": "failed"}[b.Outcome]
	it.Tip = fmt.Sprintf("%s, held open on %s.\n%s, %s: %s", format.Clean(b.ID, mostID), on, span(b.From, b.To), format.Duration(b.To-b.From), what)
	if !failed || b.To >= d.t.To {
		return it
	}
	it.Shape = ownerOf(f.Attribution).Shape
	it.EndX, _, _ = d.across(b.To, b.To)
	if evidence := whatOf(f) + ", " + ownerOf(f.Attribution).Name + ", " + evidenceOf(f); d.left.take(evidence) {
		it.Tip += ".\n" + evidence
	}
	return it
}

// thin leaves out bars until they are few enough and fit into few enough rows:
// first some of those that were answered or left, evenly, then of the others too.
// Between two of a row there is some room.
func thin(all []analysis.Bar, room time.Duration) (drawn []analysis.Bar, rows []int, n int) {
	for every := 1; ; every++ {
		drawn = drawn[:0]
		for i, b := range all {
			telling := b.Outcome == "cut" || b.Outcome == "failed"
			if i%every == 0 || telling && every <= 8 {
				drawn = append(drawn, b)
			}
		}
		if rows, n = pack(drawn, room); len(drawn) <= mostBars && n <= mostBarRows || len(drawn) == 1 {
			return drawn, rows, n
		}
	}
}

// pack gives each bar, in order of start, the first row that is free.
func pack(bars []analysis.Bar, room time.Duration) (rows []int, n int) {
	var ends []analysis.Bar // the last of each row
	rows = make([]int, len(bars))
	for i, b := range bars {
		row := 0
		for row < len(ends) && ends[row].To+room > b.From {
			row++
		}
		if row == len(ends) {
			ends = append(ends, b)
		}
		ends[row] = b
		rows[i] = row
	}
	return rows, len(ends)
}
