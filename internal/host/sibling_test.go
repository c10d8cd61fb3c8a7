package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host/enginetest"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// world is a step's container on an engine in memory, and what goes on there.
type world struct {
	*enginetest.Engine
	Surroundings
	env   map[string]string
	notes []string
	lines []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	workspace := t.TempDir()
	t.Chdir(workspace) // as a runner starts a step
	w := &world{Engine: enginetest.New(t), env: map[string]string{
		"DIGITALOCEAN_API_URL": "https://api.example", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "deploy", "GITHUB_WORKSPACE": workspace, "RUNNER_TEMP": t.TempDir(),
	}}
	w.Add(&enginetest.Container{
		Name:   "step",
		Config: container.Config{Env: []string{"STEP=1"}, Labels: map[string]string{"runner": "abc"}},
		Host:   container.HostConfig{NetworkMode: "job-net", ExtraHosts: []string{"db:10.0.0.1"}}, Networks: []string{"job-net", "second-net"},
		Mounts: []container.MountPoint{{Source: "/work/repo", Destination: workspace}},
	})
	w.Surroundings = Surroundings{
		Getenv: func(name string) string { return w.env[name] },
		Place:  sidecar.Place{Environ: []string{"PATH=/bin", "STEP=1"}},
		Socket: w.Engine.Socket, Program: "/usr/local/bin/cutwatch",
	}
	return w
}

func (w *world) log() Log {
	return Log{Note: func(s string) { w.notes = append(w.notes, s) }, Probe: func(s string) { w.lines = append(w.lines, s) }}
}

// start starts a probe with those inputs.
func (w *world) start(t *testing.T, inputs map[string]string) (Probe, error) {
	t.Helper()
	get := func(name string) string { return inputs[name] }
	cfg, err := config.FromInputs(get)
	if err != nil {
		t.Fatal(err)
	}
	return w.StartSibling(t.Context(), cfg, get, w.log())
}

func put(t *testing.T, c *enginetest.Container, name string, mark any) {
	t.Helper()
	data, err := json.Marshal(mark)
	if err != nil {
		t.Error(err)
	}
	c.Put(sidecar.Dir+"/"+name, data)
}

// behave has started containers be probes whose baseline is in at once, and
// which record a run and end when they are told that the deploy is over.
func (w *world) behave(t *testing.T) {
	t.Helper()
	samples := record(t)
	w.OnStart = func(c *enginetest.Container) {
		put(t, c, marker.BegunFile, marker.Begun{At: time.Now(), ReportDir: "of-start", MaxDuration: time.Hour})
		c.Print("the baseline\n")
		put(t, c, marker.ReadyFile, marker.Ready{Requests: 330, Versions: []string{"v1"}})
		c.Put(sidecar.ReportDir+"/"+run.SamplesFile, samples)
	}
	w.OnFile = func(c *enginetest.Container, name string) {
		if name == sidecar.Dir+"/"+marker.StopFile {
			c.Print("the cutover ##[error]x\n")
			c.Exit(0)
		}
	}
}

// record is a samples file of a short run.
func record(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), run.SamplesFile)
	if err := sampletest.Write(path, sampletest.Options{Samples: 5000}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSiblingFromStartToFinish(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/", "id": "web", "headers": "Authorization: Bearer s3cret", "rate": "50/s"})
	if err != nil {
		t.Fatal(err)
	}
	c := w.Containers()[1]
	checkSibling(t, c)
	ready, err := AwaitReady(t.Context(), p, w.log())
	if err != nil || ready.Requests != 330 {
		t.Fatalf("ready %+v, %v", ready, err)
	}
	found, err := w.Find(t.Context(), "web", true, w.log())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Find(t.Context(), "api", true, w.log()); !errors.Is(err, ErrNoProbe) {
		t.Errorf("another id: %v", err)
	}
	out, dir, err := w.Collect(t.Context(), found, Finishing{Outcome: marker.Success, ReportDir: config.Default().ReportDir}, w.log())
	if err != nil {
		t.Fatal(err)
	}
	if out.Result == nil || dir != "of-start" {
		t.Errorf("folder %s, want that of the start", dir)
	}
	for _, name := range []string{run.SamplesFile, run.ResultFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(w.lines, `the cutover ##\x5berror]x`) {
		t.Errorf("log %q lacks the probe's line, made safe", w.lines)
	}
	if n := len(w.Containers()); n != 1 {
		t.Errorf("%d containers are left, want the step's own", n)
	}
	if _, err := w.Find(t.Context(), "web", true, w.log()); !errors.Is(err, ErrNoProbe) {
		t.Errorf("after the finish: %v", err)
	}
}

// checkSibling looks at how a probe's container is made.
func checkSibling(t *testing.T, c *enginetest.Container) {
	t.Helper()
	wantLabels := map[string]string{
		"runner": "abc", "cutwatch.run": "7", "cutwatch.attempt": "1", "cutwatch.job": "deploy", "cutwatch.workspace": "/work/repo", "cutwatch.id": "web",
	}
	if diff := cmp.Diff(wantLabels, c.Config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"job-net", "second-net"}, c.Networks); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	if c.Host.AutoRemove || c.Host.NetworkMode != "job-net" || !slices.Equal(c.Host.ExtraHosts, []string{"db:10.0.0.1"}) {
		t.Errorf("host config %+v", c.Host)
	}
	if !strings.HasPrefix(c.Config.Image, "sha256:") || !slices.Equal(c.Config.Entrypoint, []string{"/usr/local/bin/cutwatch"}) ||
		!slices.Equal(c.Config.Cmd, []string{"probe", sidecar.Dir}) || !strings.HasPrefix(c.Name, "cutwatch-web-") {
		t.Errorf("config %+v, name %s", c.Config, c.Name)
	}
	settings, err := json.Marshal([]any{c.Config, c.Host, c.Name})
	if err != nil || strings.Contains(string(settings), "s3cret") {
		t.Errorf("a secret shows in the container's settings (%v): %s", err, settings)
	}
	var task marker.Task
	data, _ := c.File(sidecar.Dir + "/" + marker.TaskFile)
	if err := json.Unmarshal(data, &task); err != nil {
		t.Fatal(err)
	}
	want := marker.Task{Strict: true, ReportDir: "cutwatch-report", Environment: map[string]string{"DIGITALOCEAN_API_URL": "https://api.example", "GITHUB_RUN_ID": "7"}, Inputs: map[string]string{
		"url": "http://h/", "id": "web", "headers": "Authorization: Bearer s3cret", "rate": "50/s", "report-dir": sidecar.ReportDir,
	}}
	if diff := cmp.Diff(want, task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
}

func TestFilesOfTheInputsComeAlong(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	for name, text := range map[string]string{"ca.pem": "-----BEGIN CERTIFICATE-----\n", "old/1/result.json": "{}", "old/2/deep/result.json": "[]", "old/2/other.json": "no"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.start(t, map[string]string{"url": "http://h/", "ca-cert": "ca.pem", "history": "old"}); err != nil {
		t.Fatal(err)
	}
	c := w.Containers()[1]
	var task marker.Task
	data, _ := c.File(sidecar.Dir + "/" + marker.TaskFile)
	if err := json.Unmarshal(data, &task); err != nil {
		t.Fatal(err)
	}
	if task.Inputs["ca-cert"] != "-----BEGIN CERTIFICATE-----\n" || task.Inputs["history"] != sidecar.Earlier {
		t.Errorf("inputs %v", task.Inputs)
	}
	for name, want := range map[string]string{"1/result.json": "{}", "3/result.json": "[]"} {
		if got, _ := c.File(sidecar.Earlier + "/" + name); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

func isInputError(err error) bool {
	_, ok := errors.AsType[*config.InputError](err)
	return ok
}

func TestStartTwice(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	inputs := map[string]string{"url": "http://h/", "id": "web"}
	if _, err := w.start(t, inputs); err != nil {
		t.Fatal(err)
	}
	if _, err := w.start(t, inputs); !isInputError(err) || !strings.Contains(err.Error(), `a probe with the id "web" was started before in this job`) {
		t.Errorf("error %v", err)
	}
	if _, err := w.start(t, map[string]string{"url": "http://h/", "id": "api"}); err != nil {
		t.Errorf("another id: %v", err)
	}
	if n := len(w.Containers()); n != 3 {
		t.Errorf("%d containers, want the step's and two probes", n)
	}
	// Under act every job is the same run: what is there was left.
	w.env["ACT"] = "true"
	if _, err := w.start(t, inputs); err != nil || len(w.Containers()) != 3 {
		t.Errorf("under act: %v, %d containers", err, len(w.Containers()))
	}
}

func TestLeftoversOfOtherJobsAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	w.env["GITHUB_RUN_ID"] = "6"
	if _, err := w.start(t, map[string]string{"url": "http://h/"}); err != nil {
		t.Fatal(err)
	}
	old := w.Containers()[1]
	w.env["GITHUB_RUN_ID"] = "7"
	if _, err := w.start(t, map[string]string{"url": "http://h/", "id": "other"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.Containers(), old) {
		t.Error("a probe of another id was removed")
	}
	if _, err := w.start(t, map[string]string{"url": "http://h/"}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.Containers(), old) || !strings.Contains(strings.Join(w.notes, "\n"), "removing a probe that an earlier job left: ") {
		t.Errorf("the leftover is still there, or nothing was said: %q", w.notes)
	}
}
