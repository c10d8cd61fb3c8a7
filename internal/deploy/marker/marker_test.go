package marker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// play runs a source in dir beside what others do, and returns its signals and
// its error. The time is that of a synctest bubble.
func play(t *testing.T, ctx context.Context, s *Source, others func()) ([]sample.Signal, error) {
	t.Helper()
	var got []sample.Signal
	go others()
	err := s.Run(ctx, func(g sample.Signal) { got = append(got, g) })
	synctest.Wait()
	return got, err
}

func mark(t *testing.T, dir, name string, m any) {
	t.Helper()
	if err := Write(dir, name, m); err != nil {
		t.Error(err)
	}
}

var ignoreWords = cmpopts.IgnoreFields(sample.Signal{}, "Message", "Name")

func TestStrictSourceBeginsAtOnceAndEndsAsTold(t *testing.T) {
	for _, tt := range []struct{ word, outcome string }{
		{Success, sample.Succeeded}, {Failure, sample.Failed}, {Cancelled, sample.Failed}, {"", sample.Unknown},
	} {
		t.Run("outcome "+tt.word, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := New(dir, true, nil)
				s.Saw(Ready{Requests: 300, Versions: []string{"v1"}}, 7)
				var ready Ready
				got, err := play(t, t.Context(), s, func() {
					time.Sleep(time.Minute)
					if ok, err := Read(dir, ReadyFile, &ready); !ok || err != nil {
						t.Errorf("the ready mark: %v, %v", ok, err)
					}
					mark(t, dir, StopFile, Stop{Outcome: tt.word})
				})
				if err != nil {
					t.Fatal(err)
				}
				want := []sample.Signal{{Kind: sample.SignalStart}, {Kind: sample.SignalEnd, Outcome: tt.outcome}}
				if diff := cmp.Diff(want, got, ignoreWords); diff != "" {
					t.Errorf("signals (-want +got):\n%s", diff)
				}
				if ready.Requests != 300 || ready.At.IsZero() || len(ready.Versions) != 1 {
					t.Errorf("the ready mark is %+v", ready)
				}
			})
		})
	}
}

func TestUnsureSource(t *testing.T) {
	const baseline = 4 * int64(time.Second)
	for _, tt := range []struct {
		name  string
		marks func(t *testing.T, dir string)
		want  []sample.Signal
	}{
		{"go, then stop", func(t *testing.T, dir string) {
			mark(t, dir, GoFile, Go{})
			time.Sleep(time.Second)
			mark(t, dir, StopFile, Stop{Outcome: Success})
		}, []sample.Signal{{Kind: sample.SignalStart}, {Kind: sample.SignalEnd, Outcome: sample.Succeeded}}},
		{"stop alone: it began with the baseline's end", func(t *testing.T, dir string) {
			mark(t, dir, StopFile, Stop{})
		}, []sample.Signal{{Kind: sample.SignalStart, At: baseline}, {Kind: sample.SignalEnd, Outcome: sample.Unknown}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := New(dir, false, nil)
				s.Saw(Ready{}, baseline)
				got, err := play(t, t.Context(), s, func() { time.Sleep(time.Second); tt.marks(t, dir) })
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got, ignoreWords); diff != "" {
					t.Errorf("signals (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestSourceEndsWithItsContext(t *testing.T) {
	for _, tt := range []struct {
		name   string
		strict bool
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		want   []sample.Signal
	}{
		{"a deploy that takes too long", true, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		}, []sample.Signal{{Kind: sample.SignalStart}, {Kind: sample.SignalEnd, Outcome: sample.TimedOut}}},
		{"a run that is stopped", true, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		}, []sample.Signal{{Kind: sample.SignalStart}}},
		{"a run without a deploy", false, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				got, err := play(t, ctx, New(dir, tt.strict, nil), func() {})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got, ignoreWords); diff != "" {
					t.Errorf("signals (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestSkippedDeployEndsTheRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, skip := context.WithCancelCause(t.Context())
		got, err := play(t, ctx, New(dir, false, skip), func() { mark(t, dir, StopFile, Stop{Outcome: Skipped}) })
		if err != nil || len(got) != 0 {
			t.Errorf("signals %v, error %v; want none", got, err)
		}
		if !errors.Is(context.Cause(ctx), ErrSkipped) {
			t.Errorf("the run's cause is %v", context.Cause(ctx))
		}
	})
}

// A copy into a container is not written whole at once.
func TestHalfAMarkIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		got, err := play(t, t.Context(), New(dir, true, nil), func() {
			half(t, dir, `{"outc`)
			time.Sleep(2 * time.Second)
			half(t, dir, `{"outcome":"success"}`)
		})
		if err != nil || len(got) != 2 || got[1].Outcome != sample.Succeeded {
			t.Errorf("signals %v, error %v", got, err)
		}
	})
}

func TestMarkThatStaysBrokenIsAnError(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, err := play(t, t.Context(), New(dir, true, nil), func() { half(t, dir, `{"outc`) })
		if err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("error %v", err)
		}
	})
}

func half(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, StopFile), []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

func TestSourceWithoutItsFolder(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "gone"), true, nil)
	if err := s.Run(t.Context(), func(sample.Signal) {}); err == nil {
		t.Error("no error, though nobody can be told that the baseline is in")
	}
}

func TestTaskIsTakenOnceAndForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	want := Task{Inputs: map[string]string{"headers": "Authorization: Bearer s3cret"}, Strict: true, ReportDir: "r"}
	mark(t, dir, TaskFile, want)
	info, err := os.Stat(filepath.Join(dir, TaskFile))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the task's mode is %v, want 0600: it holds secrets", info.Mode())
	}
	var got Task
	if ok, err := Take(dir, &got); !ok || err != nil {
		t.Fatalf("Take: %v, %v", ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if ok, err := Take(dir, &got); ok || err != nil {
		t.Errorf("taken again: %v, %v", ok, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCheckOutcome(t *testing.T) {
	for _, good := range []string{"", Success, Failure, Cancelled, Skipped} {
		if err := CheckOutcome(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"Success", "true", "canceled", "${{ steps.deploy.outcome }}", strings.Repeat("x", 5000)} {
		err := CheckOutcome(bad)
		if err == nil || !strings.Contains(err.Error(), "success, failure, cancelled or skipped") || len(err.Error()) > 300 {
			t.Errorf("%.50q: %v", bad, err)
		}
	}
}

func TestKeepAliveTouchesTheBegunMark(t *testing.T) {
	dir := t.TempDir()
	mark(t, dir, BegunFile, Begun{})
	old := time.Now().Add(-time.Hour)
	path := filepath.Join(dir, BegunFile)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	KeepAlive(ctx, dir, func(err error) { t.Error(err) }) // at once, before its first wait
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > time.Minute {
		t.Errorf("touched at %v (%v)", info.ModTime(), err)
	}
}

// A probe that nobody can finish any more does not go on for an hour.
func TestKeepAliveSeesThatTheMarksAreGone(t *testing.T) {
	ctx, gone := context.WithCancelCause(t.Context())
	KeepAlive(ctx, filepath.Join(t.TempDir(), "removed"), gone)
	if !errors.Is(context.Cause(ctx), ErrGone) {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
}
