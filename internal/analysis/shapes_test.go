package analysis

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// directDeploy is four instances behind a pass-through, each replaced in turn:
// instance i is gone at 12 + 2·i s. Connections stay with the one that they got.
func directDeploy(cure func(w *world, t time.Duration, lane sample.Lane, s *sample.Sample, instance int)) *world {
	w := newWorld()
	w.deploy(at(10), at(20))
	homes := map[int64]int{}
	w.serve = func(t time.Duration, lane sample.Lane, s *sample.Sample) {
		i, ok := homes[s.Conn]
		if !ok || s.Before == 0 {
			i = int(s.N) % 4
			homes[s.Conn] = i
		}
		cure(w, t, lane, s, i)
	}
	w.end(at(35), sample.EndComplete)
	return w
}

func goneAt(i int) time.Duration { return at(12 + 2*float64(i)) }

func direct(s *sample.Sample, t time.Duration, i int) {
	if t < goneAt(i) {
		answer(s, "v1", "old-"+string(rune('a'+i)))
	} else {
		answer(s, "v2", "new-"+string(rune('a'+i)))
	}
}

func TestKubernetesShapes(t *testing.T) {
	keepalive := func(w *world, t time.Duration, lane sample.Lane, s *sample.Sample, i int) {
		// New connections leave an instance 1 s before it dies; kept ones do not.
		leaving := t >= goneAt(i)-at(1)
		if born := w.homes[s.Conn]; t >= goneAt(i) && s.Before > 0 && born < goneAt(i) {
			w.redial(s)
		}
		if s.Before == 0 {
			w.homes[s.Conn] = t
		}
		switch {
		case lane != sample.Kept && leaving, s.Before == 0 && leaving, t >= goneAt(i):
			answer(s, "v2", "new-"+string(rune('a'+i)))
		case t >= goneAt(i)-4*took:
			fail(s, sample.EOF)
			s.Ended = int64(goneAt(i))
		default:
			direct(s, t, i)
		}
	}
	t.Run("keep-alive not closed", func(t *testing.T) {
		w := directDeploy(keepalive)
		w.probe(0, at(35))
		a := w.analyse(t)
		if a.Requests.Deploy == 0 || a.Requests.Deploy != a.Requests.Failed {
			t.Errorf("requests = %+v, want only drops of the deploy's", a.Requests)
		}
		wantCodes(t, a, "keepalive-not-closed")
	})
	t.Run("no preStop", func(t *testing.T) {
		w := directDeploy(func(w *world, t time.Duration, lane sample.Lane, s *sample.Sample, i int) {
			dying := t >= goneAt(i)-at(0.3) && t < goneAt(i)
			switch {
			case dying && s.Before == 0:
				fail(s, sample.Reset)
			case dying:
				direct(s, t, i)
				s.Close = true
			default:
				direct(s, t, i)
			}
		})
		w.probe(0, at(35))
		a := w.analyse(t)
		if a.Requests.Deploy == 0 || a.Requests.Deploy != a.Requests.Failed {
			t.Errorf("requests = %+v, want only drops of the deploy's", a.Requests)
		}
		wantCodes(t, a, "no-prestop")
	})
	t.Run("not graceful", func(t *testing.T) {
		w := directDeploy(func(w *world, t time.Duration, lane sample.Lane, s *sample.Sample, i int) {
			if direct(s, t, i); t >= goneAt(i)-at(0.5) && t < goneAt(i) {
				s.Close = true
			}
		})
		w.probe(0, at(35))
		w.slow(at(1), at(25), 250*time.Millisecond, at(4), func(t time.Duration, s *sample.Sample) {
			i := int(s.N) % 4
			stop := goneAt(i) + at(0.5)
			direct(s, t, i)
			if s.Version == "v1" && t+at(4) > stop {
				fail(s, sample.EOF)
				s.Ended = int64(stop)
			}
		})
		a := w.analyse(t)
		if a.Slow.Cut == 0 || a.Slow.Cut != a.Requests.Deploy || a.Requests.Deploy != a.Requests.Failed {
			t.Errorf("slow = %+v, requests = %+v, want only cuts", a.Slow, a.Requests)
		}
		if st := a.Stop; st == nil || st.At == nil || *st.At != at(18.5) {
			t.Errorf("stop = %+v, want the last instance's at 18.5 s", a.Stop)
		}
		wantCodes(t, a, "not-graceful")
	})
}
