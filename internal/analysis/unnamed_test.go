package analysis

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A page of the front names an instance and no version: it is nobody's new
// version, and what it took the place of is the deploy's.
func TestPageWithoutAVersionIsNotNew(t *testing.T) {
	w := edgeDeploy()
	noise(w, func(s *sample.Sample) {
		failStatus(s, 503, sample.ByApp)
		s.Version, s.Instance = "", "old-1"
	}, at(14), at(14.1))
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, 2, ByDeploy, ReasonInCutover)
	if c := a.Cutover; c == nil || c.Start < at(15) || !c.Complete {
		t.Errorf("cutover %+v, want it from %v on", c, at(15))
	}
	for _, v := range a.Versions {
		if want := map[string]string{"v1": Old, "v2": New, "": Other}[v.ID]; v.Role != want {
			t.Errorf("%q is %s, want %s", v.ID, v.Role, want)
		}
	}
}

// A new build that names its instance and no version any more takes over all
// the same: its instances show it.
func TestNewWithoutItsVersion(t *testing.T) {
	w := edgeDeploy()
	was := w.serve
	w.serve = func(t time.Duration, lane sample.Lane, s *sample.Sample) {
		if was(t, lane, s); s.Version == "v2" {
			s.Version = ""
		}
	}
	w.probe(0, at(35))
	if c := w.analyse(t).Cutover; c == nil || c.By != "instance" || !c.Complete || c.Start < at(15) {
		t.Errorf("cutover %+v, want a whole one by instance from %v on", c, at(15))
	}
}
