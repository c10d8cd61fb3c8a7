package deploy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func mustCommand(t *testing.T, out *bytes.Buffer, argv ...string) *Command {
	t.Helper()
	c, err := NewCommand(argv, CommandIO{Stdout: out, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandOutcome(t *testing.T) {
	tests := []struct {
		name    string
		script  string
		outcome string
		message string
		out     string
	}{
		{"success", "echo hi; echo err >&2", sample.Succeeded, "COMMAND exited with 0", "hi\nerr\n"},
		{"exit code", "exit 7", sample.Failed, "COMMAND exited with 7", ""},
		{"signal", "kill -KILL $$", sample.Failed, "COMMAND was ended by a signal (killed)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			var got []sample.Signal
			c := mustCommand(t, &out, "sh", "-c", tt.script)
			if err := c.Run(t.Context(), func(s sample.Signal) { got = append(got, s) }); err != nil {
				t.Fatal(err)
			}
			want := []sample.Signal{
				{Kind: sample.SignalStart, Name: "command-started"},
				{Kind: sample.SignalEnd, Name: "command-ended", Outcome: tt.outcome, Message: tt.message},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("signals (-want +got):\n%s", d)
			}
			if out.String() != tt.out {
				t.Errorf("output %q, want %q", out.String(), tt.out)
			}
		})
	}
}

func TestCommandArgumentsAreNotForAShell(t *testing.T) {
	var out bytes.Buffer
	c := mustCommand(t, &out, "echo", "$HOME; exit 3", "a b")
	if err := c.Run(t.Context(), func(sample.Signal) {}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "$HOME; exit 3 a b\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestNewCommandRefuses(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{nil, {""}, {"no-such-program-anywhere"}, {plain}, {t.TempDir()}} {
		if _, err := NewCommand(argv, CommandIO{}); err == nil || !strings.Contains(err.Error(), "COMMAND") {
			t.Errorf("NewCommand(%q) = %v, want an error about COMMAND", argv, err)
		}
	}
}

// runUntilReady runs script, which prints a line when it is ready, and ends it
// with stop then. It returns the end signal and how long the end took.
func runUntilReady(t *testing.T, c *Command, ready *os.File, ctx context.Context, stop func()) (sample.Signal, time.Duration) {
	t.Helper()
	began := make(chan struct{})
	go func() {
		defer close(began)
		b := make([]byte, 1)
		if _, err := ready.Read(b); err != nil {
			t.Error(err)
		}
	}()
	var end sample.Signal
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, func(s sample.Signal) { end = s }) }()
	<-began
	from := time.Now()
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return end, time.Since(from)
}

func pipeCommand(t *testing.T, script string) (*Command, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	c, err := NewCommand([]string{"sh", "-c", script}, CommandIO{Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func TestCommandIsSentTheSignalOfTheInterrupt(t *testing.T) {
	c, ready := pipeCommand(t, `trap 'exit 42' INT; echo ready; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancelCause(t.Context())
	end, _ := runUntilReady(t, c, ready, ctx, func() { cancel(Interrupt{syscall.SIGINT}) })
	if end.Outcome != sample.Unknown || !strings.Contains(end.Message, "exited with 42") {
		t.Errorf("end = %+v, want unknown with the exit code of its trap", end)
	}
}

func TestCommandThatIgnoresTheEndIsKilledWithItsGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	c, ready := pipeCommand(t, `trap '' TERM; (trap '' TERM; sleep 60) & echo $! >`+pidFile+`; echo ready; while :; do sleep 0.05; done`)
	c.grace = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	end, took := runUntilReady(t, c, ready, ctx, cancel)
	if took < c.grace || took > 10*time.Second {
		t.Errorf("ended after %v, want soon after the grace of %v", took, c.grace)
	}
	if !strings.Contains(end.Message, "killed") {
		t.Errorf("message %q does not say that it was killed", end.Message)
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, strings.TrimSpace(string(b)))
}

// waitGone waits until no process of that number runs (a zombie has ended).
func waitGone(t *testing.T, pid string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s still runs: %s", pid, b)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestCommandTimesOut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var end sample.Signal
	c := mustCommand(t, &bytes.Buffer{}, "sleep", "60")
	if err := c.Run(ctx, func(s sample.Signal) { end = s }); err != nil {
		t.Fatal(err)
	}
	if end.Outcome != sample.TimedOut {
		t.Errorf("end = %+v, want timed-out", end)
	}
}

func TestBackgroundProcessThatHoldsTheOutputDoesNotHangTheRun(t *testing.T) {
	var end sample.Signal
	c := mustCommand(t, &bytes.Buffer{}, "sh", "-c", "sleep 20 & exit 0")
	from := time.Now()
	if err := c.Run(t.Context(), func(s sample.Signal) { end = s }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(from); took > 15*time.Second {
		t.Errorf("took %v", took)
	}
	if end.Outcome != sample.Succeeded {
		t.Errorf("end = %+v, want succeeded", end)
	}
}

func TestCommandIsNotStartedWhenTheRunIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := mustCommand(t, &bytes.Buffer{}, "true")
	err := c.Run(ctx, func(s sample.Signal) { t.Errorf("signal %+v", s) })
	if err == nil {
		t.Error("no error")
	}
}
