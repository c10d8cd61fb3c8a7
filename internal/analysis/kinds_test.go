package analysis

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// What is found out about kinds of failures that were met in scenarios.

// The bound on follow-ups leaves most failures of a burst without one: the
// nearest speaks for them.
func TestControlSpeaksForItsNeighbours(t *testing.T) {
	for _, c := range []struct {
		name    string
		control sample.Class
		by      string
		reason  string
	}{
		{"the control host failed too", sample.Reset, ByProber, ReasonControlFailed},
		{"the control host was fine", sample.OK, ByDeploy, ReasonInCutover},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			n := 0
			noise(w, func(s *sample.Sample) {
				fail(s, sample.Reset)
				if n++; n%10 == 1 {
					w.lines = append(w.lines, sample.Line{FollowUp: &sample.FollowUp{N: s.N, Kind: "control", Started: s.Ended, Ended: s.Ended + 1e6, Class: c.control}})
				}
			}, row(at(16), 40)...)
			w.probe(0, at(35))
			only(t, w.analyse(t), 40, c.by, c.reason)
		})
	}
}

// An edge answers for a new version that is broken for good.
func TestBrokenForGood(t *testing.T) {
	for _, c := range []struct {
		name   string
		breaks func(t time.Duration, s *sample.Sample) bool
		by     string
		reason string
	}{
		{"since new answers, and on", func(_ time.Duration, s *sample.Sample) bool { return s.Version == "v2" && s.N%5 == 1 }, ByDeploy, ReasonNewBroken},
		{"all the time", func(_ time.Duration, s *sample.Sample) bool { return s.N%23 == 1 }, ByBackground, ReasonBackgroundRate},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				if serve(t, l, s); c.breaks(t, s) {
					failStatus(s, 502, sample.ByEdge)
				}
			}
			w.probe(0, at(35))
			a := w.analyse(t)
			if a.Requests.Failed == 0 {
				t.Error("nothing failed")
			}
			if i := slices.IndexFunc(a.Failures, func(f Failure) bool { return f.Attribution != c.by }); i >= 0 {
				t.Errorf("%+v, want it %s's", a.Failures[i], c.by)
			}
			if i := slices.IndexFunc(a.Failures, func(f Failure) bool { return f.Reason == c.reason }); i < 0 {
				t.Errorf("none is %s's for %s", c.by, c.reason)
			}
		})
	}
}

// A proxy holds requests in a gap and has new run them once; or it has new run
// again what old had begun.
func TestHeldIsNotRunTwice(t *testing.T) {
	for _, c := range []struct {
		name  string
		begun time.Duration
		want  int
	}{
		{"begun in the gap", at(15.2), 0},
		{"begun on old", at(14), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.deploy(at(10), at(20))
			w.end(at(35), sample.EndComplete)
			w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
				switch {
				case t < at(15):
					answer(s, "v1", "old-1")
				case t < at(18): // held
					s.Ended = int64(at(18) + took)
					answer(s, "v2", "new-1")
				default:
					answer(s, "v2", "new-1")
				}
			}
			w.probe(0, at(35))
			w.slow(c.begun, c.begun+1, at(1), at(2), func(_ time.Duration, s *sample.Sample) {
				s.Ended = int64(at(20))
				answer(s, "v2", "new-1")
			})
			if got := w.analyse(t).Slow.ReExecuted; got != c.want {
				t.Errorf("%d were run twice, want %d", got, c.want)
			}
		})
	}
}

// New's last failure beside old may begin a moment after old's last answer did.
func TestMixedVersionsUpToOldsLast(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); s.Version == "v2" && t <= at(17.02) && s.N%2 == 1 {
			failStatus(s, 404, sample.ByApp)
		}
	}
	w.probe(0, at(35))
	wantCodes(t, w.analyse(t), "mixed-versions", "new-version-broken")
}

// Two errors at one moment are old's stop only where the like was not seen before.
func TestUncertainCutsOfAKnownKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []time.Duration
		want   bool
	}{
		{"never seen before", nil, true},
		{"seen in the baseline", []time.Duration{at(3), at(5), at(7)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			held := func(s *sample.Sample) {
				fail(s, sample.EOF)
				s.Ended = s.Started + int64(40*time.Millisecond)
			}
			noise(w, held, append(c.before, at(17.01), at(17.02))...)
			w.probe(0, at(35))
			if got := w.analyse(t).Stop.At != nil; got != c.want {
				t.Errorf("old's stop seen: %v, want %v", got, c.want)
			}
		})
	}
}

// Noise so heavy that its episodes never end is the background's where it is the
// same all along; an outage on top of it is not.
func TestHeavyNoiseAllAlong(t *testing.T) {
	for _, c := range []struct {
		name    string
		percent int64
		outage  bool
		deploys bool
	}{
		{"one in five", 20, false, false},
		{"two in five", 40, false, false},
		{"one in five, and an outage in the cutover", 20, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				serve(t, l, s)
				if s.N*7919%101%100 < c.percent || c.outage && t > at(15.5) && t < at(18.5) {
					failStatus(s, 502, sample.ByEdge)
				}
			}
			w.probe(0, at(35))
			if got := w.analyse(t).Requests.Deploy > 0; got != c.deploys {
				t.Errorf("some are the deploy's: %v, want %v", got, c.deploys)
			}
		})
	}
}

// Bodies are held to those of both fast lanes: the fresh one alone may have too
// few to tell what is usual.
func TestCutBodyOfAFewFresh(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	fresh := 0
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); l == sample.Fresh && s.Version == "v2" {
			fresh++
			s.Broken = fresh%10 == 3
		}
	}
	w.probe(0, at(20))
	a := w.analyse(t)
	if fresh >= 50 || len(a.Failures) != (fresh+7)/10 {
		t.Errorf("%d failures of %d fresh answers by new, want one in ten", len(a.Failures), fresh)
	}
	for _, f := range a.Failures {
		if f.Class != string(sample.Truncated) {
			t.Errorf("%+v, want it truncated", f)
		}
	}
}

// A front that begins to fail requests when old is gone cuts nothing; one whose
// old was stopped held those longer that were on it.
func TestFirstErrorsOfAFrontAreNoCut(t *testing.T) {
	for _, c := range []struct {
		name string
		held time.Duration // of the first two
		want bool
	}{
		{"as long as the later ones", 12 * time.Millisecond, false},
		{"longer", 40 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				serve(t, l, s)
				if t > at(17.005) && t < at(17.4) {
					failStatus(s, 503, sample.ByEdge)
					if s.Ended = s.Started + int64(12*time.Millisecond); t < at(17.03) {
						s.Ended = int64(at(17.01) + c.held)
					}
				}
			}
			w.probe(0, at(35))
			if got := w.analyse(t).Stop.At != nil; got != c.want {
				t.Errorf("old's stop seen: %v, want %v", got, c.want)
			}
		})
	}
}

func TestIDsOfRequestsAreNoVersions(t *testing.T) {
	w := edgeDeploy()
	w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { answer(s, fmt.Sprint("r", s.N), "i") }
	w.probe(0, at(35))
	a := w.analyse(t)
	if a.Cutover != nil || a.Target.Unstable < 1000 {
		t.Errorf("cutover %+v, %d unstable ids: want none, and about one a request", a.Cutover, a.Target.Unstable)
	}
}

func TestNoVersionAskedForMeansMarksAlone(t *testing.T) {
	w := edgeDeploy()
	w.head.Config.VersionFrom = config.Extractor{Kind: "none"}
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) { serve(t, l, s); s.Version = "" }
	w.probe(0, at(35))
	if a := w.analyse(t); a.Cutover == nil || a.Cutover.By != "marks" {
		t.Errorf("cutover %+v, want it by the marks, whatever the instances do", a.Cutover)
	}
}

// A platform that showed no deployment leaves no mark of one.
func TestNoDeploymentIsNoCutover(t *testing.T) {
	w := edgeDeploy()
	w.head.Config.VersionFrom = config.Extractor{Kind: "none"}
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) { serve(t, l, s); s.Version = "" }
	w.signal(at(20), sample.SignalEnd, sample.NoDeployment, sample.Unknown)
	w.probe(0, at(35))
	if a := w.analyse(t); a.Cutover != nil {
		t.Errorf("cutover %+v, want none", a.Cutover)
	}
}

func TestBodiesCutByNewInAThird(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	cut := 0
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		serve(t, l, s)
		s.Bytes, s.Unsized = 300, true
		if s.Version == "v2" && s.N%3 == 0 {
			s.Bytes, s.Broken = 100, true
			cut++
		}
	}
	w.probe(0, at(35))
	a := w.analyse(t)
	if cut == 0 || a.Requests.Failed != cut {
		t.Errorf("%d failed, want the %d whose bodies were cut", a.Requests.Failed, cut)
	}
	only(t, a, cut, ByDeploy, ReasonNewBroken)
}

// In a closed loop there is no rate to expect idle races by: unknown, not 0.
func TestNoIdleRacesAreExpectedOfAClosedLoop(t *testing.T) {
	for _, max := range []bool{false, true} {
		w := edgeDeploy()
		serve := w.serve
		w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
			serve(t, l, s)
			if l == sample.Fresh {
				s.Connected = s.Started + int64(time.Millisecond)
			}
		}
		if max {
			w.head.Config.Rate = config.Rate{Max: true}
		}
		w.probe(0, at(35))
		if got := w.analyse(t).Requests.IdleRaceExpected; (got == nil) != max {
			t.Errorf("rate max %v: %v are expected", max, got)
		}
	}
}
