package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
)

// Timeline is the picture of a cutover without the drawing: what was seen in
// columns of time, and the spans and moments that explain it. Every renderer
// draws from it. Times are since the run's start; nothing in it is text for
// people except ids and the names of signals, which are untrusted.
type Timeline struct {
	From, To time.Duration // what the columns show; a part of the run where the rest is dull
	Step     time.Duration // a column's length, a slice of the series or longer
	Columns  []Column

	Deploy    *analysis.Span     // the deploy's own life, from its first signal to its end
	Phases    []Phase            // of the deploy, in order
	Spans     []Span             // in order of kind as declared
	Instances []Life             // where there are several, in order of their first answer
	Bars      []analysis.Bar     // slow requests, in order of start
	Cuts      []Cut              // when requests in flight on old were cut, in order
	Latency   []Quantiles        // by the second, in order; seconds without an answer are missing
	Failures  []analysis.Failure // within From and To, in order of their end
	Outside   int                // failures before From or after To
}

// Column is what was seen in one step of time.
type Column struct {
	From, To                     time.Duration
	Old, New, Other              int // good answers by who gave them
	Deploy, Undecided, NotDeploy int // failures by whose they are, at their end
	InFlightOld                  int // most slow requests on old under way at once
}

// Total is how many requests ended in the column.
func (c Column) Total() int {
	return c.Old + c.New + c.Other + c.Deploy + c.Undecided + c.NotDeploy
}

// Quantiles are those of the latency of the fast lanes' good answers that came in
// a stretch of time; where that is longer than a second, of its worst second.
type Quantiles struct {
	From, To time.Duration
	N        int // answers
	P50, P99 time.Duration
}

// Phase is a stretch of the deploy's life.
type Phase struct {
	Name     string // untrusted; "" where its signal said no more than that the deploy began
	From, To time.Duration
}

// Kinds of spans.
const (
	SpanBaseline = "baseline" // before the deploy
	SpanWindow   = "window"   // in which a failure can be the deploy's
	SpanOverlap  = "overlap"  // old and new both answered
	SpanGap      = "gap"      // nobody answered
	SpanDrain    = "drain"    // last accept to old's stop
)

// Span is a stretch of time with a meaning.
type Span struct {
	Kind     string
	From, To time.Duration
	Open     bool // To is only the least: where it ended was not seen
}

// Life is the time in which one instance answered.
type Life struct {
	ID, Role string // the id is untrusted
	From, To time.Duration
	Stop     *time.Duration // when requests in flight on it were cut
}

// Cut is a moment at which requests in flight on old were cut.
type Cut struct {
	At time.Duration
	N  int
}

// NewTimeline is the picture in at most n columns (at least 1) of the stretch of
// the run that matters; see [focus]. It is nil where nothing was recorded.
func NewTimeline(a *analysis.Analysis, n int) *Timeline {
	step := a.Series.Step
	if step <= 0 || a.Duration <= 0 || n < 1 {
		return nil
	}
	t := &Timeline{}
	t.lay(focus(a, n), step, n)
	t.addBuckets(a.Series)
	t.addBars(a.Series.Bars)
	t.addDeploy(a.Deploy)
	t.addSpans(a)
	t.addInstances(a.Versions)
	t.addLatency(a.Series.Seconds)
	t.addFailures(a.Failures)
	return t
}

// addLatency takes the seconds of which at least half is shown.
func (t *Timeline) addLatency(seconds []*analysis.Latency) {
	for i, l := range seconds {
		from := time.Duration(i) * time.Second
		if _, ok := t.Index(from + time.Second/2); ok && l != nil {
			t.Latency = append(t.Latency, Quantiles{From: from, To: from + time.Second, N: l.N, P50: l.P50, P99: l.P99})
		}
	}
}

func (t *Timeline) addFailures(all []analysis.Failure) {
	for _, f := range all {
		if f.Ended < t.From || f.Ended >= t.To {
			t.Outside++
			continue
		}
		t.Failures = append(t.Failures, f)
	}
	slices.SortStableFunc(t.Failures, func(a, b analysis.Failure) int { return cmp.Compare(a.Ended, b.Ended) })
}

// lay makes n columns of the span, or fewer where they would be shorter than a
// slice of the series.
func (t *Timeline) lay(span analysis.Span, slice time.Duration, n int) {
	t.From = span.From
	t.Step = max(slice, (span.To-span.From+time.Duration(n)-1)/time.Duration(n))
	for at := span.From; at < span.To; at += t.Step {
		t.Columns = append(t.Columns, Column{From: at, To: at + t.Step})
		t.To = at + t.Step
	}
}

// Index is the column that holds the moment, and whether one does. The end of
// the picture belongs to its last column.
func (t *Timeline) Index(at time.Duration) (int, bool) {
	if at < t.From || at > t.To || len(t.Columns) == 0 {
		return 0, false
	}
	return min(int((at-t.From)/t.Step), len(t.Columns)-1), true
}

// addBuckets gives each slice of the series to the column that holds its middle:
// no column goes without.
func (t *Timeline) addBuckets(s analysis.Series) {
	for i, b := range s.Buckets {
		col, ok := t.Index(time.Duration(i)*s.Step + s.Step/2)
		if !ok {
			continue
		}
		c := &t.Columns[col]
		c.Old += b.Old
		c.New += b.New
		c.Other += b.Other
		c.Deploy += b.Deploy
		c.Undecided += b.Unclear
		c.NotDeploy += b.NotDeploy
	}
}

// addBars counts the slow requests on old. Those that were cut were on old,
// whatever answered in its place.
func (t *Timeline) addBars(bars []analysis.Bar) {
	t.Bars = bars
	onOld := make([]analysis.Bar, 0, len(bars))
	for _, b := range bars {
		cut := b.Outcome == outcomeCut
		if b.Role == analysis.Old || cut {
			onOld = append(onOld, b)
		}
		if cut {
			t.Cuts = addCut(t.Cuts, b.To)
		}
	}
	for i := range t.Columns {
		t.Columns[i].InFlightOld = mostAtOnce(onOld, t.Columns[i])
	}
}

const (
	outcomeCut = "cut"      // of an analysis.Bar
	byInstance = "instance" // of an analysis.Cutover
	byMarks    = "marks"
)

// together is how far apart requests that were cut at one moment may end.
const together = 250 * time.Millisecond

// addCut counts a cut, together with those of the same moment.
func addCut(cuts []Cut, at time.Duration) []Cut {
	for i := range cuts {
		if d := at - cuts[i].At; d > -together && d < together {
			cuts[i].N++
			return cuts
		}
	}
	i := len(cuts)
	for i > 0 && cuts[i-1].At > at {
		i--
	}
	cuts = append(cuts, Cut{})
	copy(cuts[i+1:], cuts[i:])
	cuts[i] = Cut{At: at, N: 1}
	return cuts
}

// mostAtOnce is the most bars under way at one moment of the column. That
// moment is the column's beginning or a bar's.
func mostAtOnce(bars []analysis.Bar, c Column) int {
	at := func(moment time.Duration) int {
		n := 0
		for _, b := range bars {
			if b.From <= moment && moment < b.To {
				n++
			}
		}
		return n
	}
	most := at(c.From)
	for _, b := range bars {
		if b.From > c.From && b.From < c.To {
			most = max(most, at(b.From))
		}
	}
	return most
}

// addDeploy makes phases of the signals between the deploy's start and its end:
// each lasts until the next.
func (t *Timeline) addDeploy(d analysis.Deploy) {
	if d.Started == nil {
		return
	}
	end := t.To
	if d.Ended != nil {
		end = *d.Ended
	}
	t.Deploy = &analysis.Span{From: *d.Started, To: end}
	for _, s := range d.Signals {
		n := len(t.Phases)
		if s.Note || s.At < *d.Started || s.At >= end || n > 0 && t.Phases[n-1].Name == s.Name && s.Name != "" {
			continue
		}
		if n > 0 {
			t.Phases[n-1].To = s.At
		}
		phase := Phase{Name: s.Name, From: s.At, To: end}
		if strings.HasSuffix(s.Name, "-started") {
			phase.Name = ""
		}
		t.Phases = append(t.Phases, phase)
	}
}

func (t *Timeline) addSpans(a *analysis.Analysis) {
	if a.Baseline != nil {
		t.Spans = append(t.Spans, Span{Kind: SpanBaseline, From: a.Baseline.From, To: a.Baseline.To})
	}
	if w := a.Deploy.Window; w != nil {
		t.Spans = append(t.Spans, Span{Kind: SpanWindow, From: w.From, To: w.To})
	}
	c := a.Cutover
	if c == nil {
		return
	}
	switch {
	case c.Gap:
		t.Spans = append(t.Spans, Span{Kind: SpanGap, From: min(c.End, c.Start), To: max(c.End, c.Start)})
	case c.Overlap > 0 && c.By != byMarks:
		t.Spans = append(t.Spans, Span{Kind: SpanOverlap, From: c.Start, To: c.End, Open: !c.Complete})
	}
	if a.Stop == nil {
		return
	}
	drain := Span{Kind: SpanDrain, From: c.LastAccept, To: c.LastAccept + a.Stop.Drain.Lower, Open: !a.Stop.Drain.Exact}
	if drain.To > drain.From {
		t.Spans = append(t.Spans, drain)
	}
}

// addInstances is for rollouts: with one instance on each side the versions say
// it all.
func (t *Timeline) addInstances(versions []analysis.Version) {
	for _, v := range versions {
		for _, i := range v.Instances {
			t.Instances = append(t.Instances, Life{ID: i.ID, Role: i.Role, From: i.First, To: i.LastEnd, Stop: i.Stop})
		}
	}
	if len(t.Instances) < 3 {
		t.Instances = nil
	}
}

// Span is the span of a kind, nil where there is none.
func (t *Timeline) Span(kind string) *Span {
	for i := range t.Spans {
		if t.Spans[i].Kind == kind {
			return &t.Spans[i]
		}
	}
	return nil
}
