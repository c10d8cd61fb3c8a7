package sidecar

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/cutwatch/cutwatch/internal/deploy/marker"
)

// realEngine is the engine of this machine. Without one the test is skipped,
// and fails in CI.
func realEngine(t *testing.T) *Engine {
	t.Helper()
	e, err := Dial(t.Context(), Socket)
	if err == nil {
		t.Cleanup(func() { e.Close() })
		return e
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI has a Docker engine: %v", err)
	}
	t.Skipf("it needs a Docker engine: %v", err)
	return nil
}

// later does something when the test is over, whatever became of it.
func later(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := do(ctx); err != nil && !Gone(err) {
			t.Errorf("%s: %v", what, err)
		}
	})
}

// guestImage is an image that holds the guest and nothing else.
func guestImage(t *testing.T, e *Engine, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "guest")
	build := exec.Command("go", "build", "-o", program, "./testdata/guest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	files := tarOf(t, []entry{{"guest", tar.TypeReg, string(data)}, {"tmp/", tar.TypeDir, ""}})
	ref := name + ":test"
	made, err := e.api.ImageImport(t.Context(), client.ImageImportSource{Source: files, SourceName: "-"}, ref, client.ImageImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	_, err = said.ReadFrom(made)
	if closeErr := made.Close(); err == nil {
		err = closeErr
	}
	if err != nil || !strings.Contains(said.String(), "sha256:") {
		t.Fatalf("the image was not made (%v): %s", err, said.String())
	}
	later(t, "the image", func(ctx context.Context) error {
		_, err := e.api.ImageRemove(ctx, ref, client.ImageRemoveOptions{Force: true})
		return err
	})
	return ref
}

// realStep is a container as a runner starts one for a step, on two networks.
// Nothing is sent over them.
func realStep(t *testing.T, e *Engine, name, workspace string) (id string, env []string) {
	t.Helper()
	ref := guestImage(t, e, name)
	for _, n := range []string{name + "-a", name + "-b"} {
		if _, err := e.api.NetworkCreate(t.Context(), n, client.NetworkCreateOptions{Internal: true}); err != nil {
			t.Fatal(err)
		}
		later(t, "the network", func(ctx context.Context) error {
			_, err := e.api.NetworkRemove(ctx, n, client.NetworkRemoveOptions{})
			return err
		})
	}
	env = []string{"GITHUB_ACTION=" + name, "INPUT_SLOW-URL=http://h/slow"}
	step, err := e.api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
		Name: name + "-step",
		Config: &container.Config{
			Image: ref, Env: env, Entrypoint: []string{"/guest"}, Cmd: []string{"wait"}, Labels: map[string]string{name: "runner"},
		},
		HostConfig: &container.HostConfig{NetworkMode: container.NetworkMode(name + "-a"), Binds: []string{workspace + ":/github/workspace"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	later(t, "the step", (&Probe{ID: step.ID, engine: e}).Remove)
	if _, err := e.api.NetworkConnect(t.Context(), name+"-b", client.NetworkConnectOptions{Container: step.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.api.ContainerStart(t.Context(), step.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	return step.ID, env
}

// The whole life of a probe's container on a real engine.
func TestRealEngine(t *testing.T) {
	e := realEngine(t)
	b := make([]byte, 4)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	name := "cutwatch-sidecar-" + hex.EncodeToString(b)
	workspace := t.TempDir()
	stepID, env := realStep(t, e, name, workspace)

	self, err := e.FindSelf(t.Context(), Place{Environ: append(env, "PATH=/bin", "HOSTNAME="+stepID[:12]), Hostname: stepID[:12]}, "/github/workspace")
	if err != nil {
		t.Fatal(err)
	}
	if self.ID != stepID || self.Workspace != workspace || !self.OwnNetwork() {
		t.Fatalf("self is %+v", self)
	}
	if other, err := e.FindSelf(t.Context(), Place{Environ: env}, ""); err != nil || other.ID != stepID {
		t.Errorf("without a candidate: %+v, %v", other, err)
	}

	key := Key{Run: name, Attempt: "1", Job: "deploy", Workspace: self.Workspace, ID: "web"}
	task := marker.Task{Inputs: map[string]string{"headers": "Authorization: Bearer s3cret"}, Strict: true}
	p, err := e.Start(t.Context(), self, Options{Key: key, Command: []string{"/guest", "probe", Dir}, Task: task})
	if err != nil {
		t.Fatal(err)
	}
	later(t, "the probe", p.Remove)
	checkReal(t, e, p, name)
	steerReal(t, p)

	dir := t.TempDir()
	files, err := p.Fetch(t.Context(), dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "samples.ndjson.zst")); err != nil || !strings.Contains(string(data), "s3cret") {
		t.Errorf("the task did not arrive: %q, %v", data, err)
	}
	if found, err := e.Find(t.Context(), key); err != nil || len(found) != 1 || found[0].ID != p.ID || found[0].Running || found[0].Key != key {
		t.Errorf("found %+v, %v", found, err)
	}
	anywhere := key
	anywhere.Workspace = ""
	if found, err := e.Find(t.Context(), anywhere); err != nil || len(found) != 1 {
		t.Errorf("in any workspace: %+v, %v", found, err)
	}
	if err := p.Signal(t.Context(), "SIGINT"); err != nil {
		t.Errorf("a signal for one that has ended: %v", err)
	}
	for range 2 {
		if err := p.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if found, err := e.Find(t.Context(), key); err != nil || len(found) != 0 {
		t.Errorf("after its removal: %+v, %v", found, err)
	}
}

// checkReal looks at the container as the engine has it.
func checkReal(t *testing.T, e *Engine, p *Probe, name string) {
	t.Helper()
	got, err := e.api.ContainerInspect(t.Context(), p.ID, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var networks []string
	for n := range got.Container.NetworkSettings.Networks {
		networks = append(networks, n)
	}
	if len(networks) != 2 || got.Container.HostConfig.AutoRemove || got.Container.Config.Labels[name] != "runner" {
		t.Errorf("networks %q, labels %v", networks, got.Container.Config.Labels)
	}
	if bytes.Contains(got.Raw, []byte("s3cret")) {
		t.Error("a secret shows in the container's settings")
	}
}

// steerReal waits for the ready mark, leaves the stop mark and waits for the end.
func steerReal(t *testing.T, p *Probe) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ready marker.Ready
	for ok := false; !ok; time.Sleep(20 * time.Millisecond) {
		var err error
		if ok, err = p.Read(ctx, marker.ReadyFile, &ready); err != nil && ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if ready.Requests != 330 {
		t.Errorf("the ready mark is %+v", ready)
	}
	if ok, err := p.Read(ctx, marker.GoFile, &ready); ok || err != nil {
		t.Errorf("a mark that is not there: %v, %v", ok, err)
	}
	var lines []string
	followed := make(chan error, 1)
	go func() { followed <- p.Follow(ctx, time.Time{}, func(s string) { lines = append(lines, s) }) }()
	if err := p.Mark(ctx, marker.StopFile, marker.Stop{Outcome: marker.Success}); err != nil {
		t.Fatal(err)
	}
	if code, err := p.Wait(ctx); code != 5 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if err := <-followed; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"the baseline is in", fmt.Sprintf("told {%q:%q}", "outcome", "success")}, lines); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
