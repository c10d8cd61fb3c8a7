package report

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// labelWidth is the columns left of the picture.
const labelWidth = 12

// picture is the timeline drawn in text, one character a column.
type picture struct {
	t      *Timeline
	a      *analysis.Analysis
	n      int // columns
	rows   []*row
	legend []string // what the marks in it mean
}

// draw makes the rows of the picture, from the axis to the brackets.
func drawPicture(t *Timeline, a *analysis.Analysis) *picture {
	p := &picture{t: t, a: a, n: len(t.Columns)}
	p.axis()
	p.deploy()
	p.versions()
	p.instances()
	p.inFlight()
	p.failures()
	p.brackets()
	if n := t.Outside; n > 0 {
		p.legend = append(p.legend, format.Plural(n, "failure lies", "failures lie")+" outside the picture")
	}
	return p
}

func (p *picture) add(label string, s style) *row {
	r := newRow(format.Clean(label, labelWidth-1), s, p.n)
	p.rows = append(p.rows, r)
	return r
}

// axisSteps are the distances between the marks of the axis.
var axisSteps = [...]time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
}

// axis is the marks of time, and a line that is heavy in the deploy window.
func (p *picture) axis() {
	const apart = 9 // columns between marks, at least
	distance := time.Hour
	for _, s := range axisSteps {
		if s >= apart*p.t.Step {
			distance = s
			break
		}
	}
	marks, line := p.add("", dim), p.add("", dim)
	window := p.t.Span(SpanWindow)
	heavy := func(i int) bool {
		c := p.t.Columns[i]
		return window != nil && window.From < c.To && window.To > c.From
	}
	for i := range p.n {
		line.set(i, '─', dim)
		if heavy(i) {
			line.set(i, '━', plain)
		}
	}
	for at := (p.t.From + distance - 1) / distance * distance; at < p.t.To; at += distance {
		i, _ := p.t.Index(at)
		line.set(i, '┬', dim)
		if heavy(i) {
			line.set(i, '┯', plain)
		}
		marks.text(i, strings.TrimSuffix(format.At(at), ".0"), dim)
	}
	if window != nil {
		p.legend = append(p.legend, "━ deploy window")
	}
}

// deploy is the phases of the deploy, each named where its name fits.
func (p *picture) deploy() {
	if p.t.Deploy == nil {
		return
	}
	from, to, ok := p.columns(p.t.Deploy.From, p.t.Deploy.To)
	if !ok {
		return
	}
	r := p.add("deploy", plain)
	r.fill(from, to, '─', plain)
	r.set(from, '├', plain)
	if len(p.t.Phases) > 1 {
		for _, phase := range p.t.Phases {
			p.phase(r, phase)
		}
	}
	if p.t.Deploy.From < p.t.From {
		r.set(from, '─', plain)
	}
	if ended := p.a.Deploy.Ended; ended != nil && *ended < p.t.To {
		r.set(to, '┤', plain)
		r.beside(from, to, format.Duration(p.t.Deploy.To-p.t.Deploy.From)+outcomeText(p.a.Deploy.Outcome), dim)
	}
}

// phase marks where a phase begins, and names it where there is room between
// that and the next: whole, or enough of it to be known.
func (p *picture) phase(r *row, phase Phase) {
	const enough = 5
	i, j, ok := p.columns(phase.From, phase.To)
	if !ok {
		return
	}
	r.set(i, '├', plain)
	room := j - i - 1
	name := format.Clean(phase.Name, 0)
	switch {
	case format.Width(name) <= room:
		r.text(i+1, name, plain)
	case room >= enough:
		r.text(i+1, format.Clean(name, room), plain)
	}
}

// outcomeText is an outcome behind a length of time, where it is known.
func outcomeText(outcome string) string {
	if outcome == "" || outcome == sample.Unknown {
		return ""
	}
	return ", " + format.Clean(outcome, 20)
}

// columns is the first and the last column that a stretch of time touches, and
// whether it touches any.
func (p *picture) columns(from, to time.Duration) (i, j int, ok bool) {
	if to < p.t.From || from >= p.t.To {
		return 0, 0, false
	}
	i, _ = p.t.Index(max(from, p.t.From))
	j, _ = p.t.Index(min(max(to, from), p.t.To))
	return i, j, true
}

// levels are heights of an eighth each.
var levels = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// height is the level that shows part of whole: full only where it is all of
// it, and never nothing where it is something.
func height(part, whole int) rune {
	switch {
	case part <= 0:
		return ' '
	case part >= whole:
		return levels[7]
	}
	return levels[min(part*8/whole, 6)]
}

// versions is a row for each side of the cutover: the height is its share of
// the column's requests.
func (p *picture) versions() {
	names := sideNames(p.a)
	p.legend = append(p.legend, "▁▄█ share of the requests")
	for _, side := range []struct {
		role, label string
		s           style
		of          func(Column) int
	}{
		{analysis.Old, "old", oldStyle, func(c Column) int { return c.Old }},
		{analysis.New, "new", newStyle, func(c Column) int { return c.New }},
		{analysis.Other, "other", plain, func(c Column) int { return c.Other }},
	} {
		any := false
		for _, c := range p.t.Columns {
			any = any || side.of(c) > 0
		}
		name := names[side.role]
		if !any && (name == "" || side.role == analysis.Other) {
			continue
		}
		label := side.label
		if side.role == analysis.Other && p.a.Target.NoID {
			label = "answered"
		}
		r := p.add(strings.TrimSpace(label+" "+name), side.s)
		for i, c := range p.t.Columns {
			r.set(i, height(side.of(c), c.Total()), side.s)
		}
	}
}

// sideIDs is who is on a side of the cutover: its versions, or where the version
// stayed its instances.
func sideIDs(a *analysis.Analysis, role string) []string {
	var ids []string
	for _, v := range a.Versions {
		if a.Cutover == nil || a.Cutover.By != byInstance {
			if v.Role == role {
				ids = append(ids, v.ID)
			}
			continue
		}
		for _, i := range v.Instances {
			if i.Role == role {
				ids = append(ids, i.ID)
			}
		}
	}
	return ids
}

// sideNames is what each side of the cutover is called beside the picture: its
// only id, or how many there are. Where the beginnings of two long ids are the
// same, their ends are shown.
func sideNames(a *analysis.Analysis) map[string]string {
	const width = labelWidth - 5
	names := map[string]string{}
	short := func(shorten func(string) string) {
		for _, role := range []string{analysis.Old, analysis.New} {
			switch ids := sideIDs(a, role); len(ids) {
			case 0:
			case 1:
				names[role] = shorten(ids[0])
			default:
				names[role] = "(" + format.Count(len(ids)) + ")"
			}
		}
	}
	short(func(id string) string { return format.Name(id, width) })
	if old := names[analysis.Old]; old == names[analysis.New] && strings.HasSuffix(old, "…") {
		short(func(id string) string { return ShortEnd(id, width) })
	}
	return names
}

// maxInstances is how many instances have a row of their own.
const maxInstances = 10

// instances is the life of each instance of a rollout.
func (p *picture) instances() {
	if len(p.t.Instances) == 0 || len(p.t.Instances) > maxInstances {
		return
	}
	for _, l := range p.t.Instances {
		from, to, ok := p.columns(l.From, l.To)
		if !ok {
			continue
		}
		s := plain
		switch l.Role {
		case analysis.Old:
			s = oldStyle
		case analysis.New:
			s = newStyle
		}
		r := p.add("  "+ShortEnd(l.ID, labelWidth-3), dim)
		r.fill(from, to, '━', s)
		if l.Stop != nil {
			if i, ok := p.t.Index(*l.Stop); ok {
				r.set(i, cutMark, badStyle)
				p.explainCut()
			}
		}
	}
}

// ShortEnd is the end of an id in at most so many columns, which is where instances of a kind differ.
func ShortEnd(id string, width int) string {
	name := format.Name(id, 0)
	if format.Width(name) <= width {
		return name
	}
	end := len(name)
	for left := width - 1; end > 0; {
		r, size := utf8.DecodeLastRuneInString(name[:end])
		if left -= format.Width(string(r)); left < 0 {
			break
		}
		end -= size
	}
	return "…" + name[end:]
}

const cutMark = '✂'

func (p *picture) explainCut() {
	const text = "✂ cut in flight when old stopped"
	for _, l := range p.legend {
		if l == text {
			return
		}
	}
	p.legend = append(p.legend, text)
}
