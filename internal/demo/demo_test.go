package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/turns"
)

func TestMain(m *testing.M) {
	box.MaybeRunApp()
	os.Exit(m.Run())
}

const (
	// seedsEnv is how many seeds of every scene are played; one unless set.
	seedsEnv = "CUTWATCH_DEMO_SEEDS"
	// firstSeedEnv is the first of them, 1 unless set.
	firstSeedEnv = "CUTWATCH_DEMO_FIRST_SEED"
	// atOnceEnv is how many demos are played side by side, atOnce unless set.
	// One takes about an eighth of a core, nearly all of it waiting.
	atOnceEnv = "CUTWATCH_DEMO_AT_ONCE"
	atOnce    = 4
	// excuse is in the demo's own words that a disagreement may be the machine's.
	excuse = "This machine was busy"
)

func number(t *testing.T, env string, otherwise int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

// The judgement of every scene agrees with the box's record.
func TestDemoScenes(t *testing.T) {
	if testing.Short() {
		t.Skip("plays every scene, a minute in all")
	}
	t.Parallel()
	type play struct {
		scene string
		seed  int
	}
	plays := make(chan play)
	sideBySide := number(t, atOnceEnv, atOnce)
	room := turns.New(sideBySide)
	var workers sync.WaitGroup
	for range sideBySide { // t.Parallel would take as many as there are cores
		workers.Go(func() {
			for p := range plays {
				t.Run(p.scene+"/seed="+strconv.Itoa(p.seed), func(t *testing.T) { playScene(t, p.scene, int64(p.seed), room) })
			}
		})
	}
	first := number(t, firstSeedEnv, 1)
	for seed := first; seed < first+number(t, seedsEnv, 1); seed++ {
		for _, s := range box.Scenes() {
			plays <- play{s.Name, seed}
		}
	}
	close(plays)
	workers.Wait()
}

// playScene plays a scene until the judgement agrees with the record.
func playScene(t *testing.T, name string, seed int64, room *turns.Room) {
	t.Helper()
	wrong := room.Play(t, func() (wrong string, spoiled bool) {
		code, shown, r := playOnce(t, name, seed)
		return disagreement(code, shown, wrongDiagnosis(name, r)), strings.Contains(shown, excuse)
	})
	if wrong != "" {
		t.Error(wrong)
	}
}

// disagreement is what was shown, where something is wrong with it.
func disagreement(code int, shown, wrong string) string {
	if code == 0 && wrong == "" {
		return ""
	}
	return fmt.Sprintf("exit code %d; %s\n%s", code, wrong, shown)
}

// result is what the tests read of result.json.
type result struct {
	Cutover *struct {
		OverlapMS float64 `json:"overlap_ms"`
		Drain     struct {
			Exact bool `json:"exact"`
		} `json:"drain_ms"`
	} `json:"cutover"`
	Failures []struct {
		Lane   string `json:"lane"`
		Reason string `json:"reason"`
	} `json:"failures"`
	Diagnosis []diagnosis `json:"diagnosis"`
}

type diagnosis struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Cure     string `json:"cure"`
}

// diagnoses is what each scene lacks, as the diagnosis has to name it: all of
// it, and nothing else.
var diagnoses = map[string][]string{
	"app-platform":            {"drain-too-short"},
	"app-platform-long-drain": {},
	"kubernetes":              {"keepalive-not-closed", "no-prestop", "not-graceful"},
	"kubernetes-no-prestop":   {"no-prestop"},
	"kubernetes-no-graceful":  {"not-graceful"},
	"kubernetes-keepalive":    {"keepalive-not-closed"},
	"kubernetes-cured":        {},
	"gap":                     {"gap"},
	"no-op":                   {},
}

// wrongDiagnosis says what of a scene's diagnosis is not as it has to be; "" if all is.
func wrongDiagnosis(scene string, r result) string {
	want, known := diagnoses[scene]
	if !known {
		return "the scene " + scene + " has no diagnosis to compare with"
	}
	var got []string
	for _, d := range r.Diagnosis {
		if d.Severity == "error" {
			got = append(got, d.Code)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("diagnosed %v, want %v", got, want)
	}
	switch scene {
	case "app-platform":
		for _, f := range r.Failures {
			if f.Lane != "slow" || f.Reason != "cut-at-stop" {
				return fmt.Sprintf("a failure of lane %s by %s, want slow requests cut at the stop alone", f.Lane, f.Reason)
			}
		}
		if !r.Cutover.Drain.Exact || !strings.Contains(r.Diagnosis[0].Cure, "termination.drain_seconds") {
			return fmt.Sprintf("drain exact %v, cure %q", r.Cutover.Drain.Exact, r.Diagnosis[0].Cure)
		}
	case "gap":
		if r.Cutover.OverlapMS >= -100 {
			return fmt.Sprintf("overlap %v ms, want a gap", r.Cutover.OverlapMS)
		}
	case "no-op":
		if r.Cutover != nil || !slices.ContainsFunc(r.Diagnosis, func(d diagnosis) bool { return d.Code == "no-change" }) {
			return "want no cutover, and no-change"
		}
	}
	return ""
}

func playOnce(t *testing.T, name string, seed int64) (code int, shown string, r result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	dir, begin := t.TempDir(), time.Now()
	code, err := Run(ctx, Options{
		Scene: name, Seed: seed, ReportDir: dir, Version: "test",
		Progress: true, Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if took := time.Since(begin); took > 40*time.Second {
		t.Errorf("it took %v, want at most 40 s", took)
	}
	if !strings.Contains(stdout.String(), "The box's own record of "+name) {
		t.Errorf("no comparison in\n%s", stdout.String())
	}
	data, err := os.ReadFile(filepath.Join(dir, run.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), r
}

func TestListNamesEveryScene(t *testing.T) {
	var b bytes.Buffer
	if err := List(&b); err != nil {
		t.Fatal(err)
	}
	for _, s := range box.Scenes() {
		if !strings.Contains(b.String(), s.Name+" ") || !strings.Contains(b.String(), s.Summary) {
			t.Errorf("%s is not in\n%s", s.Name, b.String())
		}
	}
}

func TestUnknownSceneIsBadInput(t *testing.T) {
	_, err := Run(t.Context(), Options{Scene: "moon"})
	var bad *config.InputError
	if !errors.As(err, &bad) || bad.Input != "scene" || !strings.Contains(bad.Problem, "kubernetes-cured") {
		t.Errorf("got %v, want an error of the input scene that names the scenes", err)
	}
}

// Through App Platform's API, and several times: the judgement of every deploy
// agrees with the box's record, and the last one's lone failure is nobody's deploy's.
func TestDemoOnAPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("plays two deploys and a control period, 45 s")
	}
	t.Parallel() // nearly all of it is waiting
	wrong := turns.New(1).Play(t, func() (wrong string, spoiled bool) {
		code, shown, r := playSeries(t)
		return disagreement(code, shown, wrongSeries(r)), strings.Contains(shown, excuse)
	})
	if wrong != "" {
		t.Error(wrong)
	}
}

func playSeries(t *testing.T) (code int, shown string, r report.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	dir := t.TempDir()
	code, err := Run(ctx, Options{
		Scene: "app-platform", Seed: 1, Platform: "digitalocean", Repeat: 2, Tail: 2 * time.Second,
		ReportDir: dir, Version: "test", Progress: true, Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	data, err := os.ReadFile(filepath.Join(dir, run.ResultFile))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), r
}

// wrongSeries says what of a series' result is not as it has to be; "" if all is.
func wrongSeries(r report.Result) string {
	if r.Control == nil || r.Control.Requests.Failed > 0 || len(r.Runs) != 2 {
		return fmt.Sprintf("control %v, %d runs", r.Control, len(r.Runs))
	}
	for i, one := range r.Runs {
		if one.Requests.Deploy == 0 || one.Requests.Background != i || one.Requests.Failed != one.Requests.Deploy+i {
			return fmt.Sprintf("deploy %d: %+v, want cut requests, and %d of the background's", i+1, one.Requests, i)
		}
		for _, f := range one.Failures {
			if f.Lane != "slow" && f.Attribution == "deploy" {
				return fmt.Sprintf("deploy %d lost the fast request %s", i+1, f.ID)
			}
		}
	}
	if ids := (&played{out: &run.Outcome{Result: &r}}).followed(); len(ids) != 2 || ids[0] == ids[1] {
		return "the deploys do not name their deployments"
	}
	return ""
}

func TestPlatformOfAnotherSceneIsBadInput(t *testing.T) {
	_, err := Run(t.Context(), Options{Scene: "kubernetes", Platform: "digitalocean"})
	var bad *config.InputError
	if !errors.As(err, &bad) || bad.Input != "platform" {
		t.Errorf("got %v, want an error of the input platform", err)
	}
}
