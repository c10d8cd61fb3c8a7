package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// edgeDeploy is the experiment in small: baseline to 10 s, overlap 15–17 s,
// old stopped at 20 s, run to 35 s; slow requests of 4 s.
func edgeDeploy() *world {
	w := newWorld()
	w.deploy(at(10), at(18))
	w.serve = rolling(at(15), at(17))
	w.end(at(35), sample.EndComplete)
	return w
}

func slowOverEdge(w *world) {
	w.slow(at(1), at(28), 500*time.Millisecond, at(4), func(t time.Duration, s *sample.Sample) {
		onOld := t < at(15) || t <= at(17) && int(t/(500*time.Millisecond))%2 == 0
		switch {
		case !onOld:
			answer(s, "v2", "new-1")
		case t+at(4) <= at(20):
			answer(s, "v1", "old-1")
		default:
			failStatus(s, 504, sample.ByEdge)
			s.Ended = int64(at(20))
		}
	})
}

func TestEdgeCutover(t *testing.T) {
	w := edgeDeploy()
	w.probe(0, at(35))
	slowOverEdge(w)
	a := w.analyse(t)

	c := a.Cutover
	if c == nil || c.By != "version" || !c.Complete || c.Gap {
		t.Fatalf("cutover = %+v", c)
	}
	if got, want := c.Start, at(15); got < want || got > want+20*time.Millisecond {
		t.Errorf("cutover start = %v, want %v", got, want)
	}
	if c.End != at(17) || c.LastAccept != at(17) {
		t.Errorf("end = %v, last accept = %v, want 17s both", c.End, c.LastAccept)
	}
	if c.ShareNew == nil || math.Abs(*c.ShareNew-0.5) > 0.05 {
		t.Errorf("share of new = %v, want about half", c.ShareNew)
	}
	if st := a.Stop; st == nil || st.At == nil || *st.At != at(20) || !st.Drain.Exact || st.Drain.Lower != at(3) {
		t.Errorf("stop = %+v, want at 20s with an exact drain of 3s", a.Stop)
	}
	// On old and over 20 s: those of 17 s (even) and 16, not of 16.5.
	if a.Slow.Cut != 1 || a.Requests.Deploy != 1 || a.Requests.Failed != 1 {
		t.Errorf("slow = %+v, requests = %+v, want 1 cut and nothing else", a.Slow, a.Requests)
	}
	if got := a.Slow.InFlightAtLastAccept; got == nil || *got != 6 { // 13.5, 14, 14.5, 15 (even), 16, 17: less 13 s, which ends at 17
		t.Errorf("in flight at last accept = %v", deref(got))
	}
	f := a.Failures[0]
	if f.Reason != ReasonCutAtStop || f.Attribution != ByDeploy || f.Evidence == "" {
		t.Errorf("failure = %+v", f)
	}
	wantCodes(t, a, "drain-too-short")
	if w := a.Deploy.Window; w == nil || w.From != at(10) || w.To != at(25) {
		t.Errorf("window = %v, want 10 s (the command) to old's end + settle", w)
	}
	if p := a.Power; p == nil || *p.MinOutage != 10*time.Millisecond {
		t.Errorf("power = %+v, want an outage of 10 ms", p)
	}
}

func deref(p *int) any {
	if p == nil {
		return nil
	}
	return *p
}

func wantCodes(t *testing.T, a *Analysis, want ...string) {
	t.Helper()
	var got []string
	for _, f := range a.Findings {
		if f.Severity == Error {
			got = append(got, f.Code)
		}
		if f.Summary == "" || f.Evidence == "" || f.Cure == "" {
			t.Errorf("finding %s lacks a sentence: %+v", f.Code, f)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("diagnosis = %v, want %v", got, want)
	}
}

// only asserts that all failures have one owner and reason.
func only(t *testing.T, a *Analysis, n int, by, reason string) {
	t.Helper()
	if len(a.Failures) != n {
		t.Errorf("failures = %d, want %d", len(a.Failures), n)
	}
	for _, f := range a.Failures {
		if f.Attribution != by || f.Reason != reason {
			t.Errorf("%s at %v is %s/%s, want %s/%s: %s", f.Class, f.Started, f.Attribution, f.Reason, by, reason, f.Evidence)
			return
		}
		if strings.TrimSpace(f.Evidence) == "" {
			t.Errorf("no evidence for %+v", f)
		}
	}
}

// noise makes the request begun at one of these times fail.
func noise(w *world, make func(*sample.Sample), times ...time.Duration) {
	serve := w.serve
	w.serve = func(t time.Duration, lane sample.Lane, s *sample.Sample) {
		serve(t, lane, s)
		if lane == sample.Kept && slices.Contains(times, t) {
			make(s)
		}
	}
}

func bad502(s *sample.Sample) { failStatus(s, 502, sample.ByEdge) }

func row(from time.Duration, n int) []time.Duration {
	var out []time.Duration
	for i := range n {
		out = append(out, from+time.Duration(i)*10*time.Millisecond)
	}
	return out
}

func TestAttributionByPlaceAndNumber(t *testing.T) {
	tests := []struct {
		name       string
		at         []time.Duration
		n          int
		by, reason string
	}{
		{"one in the cutover, none elsewhere", row(at(16), 1), 1, ByDeploy, ReasonInCutover},
		{"two seconds before new", row(at(13.5), 1), 1, ByDeploy, ReasonInCutover},
		{"one long after", row(at(30), 1), 1, ByBackground, ReasonOutsideWindow},
		{"one in the baseline", row(at(5), 1), 1, ByBackground, ReasonOutsideWindow},
		{"one in the build", row(at(11), 1), 1, Undecided, ReasonUndecided},
		{"25 in a row in the build", row(at(11), 25), 25, Undecided, ReasonUndecided},
		{"26 in a row in the build", row(at(11), 26), 26, ByDeploy, ReasonInWindow},
		{"as many inside as out", slices.Concat(row(at(2), 1), row(at(6), 1), row(at(16), 1), row(at(30), 1)), 4, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := edgeDeploy()
			noise(w, bad502, tt.at...)
			w.probe(0, at(35))
			a := w.analyse(t)
			if tt.by != "" {
				only(t, a, tt.n, tt.by, tt.reason)
				return
			}
			if a.Requests.Background != tt.n {
				t.Errorf("requests = %+v, want %d of the background's", a.Requests, tt.n)
			}
		})
	}
	t.Run("a storm inside, one outside", func(t *testing.T) {
		w := edgeDeploy()
		noise(w, bad502, append(row(at(16), 12), at(3))...)
		w.probe(0, at(35))
		a := w.analyse(t)
		if a.Requests.Deploy != 12 || a.Requests.Background != 1 {
			t.Errorf("requests = %+v, want 12 the deploy's and 1 the background's", a.Requests)
		}
	})
}

func TestGap(t *testing.T) {
	w := newWorld()
	w.deploy(at(10), at(18))
	w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		switch {
		case t < at(12):
			answer(s, "v1", "old-1")
		case t < at(14):
			fail(s, sample.ConnectRefused)
			s.Wrote = 0
		default:
			answer(s, "v2", "new-1")
		}
	}
	w.probe(0, at(30))
	w.end(at(30), sample.EndComplete)
	a := w.analyse(t)
	if c := a.Cutover; c == nil || !c.Gap || c.Overlap > -at(1.95) || c.Overlap < -at(2.05) {
		t.Fatalf("cutover = %+v, want a gap of 2 s", a.Cutover)
	}
	only(t, a, a.Requests.Failed, ByDeploy, ReasonNoVersionAnswered)
	if a.Requests.Failed != 220 {
		t.Errorf("failed = %d, want 220", a.Requests.Failed)
	}
	wantCodes(t, a, "gap")
}

func TestNewBroken(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); s.Version == "v2" && s.N%4 == 1 {
			failStatus(s, 500, sample.ByApp)
		}
	}
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, a.Requests.Failed, ByDeploy, ReasonNewBroken)
	if a.Requests.Failed == 0 {
		t.Error("nothing failed")
	}
	wantCodes(t, a, "new-version-broken")
}

func TestLateOutageAndLoneFailure(t *testing.T) {
	w := edgeDeploy()
	noise(w, bad502, row(at(28), 300)...)
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, 300, ByDeploy, ReasonLateOutage)
	wantCodes(t, a, "late-outage")
}

func TestConfigAndProber(t *testing.T) {
	t.Run("refused from the first sample on", func(t *testing.T) {
		w := edgeDeploy()
		w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { failStatus(s, 403, sample.ByEdge) }
		w.probe(0, at(35))
		only(t, w.analyse(t), 3850, ByConfig, ReasonBlocked)
	})
	t.Run("a slow path that never worked", func(t *testing.T) {
		w := edgeDeploy()
		w.probe(0, at(35))
		w.slow(at(1), at(30), at(1), at(4), func(_ time.Duration, s *sample.Sample) {
			failStatus(s, 404, sample.ByApp)
			s.Ended = s.Started + 1e6
		})
		only(t, w.analyse(t), 29, ByConfig, ReasonNeverWorked)
	})
	t.Run("the control host failed too", func(t *testing.T) {
		w := edgeDeploy()
		noise(w, func(s *sample.Sample) {
			fail(s, sample.ConnectTimeout)
			w.lines = append(w.lines, sample.Line{FollowUp: &sample.FollowUp{N: s.N, Kind: "control", Started: s.Ended, Ended: s.Ended + 1e6, Class: sample.ConnectTimeout}})
		}, row(at(16), 5)...)
		w.probe(0, at(35))
		only(t, w.analyse(t), 5, ByProber, ReasonControlFailed)
	})
	t.Run("no descriptors", func(t *testing.T) {
		w := edgeDeploy()
		noise(w, func(s *sample.Sample) { fail(s, sample.Local) }, row(at(16), 5)...)
		w.probe(0, at(35))
		only(t, w.analyse(t), 5, ByProber, ReasonProberResources)
	})
	t.Run("the prober slept through its own timeout", func(t *testing.T) {
		w := edgeDeploy()
		noise(w, func(s *sample.Sample) {
			fail(s, sample.Timeout)
			s.Ended = s.Started + int64(at(10))
			s.Late = int64(at(2))
		}, row(at(16), 2)...)
		w.probe(0, at(35))
		only(t, w.analyse(t), 2, ByProber, ReasonProberLate)
	})
}

func TestIdleRace(t *testing.T) {
	race := func(after time.Duration) func(s *sample.Sample) {
		return func(s *sample.Sample) {
			fail(s, sample.EOF)
			s.RTT = int64(time.Millisecond)
			s.Ended = s.Wrote + int64(after)
		}
	}
	tests := []struct {
		name   string
		after  time.Duration // of the write
		follow *sample.FollowUp
		class  sample.Class
	}{
		{"a fresh connection at once was served", time.Millisecond, &sample.FollowUp{Kind: "fresh", Status: 200}, sample.IdleRace},
		{"it failed too", time.Millisecond, &sample.FollowUp{Kind: "fresh", Class: sample.ConnectRefused}, sample.EOF},
		{"none was fired, the next one was served", time.Millisecond, nil, sample.IdleRace},
		{"the close came late", 20 * time.Millisecond, &sample.FollowUp{Kind: "fresh", Status: 200}, sample.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := edgeDeploy()
			noise(w, func(s *sample.Sample) {
				race(tt.after)(s)
				if tt.follow != nil {
					f := *tt.follow
					f.N, f.Started, f.Ended = s.N, s.Ended, s.Ended+1e6
					w.lines = append(w.lines, sample.Line{FollowUp: &f})
				}
			}, at(16))
			w.probe(0, at(35))
			a := w.analyse(t)
			if len(a.Failures) != 1 || a.Failures[0].Class != string(tt.class) {
				t.Fatalf("failures = %+v, want one %s", a.Failures, tt.class)
			}
			want := 0
			if tt.class == sample.IdleRace {
				want = 1
			}
			if a.Requests.IdleRace != want || a.Requests.DeployIdleRace != want {
				t.Errorf("requests = %+v, want %d idle races, the deploy's", a.Requests, want)
			}
		})
	}
}

func TestSameLinesSameAnalysis(t *testing.T) {
	var first *Analysis
	for range 5 {
		w := edgeDeploy()
		noise(w, bad502, at(3), at(16), at(16.5))
		w.probe(0, at(35))
		slowOverEdge(w)
		a := w.analyse(t)
		if first == nil {
			first = a
			continue
		}
		if !slices.EqualFunc(a.Failures, first.Failures, func(x, y Failure) bool { return x.N == y.N && x.Evidence == y.Evidence && x.Reason == y.Reason }) {
			t.Fatal("the same lines gave other failures")
		}
	}
}

func TestStats(t *testing.T) {
	// By hand: P(X ≥ 2), n = 3, p = 0.5 is (3 + 1)/8; P(X ≥ 3), n = 3, p = 0.1 is 0.001.
	for _, tt := range []struct {
		k, n int
		p    float64
		want float64
	}{{2, 3, 0.5, 0.5}, {3, 3, 0.1, 0.001}, {0, 5, 0.3, 1}, {6, 5, 0.3, 0}, {1, 2, 0.1, 0.19}} {
		if got := binomialTail(tt.k, tt.n, tt.p); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("P(X ≥ %d | %d, %v) = %v, want %v", tt.k, tt.n, tt.p, got, tt.want)
		}
	}
	// Rule of three: about 3/n. Clopper–Pearson for 2 of 10 at one-sided 95 %: 0.5069.
	if got := upperRate(0, 5012); math.Abs(got-0.000598) > 1e-6 {
		t.Errorf("upper bound of 0 in 5012 = %v", got)
	}
	if got := upperRate(2, 10); math.Abs(got-0.5069) > 1e-4 {
		t.Errorf("upper bound of 2 in 10 = %v", got)
	}
}
