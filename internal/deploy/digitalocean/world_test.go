package digitalocean_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/box/appapi"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// world is the platform, the service on it, and who deploys.
type world struct {
	scene   scene
	api     *appapi.API
	cfg     *config.Config
	entered map[string]time.Time // the phases of the first deployment, on our clock
	mu      sync.Mutex
	ready   time.Time // the baseline is in
}

func newWorld(t *testing.T, s scene) *world {
	w := &world{scene: s, entered: map[string]time.Time{}}
	o := s.api
	o.App, o.Others, o.Token, o.Deploy = appapi.App{Name: "shop"}, []string{"blog"}, token, w.play
	var err error
	if w.api, err = appapi.Start(o); err != nil {
		t.Fatal(err)
	}
	// The service is what the platform says is active.
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("X-Version", w.api.Active()) }))
	t.Cleanup(func() {
		server.Close()
		if err := w.api.Close(); err != nil {
			t.Error(err)
		}
	})
	w.api.SetLiveURL(server.URL)
	if s.before != nil {
		s.before(w.api)
	}
	w.cfg = config.Default()
	for name, value := range map[string]string{
		"url": server.URL, "baseline": "1500ms", "on-inconclusive": "warn", "settle": "0s", "tail": "0s", "cutover-timeout": "10s", "timeout": "1m", "connections": "2",
		"platform": config.PlatformDigitalOcean, "trigger": s.trigger, "app": "shop", "digitalocean-token": token, "report-dir": t.TempDir(),
	} {
		if err := w.cfg.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) getenv(name string) string {
	if name == digitalocean.URLVariable {
		return w.api.URL()
	}
	return ""
}

// play takes a deployment through the scene's script, and notes the phases.
func (w *world) play(ctx context.Context, d *appapi.Deployment) {
	for _, s := range w.scene.deploy {
		w.api.Play(ctx, d, []appapi.Step{s})
		w.mu.Lock()
		w.entered[d.Phase()] = time.Now()
		w.mu.Unlock()
	}
}

// baselineIsIn has the faults and the others begin.
func (w *world) baselineIsIn(run.Seen) {
	w.ready = time.Now()
	for _, f := range w.scene.faults {
		w.api.Break(f)
	}
	if w.scene.push != nil && w.scene.after == "" {
		w.api.Push(*w.scene.push, w.play)
	}
}

// heard is the source, and what it said.
type heard struct {
	*digitalocean.Source
	world   *world
	began   time.Time
	signals []sample.Signal
}

func (h *heard) StartedAt(start time.Time) {
	h.began = start
	h.world.began(start)
	h.Source.StartedAt(start)
}

func (h *heard) Run(ctx context.Context, emit deploy.Emit) error {
	return h.Source.Run(ctx, func(g sample.Signal) {
		h.signals = append(h.signals, g)
		if s := h.world.scene; s.push != nil && g.Name == s.after {
			h.world.api.Push(*s.push, h.world.play)
		}
		emit(g)
	})
}

// began has the phases' times be counted from the run's start.
func (w *world) began(start time.Time) { w.entered["run"] = start }

// checkSignals compares what was told with what happened.
func (w *world) checkSignals(t *testing.T, signals []sample.Signal) {
	t.Helper()
	s := w.scene
	phases, notes := w.split(signals)
	if s.phases != nil && !w.sawAll(phases) {
		t.Errorf("phases, want (-), told (+):\n%s", cmp.Diff(s.phases, phases))
	}
	for _, n := range s.notes {
		if !slices.Contains(notes, n) && !w.stalled() {
			t.Errorf("%q was not told, only %q", n, notes)
		}
	}
	if s.failed != "" {
		return
	}
	last := signals[len(signals)-1]
	if last.Kind != sample.SignalEnd || last.Outcome != s.outcome {
		t.Fatalf("it ends with %+v, want the outcome %s", last, s.outcome)
	}
	for _, text := range s.message {
		if !strings.Contains(last.Message, text) {
			t.Errorf("the end says %q, want %q in it", last.Message, text)
		}
	}
	if want := w.api.Deployments()[s.follows]; last.Deployment != want {
		t.Errorf("deployment %s is told of, want %s", last.Deployment, want)
	}
	w.checkTimes(t, signals)
}

// stalled tells whether the machine was too busy to look once in every phase.
func (w *world) stalled() bool {
	longest, last := time.Duration(0), time.Time{}
	for _, r := range w.api.Record() {
		if last.After(w.ready) {
			longest = max(longest, r.At.Sub(last))
		}
		last = r.At
	}
	return longest >= step
}

// sawAll tells whether the phases told are those that were. On a machine too busy
// to look once in every phase, some may be missing, but the last.
func (w *world) sawAll(phases []string) bool {
	want := w.scene.phases
	if slices.Equal(phases, want) {
		return true
	}
	if !w.stalled() || len(phases) == 0 || phases[len(phases)-1] != want[len(want)-1] {
		return false
	}
	for _, p := range phases {
		at := slices.Index(want, p)
		if at < 0 {
			return false
		}
		want = want[at+1:]
	}
	return true
}

// split is the phases that were told, and all other names.
func (w *world) split(signals []sample.Signal) (phases, notes []string) {
	known := []string{
		appapi.Unknown, appapi.PendingBuild, appapi.Building, appapi.PendingDeploy, appapi.Deploying,
		appapi.Active, appapi.Superseded, appapi.Failed, appapi.Canceled,
	}
	for _, g := range signals {
		if slices.Contains(known, g.Name) {
			phases = append(phases, g.Name)
		} else {
			notes = append(notes, g.Name)
		}
	}
	return phases, notes
}

// checkTimes holds the start and the end to the times at which they were. A Date
// header tells whole seconds, so that a clock is known to a second at best.
func (w *world) checkTimes(t *testing.T, signals []sample.Signal) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range signals {
		at, known := w.entered[g.Name]
		if !known || w.scene.follows != 1 || g.Kind == sample.SignalNote {
			continue
		}
		if off := time.Duration(g.At) - at.Sub(w.entered["run"]); off.Abs() > 1500*time.Millisecond {
			t.Errorf("%s is told %v off its time", g.Name, off)
		}
	}
}
