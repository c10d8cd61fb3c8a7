package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
)

// probeAt is a probe on this machine that has begun.
func probeAt(t *testing.T) Local {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "marks")
	if err := MakeMarksFolder(dir); err != nil {
		t.Fatal(err)
	}
	leave(t, dir, marker.BegunFile, marker.Begun{At: time.Now(), ReportDir: dir, MaxDuration: time.Hour})
	l, ok := FindLocal(dir)
	if !ok {
		t.Fatal("the probe is not found")
	}
	return l
}

func leave(t *testing.T, dir, name string, mark any) {
	t.Helper()
	if err := marker.Write(dir, name, mark); err != nil {
		t.Fatal(err)
	}
}

func TestWaitForAProbeOnThisMachine(t *testing.T) {
	t.Run("that ends", func(t *testing.T) {
		l := probeAt(t)
		leave(t, l.Dir, marker.DoneFile, marker.Done{ExitCode: 3})
		if code, err := l.Wait(t.Context()); code != 3 || err != nil {
			t.Errorf("code %d, %v", code, err)
		}
	})
	t.Run("that was killed", func(t *testing.T) {
		l := probeAt(t)
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(filepath.Join(l.Dir, marker.BegunFile), old, old); err != nil {
			t.Fatal(err)
		}
		if code, err := l.Wait(t.Context()); code != -1 || err != nil {
			t.Errorf("code %d, %v", code, err)
		}
	})
	t.Run("whose folder is gone", func(t *testing.T) {
		l := probeAt(t)
		if err := os.RemoveAll(l.Dir); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("that goes on", func(t *testing.T) {
		l := probeAt(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := l.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestFollowShowsWholeLines(t *testing.T) {
	l := probeAt(t)
	path := filepath.Join(l.Dir, logFile)
	if err := os.WriteFile(path, []byte("one\ntwo\nthr"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := l.Follow(t.Context(), time.Time{}, func(line string) {
		got = append(got, line)
		if line == "two" { // the rest comes while it is being read
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("ee\n")
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error(err)
			}
			leave(t, l.Dir, marker.DoneFile, marker.Done{})
		}
	})
	if err != nil || !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("lines %q, %v", got, err)
	}
}

// sleeper is a probe whose process sleeps.
func sleeper(t *testing.T) Local {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "marks")
	if err := MakeMarksFolder(dir); err != nil {
		t.Fatal(err)
	}
	l, err := StartLocal(dir, []string{"sh", "-c", `trap 'echo told >"$0/told"; printf "{}" >"$0/done.json"; exit' INT; echo began; while :; do sleep 0.05; done`}, marker.Task{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the process's first line", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, logFile))
		return err == nil && string(text) == "began\n"
	})
	return l
}

func await(t *testing.T, what string, true func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !true(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestProcessInTheBackground(t *testing.T) {
	l := sleeper(t)
	if !l.Alive() {
		t.Fatal("it does not count as alive")
	}
	if err := l.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "its end", func() bool { return !l.Alive() })
	if _, err := os.Stat(filepath.Join(l.Dir, "told")); err != nil {
		t.Errorf("it was not told: %v", err)
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there (%v)", err)
	}
}

func TestRemoveEndsAProcess(t *testing.T) {
	l := sleeper(t)
	if err := l.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there (%v)", err)
	}
}

func TestSecondProbeOfAnIDIsRefused(t *testing.T) {
	s := at(map[string]string{"GITHUB_RUN_ID": "7", "RUNNER_TEMP": t.TempDir()})
	dir, err := s.OpenMarks("web")
	if err != nil {
		t.Fatal(err)
	}
	leave(t, dir, marker.BegunFile, marker.Begun{})
	cfg := config.Default()
	cfg.ID = "web"
	_, processErr := s.StartProcess(cfg, nil)
	_, stepErr := s.OpenMarks("web")
	for _, err := range []error{processErr, stepErr} {
		if _, bad := errors.AsType[*config.InputError](err); !bad {
			t.Errorf("error %v, want one of the input id", err)
		}
	}
	leave(t, dir, marker.DoneFile, marker.Done{})
	if _, err := s.OpenMarks("web"); err != nil {
		t.Errorf("after its end: %v", err)
	}
	if _, ok := FindLocal(dir); ok {
		t.Error("the marks of the first are still there")
	}
}

func TestAwaitReady(t *testing.T) {
	t.Run("the baseline is in", func(t *testing.T) {
		l := probeAt(t)
		leave(t, l.Dir, marker.ReadyFile, marker.Ready{Requests: 5})
		ready, err := AwaitReady(t.Context(), l, silent)
		if err != nil || ready.Requests != 5 {
			t.Errorf("%+v, %v", ready, err)
		}
	})
	t.Run("it ends before", func(t *testing.T) {
		l := probeAt(t)
		leave(t, l.Dir, marker.DoneFile, marker.Done{ExitCode: 3})
		_, err := AwaitReady(t.Context(), l, silent)
		if ended, ok := errors.AsType[Ended](err); !ok || ended.ExitCode != 3 {
			t.Errorf("error %v", err)
		}
	})
	t.Run("it has ended since", func(t *testing.T) {
		l := probeAt(t)
		leave(t, l.Dir, marker.ReadyFile, marker.Ready{Requests: 5})
		leave(t, l.Dir, marker.DoneFile, marker.Done{})
		if _, err := AwaitReady(t.Context(), l, silent); !errors.Is(err, Ended{}) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("told to stop", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := AwaitReady(ctx, probeAt(t), silent); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestWhatItSaw(t *testing.T) {
	for _, tt := range []struct {
		ready marker.Ready
		want  string
	}{
		{marker.Ready{Requests: 3300, Failed: 2, Versions: []string{"v1"}, Instances: []string{"a", "b"}},
			"the baseline is in: 3,300 requests, 2 failed; 1 version answered: v1; 2 instances answered: a, b"},
		{marker.Ready{Requests: 1}, "the baseline is in: 1 request, 0 failed; no answer named a version"},
		{marker.Ready{Versions: []string{"1", "2", "3", "4", "5", "6\n::error::"}}, "the baseline is in: 0 requests, 0 failed; 6 versions answered: 1, 2, 3, 4, 5, …"},
	} {
		if got := WhatItSaw(tt.ready); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
