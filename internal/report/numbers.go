package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Fact is one line of what was measured: what it is of, and a sentence in which
// text from outside is clean.
type Fact struct{ Name, Text string }

// Facts is what was measured. A line that has nothing to say is not there.
func Facts(head sample.Run, a *analysis.Analysis) []Fact {
	return told([]Fact{
		{"probed", probedText(head, a)},
		{"requests", requestsText(a)},
		{"platform", platformText(a.Platform)},
		{"deploy", deployText(a.Deploy)},
		{"signals", signalsText(a.Deploy)},
		{"cutover", cutoverText(a)},
		{"gap", gapText(a.Cutover)},
		{"overlap", overlapText(a.Cutover)},
		{"drain", drainLine(a)},
		{"slow", slowText(a.Slow)},
		{"power", powerText(a.Power)},
		{"prober", proberText(head, a)},
	})
}

// told is the facts that say something.
func told(facts []Fact) []Fact {
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// numbers is the table of what was measured.
func (p *page) numbers(head sample.Run, a *analysis.Analysis) {
	p.blank()
	for _, f := range Facts(head, a) {
		p.para(f.Name, dim, labelWidth, f.Text)
	}
	p.latency(a)
}

// list joins the counts that are not zero.
func list(counts ...string) string {
	var out []string
	for _, c := range counts {
		if c != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, ", ")
}

// some is a count and what it counts, "" where it is zero.
func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return format.Count(n) + " " + what
}

// probedText is what was probed, how, when and for how long.
func probedText(head sample.Run, a *analysis.Analysis) string {
	text := format.Clean(redacted(head.Config.URL), 100)
	if text == "" || a.Duration == 0 {
		return text
	}
	if a.Target.Protocol != "" {
		text += ", " + format.Clean(a.Target.Protocol, 20)
	}
	if a.Target.Edge != "" {
		text += " through " + format.Clean(a.Target.Edge, 30)
	}
	text += fmt.Sprintf("; from %s for %s", startText(head.StartedAt), format.Duration(a.Duration))
	switch a.End {
	case sample.EndComplete:
	case "":
		text += ", until the probe died"
	default:
		text += ", ended by " + format.Clean(a.End, 30)
	}
	return text
}

// startText is the run's start, to the second, as it was recorded where that is
// no time.
func startText(recorded string) string {
	t, err := time.Parse(time.RFC3339Nano, recorded)
	if err != nil {
		return format.Quote(recorded, 40)
	}
	return t.UTC().Format(time.RFC3339)
}

func requestsText(a *analysis.Analysis) string {
	c := a.Requests
	if c.Total == 0 {
		return "none"
	}
	text := format.Count(c.Total) + " sent, " + failedText(c)
	if c.IdleRace > 0 {
		text += "; " + format.Plural(c.IdleRace, "idle race", "idle races")
		if e := finite(c.IdleRaceExpected); e != nil {
			text += fmt.Sprintf(" (about %.1f expected of a graceful stop)", *e)
		}
	}
	if also := list(some(c.NotSent, "not sent"), some(c.Reconnects, "reconnected"), some(c.HiddenRetries, "repeated by a proxy"), some(a.CacheHits, "answered out of a cache")); also != "" {
		text += "; " + also
	}
	return text
}

// failedText is how many failed and whose they are.
func failedText(c analysis.Counts) string {
	if c.Failed == 0 {
		return "none failed"
	}
	text := format.Count(c.Failed) + " failed"
	for _, by := range []struct {
		attribution string
		n           int
	}{
		{analysis.ByDeploy, c.Deploy}, {analysis.Undecided, c.Undecided}, {analysis.ByConfig, c.Config},
		{analysis.ByProber, c.ProberOwn}, {analysis.ByBackground, c.Background},
	} {
		switch {
		case by.n == c.Failed && by.n > 1:
			return text + ", all of them " + whose(by.attribution)
		case by.n == c.Failed:
			return text + ", " + whose(by.attribution)
		}
	}
	return text + ": " + list(
		some(c.Deploy, "the deploy's"), some(c.Undecided, "undecided"), some(c.Config, "the configuration's"),
		some(c.ProberOwn, "the prober's own"), some(c.Background, "background"))
}

func deployText(d analysis.Deploy) string {
	if d.Started == nil {
		return ""
	}
	text := "from " + format.At(*d.Started)
	if d.Ended != nil {
		text += fmt.Sprintf(" to %s, %s", format.At(*d.Ended), format.Duration(*d.Ended-*d.Started))
	} else {
		text += ", its end was not seen"
	}
	text += outcomeText(d.Outcome)
	if d.Message != "" {
		text += " (" + format.Clean(d.Message, 200) + ")"
	}
	return text
}

// signalsText is what was said of the deploy on its way, where that was more
// than its beginning and its end.
func signalsText(d analysis.Deploy) string {
	const most = 8
	var told []string
	last := ""
	said := false
	for _, s := range d.Signals {
		if s.Note && s.Message == "" {
			continue // a step that went as it should
		}
		note := s.Message != "" && s.Message != d.Message
		said = said || note
		if s.Name == last && !note {
			continue
		}
		last = s.Name
		text := format.At(s.At) + " " + format.Name(s.Name, 40)
		if note {
			text += " " + noteText(s.Message)
		}
		told = append(told, text)
	}
	if len(told) < 3 && !said {
		return ""
	}
	if more := len(told) - most; more > 0 {
		told = append(told[:most], "and "+format.Count(more)+" more")
	}
	return strings.Join(told, ", ")
}

// noteText is what a signal said: a name as it is, a sentence in brackets. It is
// not quoted: those who tell of signals quote in it themselves.
func noteText(message string) string {
	const most = 120
	text := format.Clean(message, most)
	if format.Name(message, most) == text {
		return text
	}
	return "(" + text + ")"
}

func cutoverText(a *analysis.Analysis) string {
	c := a.Cutover
	if c == nil {
		return "not seen"
	}
	text := ""
	if c.By != byMarks {
		text = sideText(a, analysis.Old) + " → " + sideText(a, analysis.New) + ", "
	}
	text += fmt.Sprintf("%s to %s", format.At(min(c.Start, c.End)), format.At(max(c.Start, c.End)))
	switch c.By {
	case byInstance:
		text += ", by instance: the version stayed"
	case byMarks:
		text += ", by the deploy's marks alone: no version was looked at"
	}
	return text
}

// sideText is the ids of one side of the cutover.
func sideText(a *analysis.Analysis, role string) string {
	const most = 3
	ids := sideIDs(a, role)
	if len(ids) == 0 {
		return "unknown"
	}
	var names []string
	for _, id := range ids[:min(most, len(ids))] {
		names = append(names, format.Name(id, 24))
	}
	if more := len(ids) - most; more > 0 {
		names = append(names, format.Count(more)+" more")
	}
	return strings.Join(names, ", ")
}

func gapText(c *analysis.Cutover) string {
	if c == nil || !c.Gap {
		return ""
	}
	return fmt.Sprintf("%s in which no version answered; %s in a row failed",
		format.Duration(-c.Overlap), format.Plural(c.GapProbes, "probe", "probes"))
}

func overlapText(c *analysis.Cutover) string {
	if c == nil || c.Gap || c.By == byMarks {
		return ""
	}
	text := format.Duration(c.Overlap)
	switch {
	case c.Overlap < 0:
		text = "none, new answered " + format.Duration(-c.Overlap) + " after the last request to old began"
	case !c.Complete:
		text = "at least " + text + ", old still answered at the end"
	}
	if c.FreshOverlap != nil {
		text += ", " + format.Duration(*c.FreshOverlap) + " on new connections"
	}
	if s := finite(c.ShareNew); s != nil {
		text += "; new gave " + format.Percent(*s) + " of the answers"
	}
	return text
}

func drainLine(a *analysis.Analysis) string {
	if a.Cutover == nil || a.Stop == nil {
		return ""
	}
	text := drainText(a.Stop.Drain) + " after old's last new request: "
	if a.Stop.At == nil {
		return text + fmt.Sprintf("old still answered at %s, and its stop was not seen", format.At(a.Stop.End))
	}
	text += "old stopped at " + format.At(*a.Stop.At)
	if n := len(a.Stop.Cut); n > 0 {
		text += ", cutting " + format.Plural(n, "request", "requests")
	}
	return text
}

func slowText(s analysis.Slow) string {
	if s.Total == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %s", format.Count(s.Total), list(
		some(s.Completed, "answered"), some(s.Cut, "cut at old's stop"), some(s.Failed, "failed otherwise"), some(s.Unfinished, "left unfinished")))
	if n := s.InFlightAtLastAccept; n != nil {
		text += fmt.Sprintf("; %s in flight on old at its last accept", format.Count(*n))
		switch {
		case *n > 0 && s.OldCompleted == 0:
			text += ", none of them answered"
		case *n > 1 && s.OldCompleted == *n:
			text += ", all of them answered"
		case *n > 1:
			text += ", " + format.Count(s.OldCompleted) + " of them answered"
		case *n == 1:
			text += " and answered"
		}
	}
	if s.ReExecuted > 0 {
		text += "; " + format.Count(s.ReExecuted) + " executed twice"
	}
	if s.LongestOK != nil {
		text += "; the longest that was answered took " + format.Duration(*s.LongestOK)
	}
	return text
}

func powerText(pw *analysis.Power) string {
	if pw == nil {
		return ""
	}
	text := format.Plural(pw.RequestsInCutover, "request", "requests") + " in the cutover"
	if f := finite(pw.MaxFailureRate95); f != nil {
		text += ": at 95 % confidence at most " + format.PercentUp(*f) + " fail there"
	}
	if pw.MinOutage != nil {
		text += "; an outage of " + format.Duration(*pw.MinOutage) + " or longer would have been seen"
	}
	return text
}

func proberText(head sample.Run, a *analysis.Analysis) string {
	if a.Requests.Total == 0 {
		return ""
	}
	text := fmt.Sprintf("late by %s at the 99th percentile, %s at most",
		format.Duration(a.Prober.LateP99), format.Duration(a.Prober.LateMax))
	if n := a.Prober.Skipped; n > 0 {
		text += "; too late to send " + format.Plural(n, "request", "requests")
	}
	switch n := a.Prober.ControlFailures; {
	case n > 0:
		text += "; the control host failed " + format.Plural(n, "time", "times")
	case head.Config.ControlURL != "":
		text += "; the control host never failed"
	}
	return text
}

// latency is the table of quantiles, before, during and after the cutover.
func (p *page) latency(a *analysis.Analysis) {
	type line struct {
		name string
		l    *analysis.Latency
	}
	lines := []line{{"before", a.Before}, {"during", a.During}, {"after", a.After}}
	if a.Before == nil && a.During == nil && a.After == nil {
		return
	}
	p.blank()
	const columns = "%-12s%8s%9s%9s%9s%11s"
	p.line(p.paint(dim, fmt.Sprintf(columns, "latency", "p50", "p95", "p99", "longest", "answers")))
	for _, l := range lines {
		if l.l == nil {
			continue
		}
		p.line(fmt.Sprintf(columns, "  "+l.name, format.Duration(l.l.P50), format.Duration(l.l.P95),
			format.Duration(l.l.P99), format.Duration(l.l.Max), format.Count(l.l.N)))
	}
}
