package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestNothingChanged(t *testing.T) {
	w := newWorld()
	w.deploy(at(10), at(18))
	w.serve = rolling(at(99), at(99))
	w.probe(0, at(30))
	w.end(at(30), sample.EndCutoverTimeout)
	a := w.analyse(t)
	if a.Cutover != nil || a.Power != nil || a.Stop != nil {
		t.Errorf("a cutover was seen where none was: %+v", a.Cutover)
	}
	if !slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Code == "no-change" }) {
		t.Errorf("findings = %+v, want no-change", a.Findings)
	}
}

func TestRestartIsACutoverByInstance(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) { serve(t, l, s); s.Version = "v1" }
	w.probe(0, at(35))
	a := w.analyse(t)
	if c := a.Cutover; c == nil || c.By != "instance" || c.End != at(17) {
		t.Errorf("cutover = %+v, want one by instance that ends at 17 s", a.Cutover)
	}
}

func TestExpectedVersionIsNew(t *testing.T) {
	w := edgeDeploy()
	w.head.Config.ExpectVersion = "v3"
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); t > at(20) {
			answer(s, "v3", "newer-1")
		}
	}
	w.probe(0, at(35))
	a := w.analyse(t)
	if c := a.Cutover; c == nil || c.Start < at(20) {
		t.Errorf("cutover = %+v, want it to start with v3", a.Cutover)
	}
	if !slices.Equal(a.AtEnd, []string{"v3"}) {
		t.Errorf("at the end %v answered, want v3", a.AtEnd)
	}
}

func TestRollback(t *testing.T) {
	w := edgeDeploy()
	serve := w.serve
	w.serve = func(t time.Duration, l sample.Lane, s *sample.Sample) {
		if serve(t, l, s); t > at(22) {
			answer(s, "v1", "old-1")
		}
	}
	w.probe(0, at(35))
	a := w.analyse(t)
	if c := a.Cutover; c == nil || !c.RolledBack || c.Complete {
		t.Errorf("cutover = %+v, want it rolled back", a.Cutover)
	}
}

func TestMarks(t *testing.T) {
	w := edgeDeploy()
	w.head.Config.VersionFrom = config.Extractor{Kind: "none"}
	w.head.Config.InstanceFrom = config.Extractor{Kind: "none"}
	w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { s.By = sample.ByUnknown }
	w.probe(0, at(35))
	a := w.analyse(t)
	if c := a.Cutover; c == nil || c.By != "marks" || c.Start != at(10) || c.End != at(18) {
		t.Errorf("cutover = %+v, want the command's marks", a.Cutover)
	}
}
