//go:build linux

package fronts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// seen is one request in a front's log.
type seen struct {
	id     string // "-": the wait for the front to come up
	port   int    // the client's
	status int
	whole  bool   // the answer was handed on to its end
	worker string // of nginx, its process id
	line   string
}

func (s seen) good() bool { return s.whole && s.status >= 200 && s.status < 300 }

// counts tells whether the request is one of the prober's that count: not the
// wait for the front to come up, and not a follow-up of a failure.
func (s seen) counts() bool { return s.id != "-" && !strings.HasSuffix(s.id, "-f") }

// losses counts the requests that a front has logged as not answered well.
func losses(log []seen) int {
	n := 0
	for _, s := range log {
		if s.counts() && !s.good() {
			n++
		}
	}
	return n
}

// truth is what a front and the apps know of a run: who answered what, and what
// nobody did.
type truth struct {
	t        *testing.T
	p        *probed
	log      map[string]seen // by request id
	old, new records
	lost     []string // ids that were not answered 2xx and whole, sorted
	unseen   []string // of them, those that the front never logged
}

// compare finds the truth and holds to it what the run says was dropped: the
// same requests, none missed and none invented, all of them the deploy's.
func compare(t *testing.T, p *probed, apps *pair, log []seen) *truth {
	t.Helper()
	tr := &truth{t: t, p: p, log: map[string]seen{}}
	tr.old, tr.new = apps.bothRead()
	tr.readLog(log)
	for _, id := range slices.Sorted(maps.Keys(p.ids)) {
		tr.settle(id, p.ids[id])
	}
	tr.checkFailures()
	tr.checkCounts()
	t.Logf("%d requests, %d lost, %d of them not in the front's log, %d reconnects; %s: %v",
		len(p.samples), len(tr.lost), len(tr.unseen), p.Analysis.Requests.Reconnects, p.Verdict.Verdict, p.Verdict.Reasons)
	return tr
}

// readLog takes in the front's log. Each request that the prober sent comes
// there once at most, and no other than those that it recorded.
func (tr *truth) readLog(log []seen) {
	tr.t.Helper()
	for _, s := range log {
		if s.id == "-" {
			continue
		}
		if before, twice := tr.log[s.id]; twice {
			tr.t.Errorf("the front saw %s twice: %q and %q", s.id, before.line, s.line)
		}
		tr.log[s.id] = s
		if sent, ok := tr.p.ids[s.id]; ok {
			if sent.LocalPort != s.port {
				tr.t.Errorf("%s came from port %d, by the sample from %d", s.id, s.port, sent.LocalPort)
			}
		} else if s.counts() {
			tr.t.Errorf("the front saw a request that is not in the record: %q", s.line)
		}
	}
}

// settle decides what became of a request by the front's log, and holds the
// apps' records against it.
func (tr *truth) settle(id string, s *sample.Sample) {
	tr.t.Helper()
	old, onOld := tr.old[id]
	new, onNew := tr.new[id]
	if onOld && onNew {
		tr.t.Errorf("%s was executed by both apps", id)
	}
	answered := !old.answered.IsZero() || !new.answered.IsZero()
	answering := !old.answering.IsZero() || !new.answering.IsZero()
	line, ok := tr.log[id]
	switch {
	case s.Unfinished: // the prober left first, at its own end
		if s.Lane != sample.Slow {
			tr.t.Errorf("%s of lane %s was left unfinished", id, s.Lane)
		}
	case !ok:
		tr.unseen = append(tr.unseen, id)
		tr.lost = append(tr.lost, id)
		if answered {
			tr.t.Errorf("an app answered %s, and the front did not log it", id)
		}
	case !line.good():
		tr.lost = append(tr.lost, id)
		if answered {
			tr.t.Errorf("an app answered %s, and the front did not hand it on: %q", id, line.line)
		}
	default:
		if !answering {
			tr.t.Errorf("the front answered %s well, and no app did: %q", id, line.line)
		}
		if want := map[bool]string{true: newVersion, false: oldVersion}[onNew]; !s.Failed() && s.Version != want {
			tr.t.Errorf("%s was answered by %s, by the sample %q", id, want, s.Version)
		}
	}
}

// checkFailures compares the sets of ids, and whose the failures are.
func (tr *truth) checkFailures() {
	tr.t.Helper()
	var failed []string
	for _, f := range tr.p.Analysis.Failures {
		failed = append(failed, f.ID)
		if f.Attribution != analysis.ByDeploy {
			tr.t.Errorf("%s (%s %s) is not the deploy's but %s, %s: %s", f.ID, f.Lane, f.Class, f.Attribution, f.Reason, f.Evidence)
		}
	}
	slices.Sort(failed)
	if diff := cmp.Diff(tr.lost, failed); diff != "" {
		tr.t.Errorf("requests that were missed (-) and invented (+):\n%s", diff)
		for _, id := range slices.Concat(tr.lost, failed) {
			if slices.Contains(tr.lost, id) != slices.Contains(failed, id) {
				tr.t.Logf("%s: %+v; %q; old %+v, new %+v", id, *tr.p.ids[id], tr.log[id].line, tr.old[id], tr.new[id])
			}
		}
	}
}

// checkCounts compares the counts of the result with the record.
func (tr *truth) checkCounts() {
	tr.t.Helper()
	unfinished := 0
	for _, s := range tr.p.samples {
		if s.Unfinished {
			unfinished++
		}
	}
	got := tr.p.Analysis.Requests
	want := got
	want.Total, want.Failed, want.Deploy = len(tr.p.samples), len(tr.lost), len(tr.lost)
	want.OK = len(tr.p.samples) - len(tr.lost) - unfinished
	want.Background, want.ProberOwn, want.Config, want.Undecided, want.HiddenRetries, want.Unfinished = 0, 0, 0, 0, 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		tr.t.Errorf("counts, want (-) and got (+):\n%s", diff)
	}
	if a := tr.p.Analysis; a.Slow.Unfinished != unfinished || a.End != sample.EndComplete {
		tr.t.Errorf("%d slow requests unfinished, want %d; the run ended with %q: %s", a.Slow.Unfinished, unfinished, a.End, a.EndNote)
	}
}

// before is what the front logged of the requests before s on its connection.
func (tr *truth) before(s *sample.Sample) []seen {
	var list []seen
	for id, other := range tr.p.ids {
		if other.Conn != s.Conn || other.N == s.N {
			continue
		}
		if line, ok := tr.log[id]; ok && line.whole && line.port == s.LocalPort && other.Before < s.Before {
			list = append(list, line)
		} else {
			tr.t.Errorf("%s on the same connection as the lost %d: %+v, %q", id, s.N, *other, line.line)
		}
	}
	return list
}

// checkUnseen sees that each request that the front never logged is one that
// it could not: sent on a kept connection, all of whose requests before it were
// logged, which ended with it. explain has the front's own reason, "" for none.
func (tr *truth) checkUnseen(explain func(id string, s *sample.Sample, before []seen) string) {
	tr.t.Helper()
	for _, id := range tr.unseen {
		s := tr.p.ids[id]
		before := tr.before(s)
		why := ""
		if s.Before > 0 && len(before) == s.Before && s.FirstByte == 0 {
			why = explain(id, s, before)
		}
		if why == "" {
			tr.t.Errorf("%s is not in the front's log, and nothing tells why: %+v; after %d requests on its connection", id, *s, len(before))
		} else {
			tr.t.Logf("%s is not in the front's log: %s", id, why)
		}
	}
}

// crossing is how long after a connection's end a request can have been sent
// that did not know of it, on a busy machine. On an idle one it is microseconds.
const crossing = 50 * time.Millisecond

// crossed tells whether a request was on its way when something ended.
func (tr *truth) crossed(s *sample.Sample, end span) bool {
	late := max(crossing, tr.p.Analysis.Prober.LateMax)
	started, ended := time.Duration(s.Started), time.Duration(s.Ended)
	return started <= tr.p.since(end.to)+late && ended >= tr.p.since(end.from)
}

// near holds a measured time to the true one.
func (tr *truth) near(what string, got, want time.Duration) {
	tr.t.Helper()
	if diff := (got - want).Abs(); diff > tr.p.tolerance() {
		tr.t.Errorf("%s: %v, by the apps' records %v (%v apart, tolerance %v)", what, got, want, diff, tr.p.tolerance())
	} else {
		tr.t.Logf("%s: %v, by the apps' records %v", what, fmt.Sprint(got.Round(time.Millisecond)), want.Round(time.Millisecond))
	}
}
