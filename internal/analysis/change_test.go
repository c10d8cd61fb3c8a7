package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// wantAll is wantCodes for findings of every severity.
func wantAll(t *testing.T, a *Analysis, want ...string) {
	t.Helper()
	var got []string
	for _, f := range a.Findings {
		got = append(got, f.Code)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("diagnosis = %v, want %v", got, want)
	}
}

// A deploy that leaves the service dead has not "changed nothing".
func TestDown(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
		dead func(t time.Duration) bool
	}{
		{"old is gone and new never comes", []string{"down"}, func(t time.Duration) bool { return t > at(15) }},
		{"old answers again", []string{"lost-requests", "no-change"}, func(t time.Duration) bool { return t > at(15) && t < at(20) }},
		{"nothing happens", []string{"no-change"}, func(time.Duration) bool { return false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
				if answer(s, "v1", "old-1"); c.dead(t) {
					failStatus(s, 503, sample.ByEdge)
				}
			}
			w.probe(0, at(35))
			wantAll(t, w.analyse(t), c.want...)
		})
	}
}

// A probe that is refused, and a new version that answers wrongly, are not a
// service that is down.
func TestFailingToTheEndIsNotAlwaysDown(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(*sample.Sample)
	}{
		{"the probe's rate is refused", func(s *sample.Sample) {
			failStatus(s, 429, sample.ByEdge)
			s.Headers = map[string]string{"Retry-After": "30"}
		}},
		{"new answers wrongly", func(s *sample.Sample) {
			answer(s, "v2", "new-1")
			failStatus(s, 500, sample.ByApp)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
				if answer(s, "v1", "old-1"); t > at(15) {
					c.fail(s)
				}
			}
			w.probe(0, at(35))
			a := w.analyse(t)
			if a.Requests.Failed == 0 || finding(a, "down") != nil {
				t.Errorf("%d failed, findings %+v; want some, and no word of down", a.Requests.Failed, a.Findings)
			}
		})
	}
}

func TestDownSaysSinceWhen(t *testing.T) {
	w := edgeDeploy()
	w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		if answer(s, "v1", "old-1"); t > at(15) {
			failStatus(s, 503, sample.ByEdge)
		}
	}
	w.probe(0, at(35))
	f := finding(w.analyse(t), "down")
	if f == nil || f.Severity != Error {
		t.Fatalf("%+v, want down, an error", f)
	}
	holds(t, f.Summary, "0:15.0", "20.0 s")
	holds(t, f.Evidence, "2,199 probes")
}

func TestChangeWithinTheBaseline(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Duration
		want []string
	}{
		{"within", at(6), []string{"change-in-baseline"}},
		{"both from the start", 0, []string{"no-change"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
				if answer(s, "v1", "old-1"); t >= c.at && (c.at > 0 || s.N%2 == 0) {
					answer(s, "v2", "new-1")
				}
			}
			w.probe(0, at(35))
			wantAll(t, w.analyse(t), c.want...)
		})
	}
}

func TestThirdVersion(t *testing.T) {
	for _, c := range []struct {
		name     string
		until    time.Duration
		severity string
	}{
		{"for a while", at(24), Note},
		{"for good", at(99), Warning},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				if serve(t, l, s); t > at(22) && t < c.until {
					answer(s, "v3", "other-1")
				}
			}
			w.probe(0, at(35))
			a := w.analyse(t)
			wantAll(t, a, "other-version")
			if f := finding(a, "other-version"); f == nil || f.Severity != c.severity {
				t.Errorf("finding %+v, want severity %s", f, c.severity)
			}
		})
	}
}

// A gap is an absence of answers that was not there before.
func TestGapAmongFailuresAllAlong(t *testing.T) {
	for _, c := range []struct {
		name   string
		before int64 // percent that fail all along
		want   bool
	}{
		{"nothing failed before", 0, true},
		{"a fifth failed before", 20, true},
		{"nearly all failed before", 97, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
				if answer(s, "v1", "old-1"); t > at(15) {
					answer(s, "v2", "new-1")
				}
				if s.N*7919%101%100 < c.before || t > at(14.8) && t < at(15.2) {
					failStatus(s, 502, sample.ByEdge)
				}
			}
			w.probe(0, at(35))
			if got := w.analyse(t).Cutover.Gap; got != c.want {
				t.Errorf("gap: %v, want %v", got, c.want)
			}
		})
	}
}

// After a gap longer than settle, new's first seconds are still the deploy's.
func TestWindowAfterALongGap(t *testing.T) {
	w := newWorld()
	w.deploy(at(10), at(18))
	w.end(at(45), sample.EndComplete)
	w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		switch {
		case t < at(12):
			answer(s, "v1", "old-1")
		case t < at(24), t > at(24.5) && t < at(24.8):
			failStatus(s, 503, sample.ByEdge)
		default:
			answer(s, "v2", "new-1")
		}
	}
	w.probe(0, at(45))
	a := w.analyse(t)
	if got, want := a.Deploy.Window.To, at(29); got < want || got > want+20*time.Millisecond {
		t.Errorf("the window ends at %v, want new's first answer and 5 s: %v", got, want)
	}
	if a.Requests.Deploy != a.Requests.Failed {
		t.Errorf("%d of %d failures are the deploy's, want all", a.Requests.Deploy, a.Requests.Failed)
	}
}

// New's first seconds are slow by themselves only where old's were not.
func TestSlowStartOfBoth(t *testing.T) {
	for _, c := range []struct {
		name string
		both bool
		want []string
	}{
		{"new alone", false, []string{"slow-start"}},
		{"old as well", true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				serve(t, l, s)
				if t >= at(14.99) && t < at(18) && (c.both || s.Version == "v2") {
					s.Ended += int64(400 * time.Millisecond)
				}
			}
			w.probe(0, at(35))
			wantAll(t, w.analyse(t), c.want...)
		})
	}
}

// What waited for a connection that old held says nothing of new's start.
func TestSlowStartIsNotTheQueue(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); s.Version == "v2" && t < at(18) {
			s.Scheduled -= int64(600 * time.Millisecond)
		}
	}
	w.probe(0, at(35))
	wantAll(t, w.analyse(t))
}

// While nobody answers at all, a kept connection is not what was wrong.
func TestKeptConnectionsInAGap(t *testing.T) {
	w := newWorld()
	w.deploy(at(10), at(18))
	w.end(at(35), sample.EndComplete)
	w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		switch {
		case t < at(15):
			answer(s, "v1", "old-1")
		case t < at(17):
			fail(s, sample.Timeout)
			s.Ended = s.Started + int64(500*time.Millisecond)
		default:
			answer(s, "v2", "new-1")
		}
	}
	w.probe(0, at(35))
	a := w.analyse(t)
	wantCodes(t, a, "gap")
	for _, f := range a.Failures {
		if f.Reason != ReasonNoVersionAnswered {
			t.Fatalf("%s: %s, want %s: %s", f.ID, f.Reason, ReasonNoVersionAnswered, f.Evidence)
		}
	}
}

// No deploy fails without a diagnosis.
func TestLostRequestsAreDiagnosed(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  time.Duration
		make  func(*sample.Sample)
		means string
	}{
		{"502s in the cutover", at(16), bad502, "had nobody to send them to"},
		{"502s in the build", at(11), bad502, "it did so before new answered anything"},
		{"502s of nobody known", at(16), func(s *sample.Sample) { failStatus(s, 502, "unknown"); s.Version, s.Instance = "", "" }, "had nobody to send them to"},
		{"500s of nobody known", at(16), func(s *sample.Sample) { failStatus(s, 500, "unknown"); s.Version, s.Instance = "", "" }, "answered, and not as they should be"},
		{"404s in the cutover", at(16), func(s *sample.Sample) { failStatus(s, 404, ""); s.Version = "" }, "answered, and not as they should be"},
		{"hangs in the cutover", at(16), func(s *sample.Sample) {
			fail(s, sample.Timeout)
			s.Ended = s.Started + int64(time.Second)
		}, "nobody answered them in time"},
		{"refused in the cutover", at(16), func(s *sample.Sample) {
			fail(s, sample.ConnectRefused)
			s.Wrote = 0
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			noise(w, c.make, row(c.from, 40)...)
			w.probe(0, at(35))
			a := w.analyse(t)
			if a.Requests.Deploy != 40 {
				t.Fatalf("%d are the deploy's, want 40", a.Requests.Deploy)
			}
			if c.means == "" {
				if len(a.Findings) == 0 || a.Findings[0].Severity != Error {
					t.Errorf("findings %+v, want an error", a.Findings)
				}
				return
			}
			f := finding(a, "lost-requests")
			if f == nil || f.Cure == "" {
				t.Fatalf("findings %+v, want lost-requests with a cure", a.Findings)
			}
			holds(t, f.Summary, "40 requests", c.means)
			holds(t, f.Evidence, "40 of 40")
		})
	}
}
