//go:build linux

package fronts

import (
	"fmt"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/turns"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

const (
	// heldLong is how long a request must have been in flight for its end to be
	// told from a refusal without doubt.
	heldLong = 50 * time.Millisecond
	// heldOut is when a slow request has had its time: an end after that can
	// have another cause.
	heldOut = time.Duration(slowSeconds*1e9) + 250*time.Millisecond
)

// attempts is how often a deploy is watched on a machine that is too busy.
const attempts = 6

// watch runs a test of a deploy. What was dropped holds on any machine, and so
// compared must find it always; when something happened does not hold where the
// machine leaves the prober without CPU, which it tells itself. Then the deploy
// is watched again.
func watch(t *testing.T, compared func(*testing.T) *truth, timed func(*truth)) {
	t.Helper()
	for i := range attempts {
		if i > 0 {
			turns.Settle(t)
		}
		again := false
		ok := t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			tr := compared(t)
			if again = tr.busy(); again {
				t.Logf("the prober slept for %v: the times of this run say nothing", tr.p.Analysis.Prober.WorstInWindow)
				return
			}
			tr.checkVerdict()
			tr.checkCutover()
			timed(tr)
		})
		if !ok || !again {
			return
		}
	}
	t.Errorf("this machine left the prober without CPU in each of %d runs", attempts)
}

// busy tells whether the prober missed moments that the times are taken from.
func (tr *truth) busy() bool {
	p := tr.p.Analysis.Prober
	return p.WorstInWindow >= 250*time.Millisecond || p.SkippedInWindow > 0
}

// checkCutover holds the measured cutover to the apps' records.
func (tr *truth) checkCutover() {
	tr.t.Helper()
	c := tr.p.Analysis.Cutover
	if c == nil {
		tr.t.Fatal("no cutover was seen")
	}
	if c.By != "version" || !c.Complete || c.RolledBack {
		tr.t.Errorf("cutover: %+v", *c)
	}
	first, last := tr.newFirst(), tr.oldLast()
	tr.near("new's first answer", c.Start, first)
	tr.near("old's last answered request", c.End, last)
	tr.near("overlap", c.Overlap, last-first)
}

// newFirst is when new first answered a request of the prober's.
func (tr *truth) newFirst() time.Duration {
	var first time.Duration
	for id, d := range tr.new {
		if at := tr.p.since(d.answering); !d.answering.IsZero() && tr.sent(id) && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// oldLast is when old took the last request that it answered.
func (tr *truth) oldLast() time.Duration {
	var last time.Duration
	for id, d := range tr.old {
		if at := tr.p.since(d.took); !d.answered.IsZero() && tr.sent(id) && at > last {
			last = at
		}
	}
	return last
}

// oldEnd is when old gave its last answer.
func (tr *truth) oldEnd() time.Duration {
	var end time.Duration
	for id, d := range tr.old {
		if !d.answered.IsZero() && tr.sent(id) {
			end = max(end, tr.p.since(d.answered))
		}
	}
	return end
}

// sent tells whether a request is one that counts, and no follow-up.
func (tr *truth) sent(id string) bool { return tr.p.ids[id] != nil }

// checkDrained is for a deploy that let old finish: its stop is not seen, and
// its drain is known from below only.
func (tr *truth) checkDrained() {
	tr.t.Helper()
	a := tr.p.Analysis
	switch {
	case a.Stop == nil:
		tr.t.Fatal("nothing was found out about old's end")
	case a.Stop.At != nil || a.Stop.Drain.Exact || a.Stop.Drain.Upper != nil:
		tr.t.Errorf("old's stop was seen, and nothing was in flight then: %+v", *a.Stop)
	}
	tr.near("drain, from below", a.Stop.Drain.Lower, tr.oldEnd()-tr.oldLast())
	if n := a.Slow.InFlightAtLastAccept; n == nil || *n < 5 {
		tr.t.Errorf("slow requests in flight on old at its last accept: %v", n)
	}
	if a.Slow.Cut+a.Slow.Failed > 0 {
		tr.t.Errorf("slow requests: %+v", a.Slow)
	}
}

// checkKilled is for a deploy that killed old between the moments of apps: its
// stop was seen, and what was in flight there is told from what came too late.
func (tr *truth) checkKilled(apps *pair) {
	tr.t.Helper()
	a := tr.p.Analysis
	if a.Stop == nil || a.Stop.At == nil || !a.Stop.Drain.Exact {
		tr.t.Fatalf("old's stop was not seen: %+v", a.Stop)
	}
	at, from, to := *a.Stop.At, tr.p.since(apps.stop.from), tr.p.since(apps.stop.to)
	if at < from-tr.p.tolerance() || at > to+tr.p.tolerance() {
		tr.t.Errorf("old's stop: %v, and it was killed between %v and %v (tolerance %v)", at, from, to, tr.p.tolerance())
		for _, n := range a.Stop.Cut {
			id := sample.RequestID(tr.p.Head.ID, n)
			s := tr.p.ids[id]
			tr.t.Logf("said to be cut then: %s of lane %s, %v to %v, %s %d; %q", id, s.Lane, time.Duration(s.Started), time.Duration(s.Ended), s.Class, s.Status, tr.log[id].line)
		}
	}
	cut := 0
	for _, f := range a.Failures {
		took := tr.old[f.ID].took
		called := f.Reason == analysis.ReasonCutAtStop
		if f.Lane != string(sample.Slow) {
			continue
		}
		if called {
			cut++
		}
		switch held := f.Ended - f.Started; {
		case took.IsZero() && called && f.Started > to:
			// One that started before may have reached old's socket, and not old.
			tr.t.Errorf("%s was cut at old's stop, by the analysis; it began %v after old had died and failed after %v", f.ID, f.Started-to, held)
		case !took.IsZero() && !called && held >= heldLong && held < heldOut:
			tr.t.Errorf("%s was in flight on old for %v when old was killed; by the analysis it is %s: %s", f.ID, held, f.Reason, f.Evidence)
		}
	}
	if len(tr.lost) < refused || cut < 5 || a.Slow.Cut != cut {
		tr.t.Errorf("%d requests lost, want %d or more; %d slow requests cut, %d in the failures", len(tr.lost), refused, a.Slow.Cut, cut)
	}
}

// checkVerdict: it follows from what was lost.
func (tr *truth) checkVerdict() {
	tr.t.Helper()
	want, code := verdict.Pass, verdict.ExitPass
	if len(tr.lost) > 0 {
		want, code = verdict.Fail, verdict.ExitFail
	}
	if v := tr.p.Verdict; v.Verdict != want || v.ExitCode != code {
		tr.t.Errorf("verdict %s with exit code %d (%v), want %s", v.Verdict, v.ExitCode, v.Reasons, want)
	}
}
