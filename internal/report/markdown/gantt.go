package markdown

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

const (
	chartColumns = 100 // of the timeline that is drawn from
	maxPhases    = 12
	maxLives     = 10
	maxClusters  = 6 // bars of failures of one owner
)

// Gantt is the picture of the cutover as mermaid's gantt chart, "" where there is
// nothing to draw: the deploy's phases, who answered when, the cutover's spans, the
// failures. Every bar is named in words; its colour repeats them.
func Gantt(a *analysis.Analysis) string {
	t := report.NewTimeline(a, chartColumns)
	if t == nil {
		return ""
	}
	g := &gantt{t: t}
	g.head()
	g.deploy(a)
	g.answers(a)
	g.cutover(a)
	g.failures()
	if g.bars == 0 {
		return ""
	}
	return g.b.String()
}

type gantt struct {
	t       *report.Timeline
	b       strings.Builder
	section string // begun with its first bar
	bars    int
}

// head sets the chart up. Its moments are those of a day without a clock change,
// written and read in the reader's own time zone, so that the axis shows the run's
// time everywhere.
func (g *gantt) head() {
	axis := "%M:%S"
	switch length := g.t.To - g.t.From; {
	case g.t.To >= time.Hour:
		axis = "%H:%M:%S"
	case length < 10*time.Second:
		axis = "%M:%S.%L"
	}
	g.b.WriteString("gantt\n  dateFormat YYYY-MM-DD HH:mm:ss.SSS\n  axisFormat " + axis + "\n  todayMarker off\n")
}

func moment(at time.Duration) string {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(at).Format("2006-01-02 15:04:05.000")
}

// bar draws a stretch of time, as far as it is in the picture. The name is ours,
// but for words that went through label. Style is one of mermaid's tags, or "".
func (g *gantt) bar(section, name, style string, from, to time.Duration) {
	from, to = max(from, g.t.From), min(to, g.t.To)
	if to < from {
		return
	}
	if style != "" {
		style += ", "
	}
	if g.section != section {
		g.section = section
		fmt.Fprintf(&g.b, "  section %s\n", section)
	}
	to = max(to, from+time.Millisecond) // what has no length is not drawn
	fmt.Fprintf(&g.b, "  %s :%s%s, %s\n", name, style, moment(from), moment(to))
	g.bars++
}

// label makes untrusted text fit for a bar's name, which ends at a colon, a
// semicolon or a line's end, and has comments and entities.
func label(text string, max int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._-+/()…−", r) {
			return r
		}
		return '_'
	}, format.Clean(text, max))
}

func (g *gantt) deploy(a *analysis.Analysis) {
	if g.t.Deploy == nil {
		return
	}
	name := "deploy"
	if o := a.Deploy.Outcome; o != "" && o != "unknown" {
		name += " (" + label(o, 20) + ")"
	}
	g.bar("Deploy", name, "", g.t.Deploy.From, g.t.Deploy.To)
	phases := g.t.Phases
	if len(phases) < 2 {
		return
	}
	for _, p := range phases[:min(maxPhases, len(phases))] {
		if p.Name != "" {
			g.bar("Deploy", "phase "+label(p.Name, 30), "", p.From, p.To)
		}
	}
}

// styles tell the sides apart.
var styles = map[string]string{analysis.Old: "done", analysis.New: "active"}

func (g *gantt) answers(a *analysis.Analysis) {
	for _, s := range report.Sides(a) {
		g.bar("Answers", s.Role+" "+sideLabel(s), styles[s.Role], s.From, s.To)
	}
	if len(g.t.Instances) > maxLives {
		return
	}
	for _, l := range g.t.Instances {
		name := "instance " + label(l.ID, 30) + " (" + l.Role + ")"
		g.bar("Answers", name, styles[l.Role], l.From, l.To)
	}
}

func sideLabel(s report.Side) string {
	const most = 2
	var names []string
	for _, id := range s.IDs[:min(most, len(s.IDs))] {
		names = append(names, label(id, 30))
	}
	if more := len(s.IDs) - most; more > 0 {
		names = append(names, format.Count(more)+" more")
	}
	return strings.Join(names, " and ")
}

func (g *gantt) cutover(a *analysis.Analysis) {
	for _, s := range g.t.Spans {
		length := strings.Replace(format.Duration(s.To-s.From), "<", "under ", 1)
		if s.Open {
			length = "at least " + length
		}
		switch s.Kind {
		case report.SpanWindow:
			g.bar("Cutover", "deploy window", "", s.From, s.To)
		case report.SpanGap:
			g.bar("Cutover", "gap "+length, "crit", s.From, s.To)
		case report.SpanOverlap, report.SpanDrain:
			g.bar("Cutover", s.Kind+" "+length, "", s.From, s.To)
		}
	}
	if from, to, most := g.inFlight(); most > 0 {
		g.bar("Cutover", "in flight on old (at most "+format.Count(most)+")", "done", from, to)
	}
	for _, c := range g.t.Cuts[:min(maxPhases, len(g.t.Cuts))] {
		if _, ok := g.t.Index(c.At); ok {
			g.bar("Cutover", format.Count(c.N)+" cut at old's stop", "crit, milestone", c.At, c.At)
		}
	}
}

// inFlight is when slow requests were under way on old, and the most at once.
func (g *gantt) inFlight() (from, to time.Duration, most int) {
	for _, c := range g.t.Columns {
		most = max(most, c.InFlightOld)
	}
	from = g.t.To
	for _, b := range g.t.Bars {
		if b.Role == analysis.Old {
			from, to = min(from, b.From), max(to, b.To)
		}
	}
	return from, to, most
}

// failures is a bar for each stretch of time in which requests failed, by whose
// the failures are. A bar is a column long at least, or it could not be seen.
func (g *gantt) failures() {
	for _, owner := range []struct {
		name, style string
		of          func(report.Column) int
	}{
		{"the deploy's", "crit", func(c report.Column) int { return c.Deploy }},
		{"undecided", "crit", func(c report.Column) int { return c.Undecided }},
		{"not the deploy's", "", func(c report.Column) int { return c.NotDeploy }},
	} {
		for _, c := range clusters(g.t.Columns, owner.of) {
			g.bar("Failures", format.Plural(c.n, "failure", "failures")+" ("+owner.name+")", owner.style, c.from, c.to)
		}
	}
	if n := g.t.Outside; n > 0 {
		g.bar("Failures", format.Count(n)+" more outside of this picture", "milestone", g.t.To, g.t.To)
	}
}

type cluster struct {
	from, to time.Duration
	n        int
}

// clusters joins columns with failures: those side by side, and where these are
// too many also those further apart.
func clusters(columns []report.Column, of func(report.Column) int) []cluster {
	for apart := 1; ; apart *= 2 {
		var out []cluster
		last := 0
		for i, c := range columns {
			n := of(c)
			if n == 0 {
				continue
			}
			if len(out) == 0 || i-last > apart {
				out = append(out, cluster{from: c.From})
			}
			last = i
			now := &out[len(out)-1]
			now.to, now.n = c.To, now.n+n
		}
		if len(out) <= maxClusters {
			return out
		}
	}
}
