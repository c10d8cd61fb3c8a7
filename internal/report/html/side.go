package html

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// sideBySide is the cutovers of several results below each other, on one scale
// of time whose zero is each one's first answer of new.
type sideBySide struct {
	Height int
	Label  string
	Zero   string
	Ticks  []tick
	Titles []sideTitle
	Lists  []list
	Legend []legendItem

	from, to time.Duration // the scale's ends
	left     budget
	y        int
	seen     map[string]bool // what the legend has to explain
}

type sideTitle struct {
	Text, Class string
	Y           int
}

// margins are how much of a cutover's surroundings is shown, as a share of the
// longest, and at least; behind it is room for its length in words on a phone.
const (
	marginBefore    = 0.15
	marginBehind    = 0.5
	sideMarginLeast = time.Second
	sideSlots       = 60 // marks across, at most
	mostTitle       = 22 // columns of a name in a title, which a phone has to have room for
)

// cutoverOf is the times of a part's cutover, from new's first answer.
type cutoverOf struct {
	overlap    time.Duration // negative where nobody answered between
	drainFrom  time.Duration
	drainTo    time.Duration // of a drain that has no length: drainFrom
	drainOpen  bool          // old's stop was not seen
	stopped    bool          // and this is when it was
	start, end time.Duration // of all that is to be shown
}

func newSideBySide(in SumInput) *sideBySide {
	s := &sideBySide{left: pictureBudget, y: 30, seen: map[string]bool{}}
	cuts := map[int]cutoverOf{}
	for i, p := range in.Parts {
		if c, ok := newCutoverOf(p.Result); ok && !in.control(p) {
			cuts[i] = c
			s.from, s.to = min(s.from, c.start), max(s.to, c.end)
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	length := float64(s.to - s.from)
	s.from -= max(sideMarginLeast, time.Duration(marginBefore*length))
	s.to += max(sideMarginLeast, time.Duration(marginBehind*length))
	s.Ticks = ticks(s.from, s.to, 10, 4, signed)
	for i, p := range in.Parts {
		if c, ok := cuts[i]; ok {
			s.row(p, c)
		}
	}
	s.Height, s.Zero = s.y, percent(round(s.share(0)))
	s.Label = fmt.Sprintf("The cutovers of %s, each from new's first answer: overlap or gap, drain, failures. The numbers are in the table below.", format.Plural(len(cuts), "result", "results"))
	s.explain()
	return s
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func newCutoverOf(r *report.Result) (cutoverOf, bool) {
	c := r.Cutover
	if c == nil || c.OverlapMS == nil {
		return cutoverOf{}, false
	}
	out := cutoverOf{overlap: millis(*c.OverlapMS)}
	out.start, out.end = min(0, out.overlap), max(0, out.overlap)
	out.drainFrom, out.drainTo = out.overlap, out.overlap
	switch d := c.Drain; {
	case d == nil:
	case c.OldStopMS != nil:
		out.stopped = true
		out.drainTo = millis(*c.OldStopMS - c.StartMS)
		out.drainFrom = out.drainTo - millis(d.Lower)
	default:
		out.drainOpen, out.drainTo = true, out.drainFrom+millis(d.Lower)
	}
	out.end = max(out.end, out.drainTo)
	return out, true
}

func (s *sideBySide) share(at time.Duration) float64 { return shareOf(at, s.from, s.to) }

// signed is a time before or after zero.
func signed(at time.Duration) string {
	switch text := strings.Replace(format.Duration(at.Abs()), ".0 s", " s", 1); {
	case at < 0:
		return "−" + text
	case at > 0:
		return "+" + text
	}
	return "0"
}

// row is one cutover: its title, its spans, its failures.
func (s *sideBySide) row(p Part, c cutoverOf) {
	name := format.Clean(p.Name, mostName)
	title := format.Clean(p.Name, mostTitle) + ": " + format.Clean(p.Result.Verdict, mostName)
	if n := p.Result.Requests.Deploy; n > 0 {
		title += ", lost " + format.Count(n)
	}
	s.Titles = append(s.Titles, sideTitle{Text: title, Class: "strong", Y: s.y + 13})
	s.y += titleHeight
	l := list{Name: "Cutover of " + name, Bottom: s.y + 14}
	add := func(from, to time.Duration, class, text, tip string) {
		a, b := round(s.share(from)), round(s.share(to))
		it := item{X: percent(a), W: percent(max(b-a, 0.002)), Y: s.y, H: 14, Class: class, Tip: tip}
		it.Text, it.TextX, it.TextY, it.Anchor = "\u00a0\u00a0"+text, percent(b), s.y+11, "start"
		l.Items = append(l.Items, it)
		s.seen[class] = true
	}
	switch {
	case c.overlap >= 0:
		add(0, c.overlap, "new", "overlap "+format.Duration(c.overlap), fmt.Sprintf("%s.\nOld and new both took requests for %s", name, format.Duration(c.overlap)))
	default:
		add(c.overlap, 0, "gap-bar", format.Duration(-c.overlap)+" apart", fmt.Sprintf("%s.\nOld took its last request %s before new first answered", name, format.Duration(-c.overlap)))
	}
	if c.drainTo > c.drainFrom {
		length := format.Duration(c.drainTo - c.drainFrom)
		text := "drain " + length
		tip := fmt.Sprintf("%s.\nOld went on for %s after its last new request, and was stopped", name, length)
		if c.drainOpen {
			text = "drain ≥ " + length
			tip = fmt.Sprintf("%s.\nOld went on for %s at least after its last new request; its stop was not seen", name, length)
		}
		s.y += 17
		add(c.drainFrom, c.drainTo, "drain-bar", text, tip)
		if c.stopped && p.Result.Slow.Cut > 0 {
			it := &l.Items[len(l.Items)-1]
			it.Shape, it.EndX = "cut", percent(round(s.share(c.drainTo)))
			it.Tip += fmt.Sprintf("; %s cut in flight by its stop, or its instances' stops", format.Plural(p.Result.Slow.Cut, "request was", "requests were"))
			s.seen["cut"] = true
		}
		l.Bottom = s.y + 14
	}
	s.Lists = append(s.Lists, l)
	s.y += 22
	s.failures(p)
	s.y += gap
}

// failures is a mark for each few that one owner has at about one time.
func (s *sideBySide) failures(p Part) {
	type place struct {
		slot int
		by   string
	}
	first := millis(p.Result.Cutover.StartMS)
	at, groups := []place{}, map[place][]report.Failure{}
	outside := 0
	for _, f := range p.Result.Failures {
		when := millis(f.EndedMS) - first
		if when < s.from || when > s.to {
			outside++
			continue
		}
		k := place{min(int(s.share(when)*sideSlots), sideSlots-1), f.Attribution}
		if groups[k] == nil {
			at = append(at, k)
		}
		groups[k] = append(groups[k], f)
	}
	slices.SortStableFunc(at, func(a, b place) int { return a.slot - b.slot })
	l := list{Name: "Failures of " + format.Clean(p.Name, mostName), Bottom: s.y + markSize}
	row, last := 0, -1
	for _, k := range at {
		if row++; k.slot != last {
			row = 0
		}
		last = k.slot
		fs, o := groups[k], ownerOf(k.by)
		tip := fmt.Sprintf("%s, %s, at %s: %s", format.Plural(len(fs), "failure", "failures"), o.Name, signed(millis(fs[0].EndedMS)-first), format.Clean(fs[0].Evidence, mostSentence))
		if !s.left.take(tip) {
			outside += len(fs)
			continue
		}
		l.Items = append(l.Items, item{X: percent(round((float64(k.slot) + 0.5) / sideSlots)), Y: s.y + markSize/2 + row*markSize, Shape: o.Shape, Tip: tip})
		l.Bottom = max(l.Bottom, s.y+(row+1)*markSize)
		s.seen[o.Shape] = true
	}
	if len(l.Items) > 0 {
		s.Lists = append(s.Lists, l)
		s.y = l.Bottom + 4
	}
	if n := outside + p.Result.FailuresOmitted; n > 0 {
		s.Titles = append(s.Titles, sideTitle{Text: format.Plural(n, "failure", "failures") + " not drawn here", Class: "title", Y: s.y + 11})
		s.y += titleHeight
	}
}

// explain is the legend of what is there.
func (s *sideBySide) explain() {
	for _, l := range []legendItem{
		{"area", "new", "overlap: old and new both took requests"},
		{"area", "gap-bar", "apart: old took its last before new answered"},
		{"area", "drain-bar", "drain: old's last accept to its end"},
		{"mark", "cut", "requests in flight on old were cut"},
		{"mark", shapes[analysis.ByDeploy], "the deploy's failure"},
		{"mark", shapes[analysis.Undecided], "failure, undecided"},
		{"mark", shapes[analysis.ByBackground], "failure, background"},
		{"mark", shapes[analysis.ByProber], "failure, the prober's own"},
		{"mark", shapes[analysis.ByConfig], "failure, the configuration's"},
	} {
		if s.seen[l.Class] {
			s.Legend = append(s.Legend, l)
		}
	}
}
