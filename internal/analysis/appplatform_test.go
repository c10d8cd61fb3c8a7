package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// onAppPlatform is a deploy that App Platform tells of: its build from 11 s on,
// its instances from 13 s on, ACTIVE when it is told.
func onAppPlatform(active time.Duration, change func(*sample.Platform)) *world {
	w := newWorld()
	w.head.Deploy = "digitalocean"
	facts := &sample.Platform{Kind: "digitalocean", App: "shop", Component: "web", DrainSeconds: ptr(3), GracePeriodSeconds: ptr(120), InstanceCount: ptr(1), HealthCheck: "tcp"}
	if change != nil {
		change(facts)
	}
	w.lines = append(w.lines, sample.Line{Platform: facts})
	w.signal(at(10), sample.SignalBaseline, "baseline-in", "")
	for _, g := range []sample.Signal{
		{At: int64(at(10.5)), Kind: sample.SignalNote, Name: "trigger deploy"},
		{At: int64(at(11)), Kind: sample.SignalPhase, Name: "BUILDING", Deployment: "d1"},
		{At: int64(active), Kind: sample.SignalEnd, Name: "ACTIVE", Outcome: sample.Succeeded, Deployment: "d1"},
		{At: int64(at(13)), Kind: sample.SignalStart, Name: "DEPLOYING", Deployment: "d1"},
	} {
		g.Source = "digitalocean"
		w.lines = append(w.lines, sample.Line{Signal: &g})
	}
	w.serve = rolling(at(15), at(17))
	w.end(at(35), sample.EndComplete)
	return w
}

func finding(a *Analysis, code string) *Finding {
	for i := range a.Findings {
		if a.Findings[i].Code == code {
			return &a.Findings[i]
		}
	}
	return nil
}

func holds(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q\nwant in it: %q", text, w)
		}
	}
}

// The window begins with the phase that changes instances: a failure in the build
// is not the deploy's.
func TestABuildIsNoPartOfTheDeploy(t *testing.T) {
	w := onAppPlatform(at(18), nil)
	noise(w, bad502, row(at(11.5), 3)...)
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, 3, ByBackground, ReasonOutsideWindow)
	if d := a.Deploy; d.Started == nil || *d.Started != at(13) || d.Window.From != at(13) || d.Outcome != sample.Succeeded {
		t.Errorf("deploy = %+v", d)
	}
	if p := a.Platform; p == nil || p.DeploymentID != "d1" || p.App != "shop" {
		t.Errorf("platform = %+v", p)
	}
	var names []string
	for _, g := range a.Deploy.Signals {
		names = append(names, g.Name)
	}
	if got := strings.Join(names, ", "); got != "trigger deploy, BUILDING, DEPLOYING, ACTIVE" {
		t.Errorf("signals: %s; want them in order of time", got)
	}
}

// A deploy of which only the end is known began no earlier than that.
func TestADeployThatFailedInItsBuild(t *testing.T) {
	w := newWorld()
	w.signal(at(10), sample.SignalBaseline, "baseline-in", "")
	w.signal(at(11), sample.SignalPhase, "BUILDING", "")
	w.signal(at(20), sample.SignalEnd, "ERROR", sample.Failed)
	w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { answer(s, "v1", "old-1") }
	noise(w, bad502, row(at(12), 1)...)
	w.end(at(35), sample.EndComplete)
	w.probe(0, at(35))
	a := w.analyse(t)
	only(t, a, 1, ByBackground, ReasonOutsideWindow)
	if d := a.Deploy; *d.Started != at(20) || *d.Ended != at(20) || d.Window.From != at(20) {
		t.Errorf("deploy = %+v", d)
	}
}

func TestAppPlatformsWords(t *testing.T) {
	w := onAppPlatform(at(18), nil)
	w.probe(0, at(35))
	slowOverEdge(w)
	a := w.analyse(t)
	drain := finding(a, "drain-too-short")
	if drain == nil || drain.Paste == nil {
		t.Fatalf("diagnosis = %+v", a.Findings)
	}
	holds(t, drain.Cure, "termination.drain_seconds: 6 in the app spec (it is 3 now)", "up to 3.0 s longer", "grace_period_seconds (120 now)")
	holds(t, strings.Join(drain.Paste.Lines, "\n"), "termination:\n  drain_seconds: 6\n  grace_period_seconds: 120")
	if f := finding(a, "config-drift"); f != nil {
		t.Errorf("a drain as configured: %+v", f)
	}
	holds(t, finding(a, "platform-active").Summary, "ACTIVE 2.0 s before old's stop")
	holds(t, finding(a, "platform-active").Evidence, "drain measured 3.0 s, configured 3.0 s")
}

func TestActiveAfterOldsStop(t *testing.T) {
	w := onAppPlatform(at(21.5), nil)
	w.probe(0, at(35))
	slowOverEdge(w)
	holds(t, finding(w.analyse(t), "platform-active").Summary, "ACTIVE 1.5 s after old's stop")
}

func TestConfigDrift(t *testing.T) {
	for _, tt := range []struct {
		name         string
		drain, grace int
		want         string // "": none
	}{
		{"as configured", 3, 120, ""},
		{"an app that takes some of its grace", 1, 5, ""},
		{"stopped too early", 15, 120, "before the 15.0 s of termination.drain_seconds were over"},
		{"stopped too late", 1, 0, "beyond drain_seconds and grace_period_seconds together (1.0 s)"},
	} {
		w := onAppPlatform(at(18), func(p *sample.Platform) { p.DrainSeconds, p.GracePeriodSeconds = &tt.drain, &tt.grace })
		w.probe(0, at(35))
		slowOverEdge(w)
		f := finding(w.analyse(t), "config-drift")
		switch {
		case (f != nil) != (tt.want != ""):
			t.Errorf("%s: %+v", tt.name, f)
		case f != nil:
			holds(t, f.Summary, tt.want)
		}
	}
	// Without a cut only the least of the drain is known: no drift by that.
	w := onAppPlatform(at(18), func(p *sample.Platform) { p.DrainSeconds = ptr(15) })
	w.probe(0, at(35))
	if f := finding(w.analyse(t), "config-drift"); f != nil {
		t.Errorf("a drain of which only the least is known: %+v", f)
	}
}

func TestGapOnAppPlatform(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*sample.Platform)
		cure   []string
		lines  string
	}{
		{"one instance, an open port is ready", nil, []string{"instance_count: 2", "costs as much again", "now an open port is taken for that"}, "instance_count: 2"},
		{"two, and a path", func(p *sample.Platform) { p.InstanceCount, p.HealthCheck = ptr(2), "http /" }, []string{"have health_check.http_path answer only when"}, "http_path"},
		{"autoscaling from one", func(p *sample.Platform) { p.Autoscaling = true }, []string{"two instances"}, "min_instance_count: 2"},
	} {
		w := onAppPlatform(at(18), tt.change)
		w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
			switch {
			case t < at(15):
				answer(s, "v1", "old-1")
			case t < at(16):
				failStatus(s, 504, sample.ByEdge)
			default:
				answer(s, "v2", "new-1")
			}
		}
		w.probe(0, at(35))
		f := finding(w.analyse(t), "gap")
		if f == nil || f.Paste == nil {
			t.Errorf("%s: %+v", tt.name, f)
			continue
		}
		holds(t, f.Cure, tt.cure...)
		holds(t, strings.Join(f.Paste.Lines, "\n"), tt.lines)
	}
}

func TestAReusedBuild(t *testing.T) {
	w := onAppPlatform(at(18), nil)
	w.lines = append(w.lines, sample.Line{Signal: &sample.Signal{At: int64(at(11.5)), Kind: sample.SignalNote, Source: "digitalocean", Name: "build-reused", Deployment: "d1"}})
	w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { answer(s, "v1", "old-1") }
	w.probe(0, at(35))
	f := finding(w.analyse(t), "no-change")
	if f == nil {
		t.Fatal("not found")
	}
	holds(t, f.Evidence, "reused an earlier build")
	holds(t, f.Cure, "--force-rebuild")
}

func TestNoChangeByTrigger(t *testing.T) {
	for _, tt := range []struct{ trigger, instance, cure string }{
		{"deploy", "old-1", "or give trigger: rebuild"},
		{"restart", "old-1", "--force-rebuild"},
		{"restart", "", "say where in instance-from"},
	} {
		w := onAppPlatform(at(18), nil)
		w.head.Config.Trigger = tt.trigger
		w.serve = func(_ time.Duration, _ sample.Lane, s *sample.Sample) { answer(s, "v1", tt.instance) }
		w.probe(0, at(35))
		f := finding(w.analyse(t), "no-change")
		if f == nil {
			t.Fatalf("%+v: not found", tt)
		}
		holds(t, f.Cure, tt.cure)
	}
}

func TestASilentPlatform(t *testing.T) {
	for _, back := range []bool{true, false} {
		w := onAppPlatform(at(18), nil)
		w.lines = append(w.lines, sample.Line{Signal: &sample.Signal{At: int64(at(14)), Kind: sample.SignalNote, Source: "digitalocean", Name: "api-lost", Message: "status 524"}})
		want := "from 0:14.0 to the end"
		if back {
			w.signal(at(17.5), sample.SignalNote, "api-back", "")
			want = "from 0:14.0 until 0:17.5"
		}
		w.probe(0, at(35))
		f := finding(w.analyse(t), "platform-silent")
		if f == nil {
			t.Fatal("not found")
		}
		holds(t, f.Summary, want)
		holds(t, f.Evidence, "status 524")
	}
}
