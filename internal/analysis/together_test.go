package analysis

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Requests that a front fails one by one may end together by chance, the last of
// them when old has answered for the last time: that shows no stop of old's.
func TestEndingTogetherByChanceIsNoCut(t *testing.T) {
	w := edgeDeploy()
	noise(w, bad502, at(16.1), at(16.3), at(16.5), at(16.7))
	noise(w, func(s *sample.Sample) {
		bad502(s)
		s.Ended = int64(at(17.1))
	}, at(16.98), at(17))
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, 6, ByDeploy, ReasonInCutover)
	if a.Stop != nil && a.Stop.Drain.Exact {
		t.Errorf("drain %+v, and old's stop was not seen", a.Stop.Drain)
	}
}

// When everything stands still for a moment, what fails next ends together: that
// shows no stop of old's either.
func TestEndingTogetherAfterAPauseIsNoCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool // one that began before them ends meanwhile
		pause  bool
		want   bool
	}{
		{"nothing is answered meanwhile", false, true, false},
		{"later ones are answered meanwhile", false, false, true},
		{"an earlier one is answered meanwhile", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			serve := w.serve
			n := 0
			w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
				serve(t, l, s)
				if c.before && t > at(16.987) && t < at(16.993) {
					s.Ended = int64(at(17.06))
				}
				if t < at(17.01) || t > at(17.09) {
					return
				}
				if n++; n <= 4 {
					failStatus(s, 503, sample.ByEdge)
					s.Ended = int64(at(17.1))
				} else if c.pause {
					s.Ended = int64(at(17.1))
				}
			}
			w.probe(0, at(35))
			if got := w.analyse(t).Stop.At != nil; got != c.want {
				t.Errorf("old's stop seen: %v, want %v", got, c.want)
			}
		})
	}
}
