package box

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const ms = config.Duration(time.Millisecond)

// short makes a scene quick: the same order of lengths, a few times smaller.
func short(s Scene) Scene {
	shorten := func(d *config.Duration, to config.Duration) {
		if *d > 0 {
			*d = to
		}
	}
	r := &s.Rollout
	shorten(&r.Build, 100*ms)
	shorten(&r.ReadyDelay, 250*ms)
	shorten(&r.Overlap, 500*ms)
	shorten(&r.PreStop, 800*ms)
	shorten(&r.EndpointLag, 300*ms)
	shorten(&r.Gap, 300*ms)
	s.App.Linger = 2000 * ms // only a kept connection's next request is waited for
	s.Probe.SlowSeconds = 1.5
	r.Drain = min(r.Drain/4, 2500*ms) // below and above the slow requests, as it was
	if s.Name == "app-platform-long-drain" {
		r.Drain = 2500 * ms
	}
	return s
}

// deployUnderLoad runs a scene's rollout under a client's load.
func deployUnderLoad(t *testing.T, s Scene) (Truth, []sample.Signal) {
	t.Helper()
	b, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	pids := func() (list []int) {
		for _, in := range b.instances {
			list = append(list, in.proc.Pid)
		}
		return list
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for _, pid := range pids() {
			if alive(pid) {
				t.Errorf("process %d is left behind", pid)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	loading, stopLoad := context.WithCancel(ctx)
	loaded := make(chan *load, 1)
	go func() { loaded <- runLoad(loading, b) }()
	// Long enough for slow requests to be in flight everywhere.
	if err := sleep(ctx, time.Duration(s.Probe.SlowSeconds*float64(time.Second))); err != nil {
		t.Fatal(err)
	}
	var signals []sample.Signal
	if err := b.Rollout().Run(ctx, func(s sample.Signal) { signals = append(signals, s) }); err != nil {
		t.Errorf("rollout: %v", err)
	}
	if err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "new has answered", func() bool {
		return s.Rollout.Strategy == NoOp || b.Truth().NewFirstAnswer != nil
	})
	stopLoad()
	l := <-loaded
	eventually(t, "the books are closed", func() bool { return b.Truth().InFlight == 0 })
	truth := b.Truth()
	l.agree(t, truth)
	return truth, signals
}

// Every scene drops what it is about, and nothing else.
func TestScenesDropTheirOwnKind(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys every scene")
	}
	slots := make(chan struct{}, 3)
	// "kind" or "kind slow": must be there. A listener that closes while clients
	// still come resets what it has not accepted yet, and a process that ends may
	// cross the next request: how many there are of those is the kernel's choice.
	kinds := map[string]map[string]bool{
		"app-platform":            {"cut slow": true},
		"app-platform-long-drain": {},
		"kubernetes":              {"cut slow": true, "cut": false, "refused": true, "refused slow": false, "crossed": false},
		"kubernetes-no-prestop":   {"refused": true, "refused slow": false, "cut": false, "cut slow": false, "crossed": false},
		"kubernetes-no-graceful":  {"cut slow": true},
		"kubernetes-keepalive":    {"cut": true, "crossed": false},
		"kubernetes-cured":        {},
		"gap":                     {"refused": false, "refused slow": false, "cut": false, "cut slow": false, "crossed": false, "no-instance": true, "no-instance slow": false},
		"no-op":                   {},
	}
	for i, info := range Scenes() {
		want, ok := kinds[info.Name]
		if !ok {
			t.Errorf("no expectation for the scene %s", info.Name)
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Logf("seed %d", i)
			s, err := NewScene(info.Name, int64(i), false)
			if err != nil {
				t.Fatal(err)
			}
			truth, signals := deployUnderLoad(t, short(s))
			got := map[string]int{}
			for _, d := range truth.Drops {
				kind := d.Kind
				if d.Slow {
					kind += " slow"
				}
				got[kind]++
				if !d.ByRollout {
					t.Errorf("%+v is not the rollout's", d)
				}
			}
			for kind, n := range got {
				if _, ok := want[kind]; !ok {
					t.Errorf("%d requests were dropped as %q", n, kind)
				}
			}
			for kind, must := range want {
				if must && got[kind] == 0 {
					t.Errorf("no request was dropped as %q", kind)
				}
			}
			checkCutover(t, s, truth)
			checkSignals(t, signals)
			t.Logf("%d requests, dropped %v", truth.Requests, got)
		})
	}
}

// checkCutover holds the truth's marks to the rollout's strategy.
func checkCutover(t *testing.T, s Scene, truth Truth) {
	t.Helper()
	if s.Rollout.Strategy == NoOp {
		if truth.NewFirstAnswer != nil || truth.Overlap != nil || truth.Drain != nil || len(truth.Stops) > 0 {
			t.Errorf("nothing changed, and the truth says otherwise: overlap %v, drain %v, stops %v", truth.Overlap, truth.Drain, truth.Stops)
		}
		return
	}
	if truth.NewFirstAnswer == nil || truth.Overlap == nil || truth.Drain == nil || len(truth.Stops) != s.Instances {
		t.Fatalf("marks are missing: new's first answer %v, overlap %v, drain %v, stops %v", truth.NewFirstAnswer, truth.Overlap, truth.Drain, truth.Stops)
	}
	if gap := *truth.Overlap < 0; gap != (s.Rollout.Strategy == Recreate) {
		t.Errorf("overlap %v", *truth.Overlap)
	}
	if *truth.Drain < 0 || *truth.LastStop != truth.Stops[len(truth.Stops)-1].At {
		t.Errorf("drain %v, last stop %v of %v", *truth.Drain, *truth.LastStop, truth.Stops)
	}
	cut := 0
	for _, stop := range truth.Stops {
		cut += stop.Cut
	}
	for _, d := range truth.Drops {
		if d.Kind == DropCut {
			cut--
		}
	}
	if cut != 0 {
		t.Errorf("the cuts at the stops are off by %d", cut)
	}
	for _, by := range truth.By {
		if by.Version != s.OldVersion && by.Version != s.NewVersion {
			t.Errorf("answered by %+v", by)
		}
	}
}

func checkSignals(t *testing.T, signals []sample.Signal) {
	t.Helper()
	if len(signals) < 3 {
		t.Fatalf("signals: %+v", signals)
	}
	first, last := signals[0], signals[len(signals)-1]
	if first.Kind != sample.SignalStart || last.Kind != sample.SignalEnd || last.Outcome != sample.Succeeded {
		t.Errorf("signals from %+v to %+v", first, last)
	}
	for _, s := range signals[1 : len(signals)-1] {
		if s.Kind != sample.SignalPhase || s.Name == "" {
			t.Errorf("in between: %+v", s)
		}
	}
}

// A scene's file says all of it, with durations as text.
func TestSceneAsFile(t *testing.T) {
	for _, info := range Scenes() {
		for _, real := range []bool{false, true} {
			s, err := NewScene(info.Name, 7, real)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), `"settle":"`) {
				t.Errorf("durations are not text in %s", text)
			}
			var back Scene
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, back); diff != "" {
				t.Errorf("%s: written (-) and read (+):\n%s", info.Name, diff)
			}
		}
	}
}

// The seed decides, and decides differently.
func TestSceneBySeed(t *testing.T) {
	counts := map[int]bool{}
	for _, info := range Scenes() {
		var ids []string
		for seed := range int64(20) {
			a, errA := NewScene(info.Name, seed, false)
			b, errB := NewScene(info.Name, seed, false)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("%s, seed %d gives two scenes:\n%s", info.Name, seed, diff)
			}
			if a.OldVersion == a.NewVersion || slices.Contains(ids, a.OldVersion) {
				t.Errorf("%s, seed %d: versions %s and %s", info.Name, seed, a.OldVersion, a.NewVersion)
			}
			ids = append(ids, a.OldVersion)
			if a.Front == FrontDirect {
				counts[a.Instances] = true
			}
		}
	}
	if diff := cmp.Diff(map[int]bool{3: true, 4: true, 5: true}, counts); diff != "" {
		t.Errorf("numbers of pods, want (-) and got (+):\n%s", diff)
	}
}

// What makes a scene what it is holds for every seed.
func TestSceneLengthsFit(t *testing.T) {
	for _, real := range []bool{false, true} {
		for _, info := range Scenes() {
			for seed := range int64(200) {
				s, err := NewScene(info.Name, seed, real)
				if err != nil {
					t.Fatal(err)
				}
				r, slow := s.Rollout, config.Duration(s.Probe.SlowSeconds*float64(time.Second))
				bad := func(what string) { t.Errorf("%s, seed %d, real time %v: %s: %+v", info.Name, seed, real, what, s) }
				if r.PreStop > 0 && r.PreStop < r.EndpointLag+500*ms {
					bad("SIGTERM comes before the endpoints are known")
				}
				if r.Strategy == Rolling && config.Duration(s.Instances-1)*r.ReadyDelay < r.EndpointLag+300*ms {
					bad("the last pod stops before new is known")
				}
				if r.Grace < slow+2000*ms {
					bad("the grace cuts slow requests")
				}
				if s.Name == "app-platform" && r.Drain+2000*ms > slow {
					bad("too little is in flight at the end of the drain")
				}
				if s.Name == "app-platform-long-drain" && r.Drain < slow+500*ms {
					bad("the drain is too short")
				}
				if !real && s.Probe.Baseline < 4000*ms {
					bad("the baseline is too short")
				}
			}
		}
	}
}

func TestUnknownScene(t *testing.T) {
	if _, err := NewScene("moon", 1, false); err == nil || !strings.Contains(err.Error(), "kubernetes-cured") {
		t.Errorf("got %v, want an error that names the scenes", err)
	}
}

func TestValidateTellsAll(t *testing.T) {
	s := Scene{Name: "x", Front: "side", Noise: 2, App: App{OnTerm: "never", OldFault: Fault{Kind: "odd"}}}
	err := s.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"front", "app.on_term", "rollout.strategy", "rollout.end", "instances", "new_version", "noise", "grace", "probe.rate", `fault "odd"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
