package markdown

import (
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
)

// figure is a row of the table: what was measured now, what the previous deploy
// had, and the change. All are Markdown.
type figure struct{ name, now, before, change string }

const unknown = "–"

// table is the figures, beside those of the previous deploy where it is known.
func (d *doc) table(previous *State) {
	if d.series() {
		return
	}
	var p State
	lines := []string{tableLine("", "this deploy"), "| --- | --- |"}
	if previous != nil {
		p = *previous
		lines = []string{tableLine("", "this deploy", "the previous one", "change"), "| --- | --- | --- | --- |"}
	}
	for _, f := range d.figures(p) {
		switch {
		case previous == nil:
			lines = append(lines, tableLine(f.name, f.now))
		default:
			lines = append(lines, tableLine(f.name, f.now, f.before, f.change))
		}
	}
	d.block(lines...)
	if previous != nil {
		d.block("<sub>the previous one: " + Text(report.StartText(p.StartedAt), 60) + " UTC, " + Text(p.Verdict, 20) + "</sub>")
	}
}

func (d *doc) figures(p State) []figure {
	now := report.AsPast(d.Result)
	out := []figure{
		count("requests", now.Requests, p.Requests),
		count("failed, the deploy's", now.Deploy, p.Deploy),
		count("failed, not the deploy's", now.Failed-now.Deploy, p.Failed-p.Deploy),
	}
	if whose := othersText(d.Result.Requests); whose != "" {
		out[2].now += " (" + whose + ")"
	}
	if v := d.versions(); v != "" {
		name := "versions"
		if c := d.Result.Cutover; c != nil && c.By == "instance" {
			name = "instances"
		}
		out = append(out, figure{name: name, now: v})
	}
	overlap := length("overlap", now.OverlapMS, p.OverlapMS)
	if c := d.Analysis.Cutover; c != nil && c.Gap {
		overlap.now += " (a gap: nobody answered)"
	}
	out = append(out, overlap, drain(d.Result.Cutover, now, p))
	if d.Result.Slow.Total > 0 {
		out = append(out, figure{name: "in flight on old at its last accept", now: d.inFlight()})
	}
	l := d.Result.Latency
	for _, f := range []figure{
		latency("before", l.Before, p.P99BeforeMS), latency("during", l.During, p.P99DuringMS), latency("after", l.After, p.P99AfterMS),
	} {
		if f.now != unknown || f.before != unknown {
			out = append(out, f)
		}
	}
	return out
}

func count(name string, now, before int) figure {
	return figure{name, format.Count(now), format.Count(before), format.SignedCount(now - before)}
}

// length is a length of time; a change is told where both are known.
func length(name string, now, before *float64) figure {
	f := figure{name, millis(now), millis(before), unknown}
	if now != nil && before != nil {
		f.change = change(*now, *before)
	}
	return f
}

func change(now, before float64) string {
	return ours(format.SignedDuration((report.Duration(now) - report.Duration(before)).Round(time.Microsecond)))
}

func millis(ms *float64) string { return ours(report.MillisText(ms)) }

// drain changed by so much only where both were seen exactly.
func drain(c *report.Cutover, now, p State) figure {
	f := figure{"drain", ours(report.DrainMillisText(now)), ours(report.DrainMillisText(p)), unknown}
	if c != nil && c.Drain != nil && !c.Drain.Exact && c.Drain.Upper != nil {
		f.now = millis(&c.Drain.Lower) + " to " + millis(c.Drain.Upper)
	}
	if now.DrainMS != nil && p.DrainMS != nil && now.DrainExact && p.DrainExact {
		f.change = change(*now.DrainMS, *p.DrainMS)
	}
	return f
}

func latency(when string, now *report.Latency, before *float64) figure {
	f := figure{"latency " + when + ": p50, p95, p99", unknown, unknown, unknown}
	if before != nil {
		f.before = "p99 " + millis(before)
	}
	if now == nil {
		return f
	}
	f.now = millis(&now.P50) + ", " + millis(&now.P95) + ", " + millis(&now.P99)
	if before != nil {
		f.change = "p99 " + change(now.P99, *before)
	}
	return f
}

// othersText is whose the failures are that are not the deploy's.
func othersText(r report.Requests) string {
	var out []string
	others := r.Failed - r.Deploy
	for _, o := range []struct {
		n    int
		what string
	}{
		{r.Undecided, "undecided"}, {r.Config, "the configuration's"}, {r.Prober, "the prober's own"}, {r.Background, "background"},
	} {
		switch {
		case o.n > 0 && o.n == others:
			return o.what
		case o.n > 0:
			out = append(out, format.Count(o.n)+" "+o.what)
		}
	}
	return strings.Join(out, ", ")
}

// versions is old → new, or the instances where the version stayed.
func (d *doc) versions() string {
	names := map[string]string{}
	for _, s := range d.sides() {
		names[s.Role] = codes(s.IDs)
	}
	old, renewed := names["old"], names["new"]
	switch {
	case old == "" && renewed == "":
		return ""
	case old == "":
		old = "unknown"
	case renewed == "":
		renewed = "nothing new seen"
	}
	return old + " → " + renewed
}

// sides is who was on which side; without an analysis, by the versions alone.
func (d *doc) sides() []report.Side {
	if sides := report.Sides(d.Analysis); sides != nil {
		return sides
	}
	var out []report.Side
	for _, role := range []string{"old", "new"} {
		s := report.Side{Role: role}
		for _, v := range d.Result.Versions {
			if v.Role == role {
				s.IDs = append(s.IDs, v.ID)
			}
		}
		out = append(out, s)
	}
	return out
}

// codes is some ids, and how many more there are.
func codes(ids []string) string {
	const most = 3
	var out []string
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, Code(id, 50))
	}
	if more := len(ids) - most; more > 0 {
		out = append(out, format.Count(more)+" more")
	}
	return strings.Join(out, ", ")
}

// inFlight is what became of the requests that old was serving when it took its last.
func (d *doc) inFlight() string {
	n := d.Result.Slow.InFlightAtLastAccept
	if n == nil {
		return unknown
	}
	out := format.Count(*n)
	var became []string
	if answered := d.Analysis.Slow.OldCompleted; answered > 0 {
		became = append(became, format.Count(answered)+" answered")
	}
	if cut := d.Result.Slow.Cut; cut > 0 {
		became = append(became, format.Count(cut)+" cut")
	}
	if len(became) > 0 {
		out += " (" + strings.Join(became, ", ") + ")"
	}
	return out
}
