package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

const (
	markSize    = 9 // pixels, with the room around it
	markRows    = 9
	wideSlots   = 84
	narrowSlots = 34
)

// failures is a mark for each failure, or where there are too many for each few
// of one owner.
func (d *plot) failures() {
	if len(d.t.Failures) == 0 {
		return
	}
	d.title("failures: " + format.Count(len(d.t.Failures)))
	wide, narrow := d.t.Marks(wideSlots, markRows), d.t.Marks(narrowSlots, markRows)
	high := 0
	for _, m := range slices.Concat(wide, narrow) {
		high = max(high, m.Row+1)
	}
	d.p.Wide = d.marks(wide, wideSlots, high)
	d.p.Narrow = d.marks(narrow, narrowSlots, high)
	d.end(high * markSize)
}

func (d *plot) marks(marks []report.Mark, slots, high int) list {
	l := list{Name: "Failures", Bottom: d.y + high*markSize}
	for _, m := range marks {
		o := ownerOf(m.Failures[0].Attribution)
		l.Items = append(l.Items, item{
			X: percent(round((float64(m.Slot) + 0.5) / float64(slots))), Y: d.y + (high-m.Row)*markSize - markSize/2,
			Shape: o.Shape, Tip: tipOf(m.Failures, &d.left),
		})
	}
	return l
}

// lives is a line for each instance of a rollout.
func (d *plot) lives() {
	const most, height = 16, 23
	all := d.t.Instances
	if len(all) == 0 {
		return
	}
	text := "instances, from first to last answer"
	if n := len(all) - most; n > 0 {
		text = fmt.Sprintf("%s of %s instances", format.Count(most), format.Count(len(all)))
		d.p.Notes = append(d.p.Notes, format.Plural(n, "instance is", "instances are")+" not drawn.")
		all = all[:most]
	}
	d.title(text)
	d.p.Lives.Name = "Instances"
	for _, life := range all {
		x, w, ok := d.across(life.From, life.To)
		if !ok {
			continue
		}
		name := format.Name(life.ID, mostName)
		short := report.ShortEnd(life.ID, mostLabel)
		above := d.above(life.From, life.To, d.y+10, short)
		it := item{
			X: x, W: w, Y: d.y + 16, H: 4, Class: "life " + role(life.Role), Text: short,
			TextX: above.X, TextY: above.Y, Anchor: above.Anchor,
			Tip: fmt.Sprintf("Instance %s, %s.\nAnswered %s", name, format.Clean(life.Role, 10), span(life.From, life.To)),
		}
		if life.Stop != nil {
			it.Tip += fmt.Sprintf(".\nRequests in flight on it were cut at %s", format.At(*life.Stop))
			if at, _, ok := d.across(*life.Stop, *life.Stop); ok {
				it.Shape, it.EndX = "cut", at
			}
		}
		d.p.Lives.Items = append(d.p.Lives.Items, it)
		d.y += height
	}
	d.end(0)
}

// role is the class of a side.
func role(r string) string {
	switch r {
	case analysis.Old, analysis.New:
		return r
	}
	return "other"
}

// latencyRow is the band between the median and the 99th percentile.
type latencyRow struct {
	Y, H           int
	Band, P50, P99 string // paths, a thousand across and H down
	Lines          []label
}

const (
	latencyHeight = 90
	mostSeconds   = 400 // that are drawn
)

func (d *plot) latency() {
	seconds := d.seconds()
	if len(seconds) == 0 {
		return
	}
	d.title("latency by the second: p50, p99")
	low, high := seconds[0].P50, time.Duration(0)
	for _, q := range seconds {
		low, high = min(low, q.P50), max(high, q.P99)
	}
	scale := newLogScale(low, high, latencyHeight)
	row := &latencyRow{Y: d.y, H: latencyHeight}
	for _, decade := range scale.decades() {
		row.Lines = append(row.Lines, label{X: "0%", Y: int(scale.y(decade)), Text: format.Duration(decade), Anchor: "start"})
	}
	row.Band, row.P50, row.P99 = d.latencyPaths(seconds, scale)
	d.p.Latency = row
	d.end(latencyHeight)
}

// seconds are those of the picture, joined where there are more than can be seen.
func (d *plot) seconds() []report.Quantiles {
	if len(d.t.Latency) <= mostSeconds {
		return d.t.Latency
	}
	var out []report.Quantiles
	step := (d.t.To-d.t.From)/mostSeconds + 1
	for at := d.t.From; at < d.t.To; at += step {
		if q := d.t.Within(at, at+step); q != nil {
			q.From, q.To = at, at+step
			out = append(out, *q)
		}
	}
	return out
}

// latencyPaths are steps, one a second, broken where nothing was answered.
func (d *plot) latencyPaths(seconds []report.Quantiles, scale logScale) (band, p50, p99 string) {
	var area, mid, top strings.Builder
	for len(seconds) > 0 {
		n := 1
		for n < len(seconds) && seconds[n].From == seconds[n-1].To {
			n++
		}
		command := "M"
		for _, q := range seconds[:n] {
			x1, x2 := d.share(q.From)*1000, d.share(q.To)*1000
			fmt.Fprintf(&top, "%s%.1f %.1fH%.1f", command, x1, scale.y(q.P99), x2)
			fmt.Fprintf(&mid, "%s%.1f %.1fH%.1f", command, x1, scale.y(q.P50), x2)
			fmt.Fprintf(&area, "%s%.1f %.1fH%.1f", command, x1, scale.y(q.P99), x2)
			command = "L"
		}
		for _, q := range slices.Backward(seconds[:n]) {
			fmt.Fprintf(&area, "L%.1f %.1fH%.1f", d.share(q.To)*1000, scale.y(q.P50), d.share(q.From)*1000)
		}
		area.WriteString("z")
		seconds = seconds[n:]
	}
	return area.String(), mid.String(), top.String()
}

// logScale maps lengths of time to heights by their logarithm: 1 ms and 10 s are
// both to be read.
type logScale struct {
	low, high float64 // decades
	height    float64
}

func newLogScale(low, high time.Duration, height int) logScale {
	s := logScale{low: math.Floor(log(low)), high: math.Ceil(log(high)), height: float64(height)}
	if s.high <= s.low {
		s.high = s.low + 1
	}
	return s
}

func log(d time.Duration) float64 { return math.Log10(float64(max(d, time.Microsecond))) }

func (s logScale) y(d time.Duration) float64 { return s.height * (s.high - log(d)) / (s.high - s.low) }

// decades are the powers of ten within the scale, its ends among them.
func (s logScale) decades() []time.Duration {
	var out []time.Duration
	for e := s.low; e <= s.high; e++ {
		out = append(out, time.Duration(math.Round(math.Pow(10, e))))
	}
	return out
}
