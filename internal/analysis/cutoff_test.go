package analysis

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// What silence means depends on whether the prober was cut off: from 14 to 17 s,
// in which new takes over, nothing comes from the service.
func TestCutOff(t *testing.T) {
	const silentFrom, silentTo = 14 * time.Second, 17 * time.Second
	silent := func(t time.Duration) bool { return t+took > silentFrom && t < silentTo }
	fine := func(t time.Duration, f *sample.FollowUp) {}
	fails := func(t time.Duration, f *sample.FollowUp) {
		if silent(t) {
			f.Class, f.Ended = sample.ConnectTimeout, int64(t+2*time.Second)
		}
	}
	for _, c := range []struct {
		name    string
		control func(t time.Duration, f *sample.FollowUp) // nil: there is none
		fresh   func(s *sample.Sample)                    // what becomes of fresh requests in the silence; nil: as of others
		want    string                                    // whose the kept lane's failures are
	}{
		{"the control host is out of reach", fails, nil, ByProber},
		{"the control host answers when it is over", func(t time.Duration, f *sample.FollowUp) {
			if silent(t) {
				f.Ended = int64(silentTo + took)
			}
		}, nil, ByProber},
		{"there is no way out", nil, func(s *sample.Sample) { fail(s, sample.Local); s.Phase = sample.PhaseConnect }, ByProber},
		{"the control host is fine", fine, nil, ByDeploy},
		{"there is no control host", nil, nil, ByDeploy},
		{"the control host is never reached", func(t time.Duration, f *sample.FollowUp) {
			f.Class, f.Ended = sample.ConnectTimeout, int64(t+2*time.Second)
		}, nil, ByDeploy},
		{"the control host has trouble of its own", fails, func(s *sample.Sample) { answer(s, "v1", "old-1") }, ByDeploy},
		{"the service refuses meanwhile", fails, func(s *sample.Sample) { fail(s, sample.ConnectRefused) }, ByDeploy},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := edgeDeploy()
			w.head.Config.Timeout = config.Duration(time.Second)
			serve := rolling(at(15), at(16))
			w.serve = func(t time.Duration, lane sample.Lane, s *sample.Sample) {
				switch {
				case !silent(t):
					serve(t, lane, s)
				case lane == sample.Fresh && c.fresh != nil:
					c.fresh(s)
				default:
					fail(s, sample.Timeout)
					s.Ended = s.Started + int64(time.Second)
				}
			}
			w.probe(0, at(35))
			if c.control != nil {
				for at := 250 * time.Millisecond; at < 35*time.Second; at += time.Second {
					f := &sample.FollowUp{Kind: "control", Started: int64(at), Ended: int64(at + took)}
					c.control(at, f)
					w.lines = append(w.lines, sample.Line{FollowUp: f})
				}
			}
			a := w.analyse(t)
			n := 0
			for _, f := range a.Failures {
				if f.Lane != string(sample.Kept) {
					continue
				}
				if n++; f.Attribution != c.want {
					t.Fatalf("%s from %v is the %s's (%s: %s), want the %s's", f.Class, f.Started, f.Attribution, f.Reason, f.Evidence, c.want)
				}
			}
			if n < 250 {
				t.Errorf("%d requests of the kept lane failed, want about 300", n)
			}
			if a.Cutover == nil || c.fresh == nil && a.Cutover.Gap != (c.want == ByDeploy) {
				t.Errorf("cutover %+v: a gap is what the deploy made", a.Cutover)
			}
		})
	}
}
