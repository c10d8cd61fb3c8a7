package demo

import (
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/audit"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Row is one thing that the box knows and the probe measured.
type Row struct {
	What, Truth, Measured, Difference string // Difference is "" where it says nothing
	Agrees                            bool
	Detail                            []string // what does not agree, at most a few
}

// maxDetail bounds a row's details.
const maxDetail = 5

// minTolerance is what two clocks readings of one moment may differ by on a
// busy machine.
const minTolerance = 50 * time.Millisecond

// Tolerance is how far a measured time may be from the truth: 50 ms, or three
// times the prober's worst lateness where that is more.
func Tolerance(a *analysis.Analysis) time.Duration {
	return max(minTolerance, 3*a.Prober.LateMax)
}

// Busy is the line that belongs under rows of a machine that was too busy to
// play the scene as written; "" where it was not.
func Busy(held audit.Held, agree bool) string {
	if !held.Busy() {
		return ""
	}
	line := "This machine was busy: " + held.String() + "."
	if !agree {
		line += " Play the scene again on a quieter one."
	}
	return line + "\n"
}

// Agree tells whether every row does.
func Agree(rows []Row) bool {
	for _, r := range rows {
		if !r.Agrees {
			return false
		}
	}
	return true
}

// Compare sets a judgement beside the truth. It is pure.
func Compare(truth box.Truth, a *analysis.Analysis, v verdict.Verdict) []Row {
	tolerance := Tolerance(a)
	m := audit.Of(truth, a.Failures, audit.Run{})
	return []Row{
		verdictRow(truth, v),
		{
			What: "dropped", Truth: format.Count(m.Truth), Measured: format.Count(len(a.Failures)),
			Difference: difference(len(a.Failures) - m.Truth), Agrees: len(a.Failures) == m.Truth,
		},
		{What: "missed", Truth: "0", Measured: format.Count(len(m.Missed)), Agrees: len(m.Missed) == 0, Detail: few(m.Missed)},
		{What: "invented", Truth: "0", Measured: format.Count(len(m.Invented)), Agrees: len(m.Invented) == 0, Detail: few(m.Invented)},
		{
			What: "attributed", Truth: format.Count(m.Truth), Measured: format.Count(m.Truth - len(m.Misattributed)),
			Agrees: len(m.Misattributed) == 0, Detail: few(m.Misattributed),
		},
		overlapRow(truth, a, tolerance),
		drainRow(truth, a, tolerance),
	}
}

// Expected is the verdict that follows from the truth.
func Expected(truth box.Truth) string {
	switch {
	case truth.RolloutDrops() > 0:
		return verdict.Fail
	case truth.NewFirstAnswer == nil:
		return verdict.Inconclusive
	}
	return verdict.Pass
}

func verdictRow(truth box.Truth, v verdict.Verdict) Row {
	want := Expected(truth)
	r := Row{What: "verdict", Truth: want, Measured: v.Verdict, Agrees: want == v.Verdict}
	if !r.Agrees {
		for _, reason := range v.Reasons {
			r.Detail = append(r.Detail, reason.Code+": "+format.Clean(reason.Message, 200))
		}
		r.Detail = few(r.Detail)
	}
	return r
}

func overlapRow(truth box.Truth, a *analysis.Analysis, tolerance time.Duration) Row {
	var measured *time.Duration
	if a.Cutover != nil {
		measured = &a.Cutover.Overlap
	}
	return timeRow("overlap", truth.Overlap, measured, tolerance)
}

// drainRow compares the drain where something was cut at its end; else it
// holds the lower bound to the truth. Both may be intervals, since a request
// that crosses the end cannot be told from one that is cut just then: they have
// to meet, and the measured one may not be the wider.
func drainRow(truth box.Truth, a *analysis.Analysis, tolerance time.Duration) Row {
	if a.Stop == nil || truth.Drain == nil {
		r := timeRow("drain", truth.Drain, nil, tolerance)
		r.Agrees = truth.Drain == nil && a.Stop == nil
		return r
	}
	lower, upper := a.Stop.Drain.Lower, a.Stop.Drain.Upper
	least, most := *truth.Drain, *truth.DrainAtMost
	r := Row{What: "drain", Truth: interval(least, most), Measured: "≥ " + format.Duration(lower)}
	if upper == nil {
		r.Agrees = lower <= most+tolerance && !truth.CutAtStop
		if truth.CutAtStop {
			r.Detail = []string{"old's stop was not seen, though requests were cut at it"}
		}
		return r
	}
	r.Measured = interval(lower, *upper)
	if !cutAtStop(truth) {
		r.Detail = []string{"old's stop was seen, though nothing was cut at it"}
		return r
	}
	off := max(0, lower-most) - max(0, least-*upper) // how far apart they are
	if least == most && lower == *upper {
		off = lower - least
	}
	wider := (*upper - lower) - (most - least)
	r.Difference, r.Agrees = signed(off), off.Abs() <= tolerance && wider <= minTolerance
	return r
}

// cutAtStop tells whether anything was cut at the last stop, if only just.
func cutAtStop(truth box.Truth) bool {
	n := len(truth.Stops)
	return truth.CutAtStop || n > 0 && truth.Stops[n-1].Cut > 0
}

// interval writes two bounds, or one where they read the same.
func interval(from, to time.Duration) string {
	low, high := format.Duration(from), format.Duration(to)
	if low == high {
		return low
	}
	return low + " to " + high
}

func timeRow(what string, truth, measured *time.Duration, tolerance time.Duration) Row {
	r := Row{What: what, Truth: orNone(truth), Measured: orNone(measured)}
	if truth == nil || measured == nil {
		r.Agrees = truth == nil && measured == nil
		return r
	}
	diff := *measured - *truth
	r.Difference = signed(diff)
	r.Agrees = diff.Abs() <= tolerance
	return r
}

func orNone(d *time.Duration) string {
	if d == nil {
		return "none"
	}
	return format.Duration(*d)
}

func signed(d time.Duration) string {
	if d > 0 {
		return "+" + format.Duration(d)
	}
	return format.Duration(d)
}

func difference(n int) string {
	if n > 0 {
		return "+" + format.Count(n)
	}
	return format.Count(n)
}

// few is the first of a list, and how many more there are.
func few(list []string) []string {
	if len(list) <= maxDetail {
		return list
	}
	return append(list[:maxDetail:maxDetail], fmt.Sprintf("and %d more", len(list)-maxDetail))
}
