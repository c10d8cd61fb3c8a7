package host

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host/enginetest"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
	"github.com/cutwatch/cutwatch/internal/run"
)

func TestStartWhereItCannot(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*world)
		input bool // the user can do something about it
		want  string
	}{
		{"no socket", func(w *world) { w.Surroundings.Socket += "x" }, true, "mode: run"},
		{"no engine", func(w *world) { w.Stop() }, true, "mode: run"},
		{"not in a container of this engine", func(w *world) { w.Place.Environ = []string{"OTHER=1"} }, true, "mode: run"},
		{"an engine that refuses to list", func(w *world) { w.Fail("GET list", 500) }, false, "told to fail"},
		{"an engine that refuses to make it", func(w *world) { w.Fail("POST create", 403) }, false, "does not make the probe's container"},
		{"an engine that refuses to start it", func(w *world) { w.Fail("POST start", 500) }, false, "cannot be started"},
		{"an engine that refuses the network", func(w *world) { w.Fail("POST connect", 404) }, false, "cannot be started"},
		{"an engine that refuses files", func(w *world) { w.Fail("PUT archive", 500) }, false, "cannot be started"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.behave(t)
			tt.spoil(w)
			_, err := w.start(t, map[string]string{"url": "http://h/"})
			if err == nil || isInputError(err) != tt.input || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			if n := len(w.Containers()); n != 1 {
				t.Errorf("%d containers are left", n)
			}
		})
	}
}

func TestEngineThatGoesAway(t *testing.T) {
	t.Run("before the baseline is in", func(t *testing.T) {
		w := newWorld(t)
		p, err := w.start(t, map[string]string{"url": "http://h/"})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, w.Stop)
		if _, err := AwaitReady(t.Context(), p, w.log()); err == nil {
			t.Error("no error")
		}
	})
	t.Run("while the end is waited for", func(t *testing.T) {
		w := newWorld(t)
		w.behave(t)
		p, err := w.start(t, map[string]string{"url": "http://h/"})
		if err != nil {
			t.Fatal(err)
		}
		w.OnFile = func(*enginetest.Container, string) { time.AfterFunc(20*time.Millisecond, w.Stop) }
		_, _, err = w.Collect(t.Context(), p, Finishing{ReportDir: "report"}, w.log())
		if err == nil || isInputError(err) {
			t.Errorf("error %v", err)
		}
	})
}

func TestProbeThatDied(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	c := w.Containers()[1]
	samples, _ := c.File(sidecar.ReportDir + "/" + run.SamplesFile)
	c.Put(sidecar.ReportDir+"/"+run.SamplesFile, samples[:len(samples)/2])
	c.Exit(137)
	out, _, err := w.Collect(t.Context(), p, Finishing{Outcome: marker.Success, ReportDir: "report"}, w.log())
	if err != nil {
		t.Fatal(err)
	}
	if v := out.Verdict; v.ExitCode != 3 || v.Reasons[0].Code != "probe-died" {
		t.Errorf("verdict %+v", v)
	}
	if !slices.Contains(w.notes, "the probe was killed; what it recorded until then is judged") || len(w.Containers()) != 1 {
		t.Errorf("notes %q, %d containers", w.notes, len(w.Containers()))
	}
}

// Where the record cannot be written, the verdict still stands.
func TestRecordThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	judged := 0
	out, dir, err := w.Collect(t.Context(), p, Finishing{
		Outcome: marker.Success, ReportDir: "file/report", Policy: func(c *config.Config) { judged++; c.ExpectVersion = "v9" },
	}, w.log())
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Requests.Total == 0 || out.Verdict.ExitCode == 0 || judged != 1 {
		t.Errorf("%d requests, verdict %+v, judged %d times", out.Result.Requests.Total, out.Verdict, judged)
	}
	said := strings.Join(w.notes, "\n")
	if !strings.Contains(said, "the probe's record is judged, and lost: report-dir: ") || !strings.Contains(said, "the result cannot be written to") {
		t.Errorf("notes %q", w.notes)
	}
	if got := Paths(dir, dir); len(got) > 0 || len(w.Containers()) != 1 {
		t.Errorf("paths %q, %d containers", got, len(w.Containers()))
	}
}

func TestProbeThatDiedBeforeItRecorded(t *testing.T) {
	w := newWorld(t)
	w.OnStart = func(c *enginetest.Container) { c.Print("cutwatch: a fault\n"); c.Exit(70) }
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = AwaitReady(t.Context(), p, w.log())
	if ended, ok := errors.AsType[Ended](err); !ok || ended.ExitCode != 70 || !slices.Equal(w.lines, []string{"cutwatch: a fault"}) {
		t.Errorf("error %v, lines %q", err, w.lines)
	}
	if _, _, err = w.Collect(t.Context(), p, Finishing{ReportDir: "report"}, w.log()); err == nil || !strings.Contains(err.Error(), "recorded nothing") {
		t.Errorf("error %v", err)
	}
	if n := len(w.Containers()); n != 1 {
		t.Errorf("%d containers are left", n)
	}
}

func TestCancelledFinishInterruptsTheProbe(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.OnFile = func(*enginetest.Container, string) { cancel() }
	var signals []string
	w.OnSignal = func(c *enginetest.Container, s string) {
		signals = append(signals, s)
		c.Exit(3)
	}
	out, _, err := w.Collect(ctx, p, Finishing{ReportDir: "report"}, w.log())
	if err != nil || out == nil {
		t.Fatalf("no judgement: %v", err)
	}
	if !slices.Equal(signals, []string{"SIGINT"}) || len(w.Containers()) != 1 {
		t.Errorf("signals %q, %d containers", signals, len(w.Containers()))
	}
}

func TestProbeBeyondItsMaximumIsStopped(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, w.Containers()[1], marker.BegunFile, marker.Begun{At: time.Now().Add(-2 * time.Hour), MaxDuration: time.Hour})
	w.OnFile = nil
	w.OnSignal = func(c *enginetest.Container, s string) { c.Exit(3) }
	if _, _, err := w.Collect(t.Context(), p, Finishing{ReportDir: "report"}, w.log()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(w.notes, "\n"), "max-duration is over: the probe is stopped") {
		t.Errorf("notes %q", w.notes)
	}
}

func TestSkippedDeployRemovesTheProbe(t *testing.T) {
	w := newWorld(t)
	w.behave(t)
	p, err := w.start(t, map[string]string{"url": "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Dismiss(t.Context(), p); err != nil || len(w.Containers()) != 1 {
		t.Errorf("error %v, %d containers", err, len(w.Containers()))
	}
}

func TestLoopbackIsAskedOfTheEngine(t *testing.T) {
	cfg := config.Default()
	cfg.URL = "http://localhost:3000/"
	for _, tt := range []struct {
		mode    string
		refused bool
	}{{"job-net", true}, {"default", true}, {"bridge", true}, {"host", false}, {"container:abc", false}} {
		w := newWorld(t)
		w.Containers()[0].Host.NetworkMode = container.NetworkMode(tt.mode)
		if err := w.CheckLoopback(t.Context(), cfg); isInputError(err) != tt.refused {
			t.Errorf("network %s: error %v", tt.mode, err)
		}
	}
	for _, tt := range []struct {
		hostname  string
		dockerenv bool
		refused   bool
	}{{"0123456789ab", true, true}, {"runner-1", true, false}, {"0123456789ab", false, false}} {
		w := newWorld(t)
		w.Stop()
		w.Place.Hostname, w.Dockerenv = tt.hostname, tt.dockerenv
		if err := w.CheckLoopback(t.Context(), cfg); isInputError(err) != tt.refused {
			t.Errorf("no engine, %+v: error %v", tt, err)
		}
	}
}
