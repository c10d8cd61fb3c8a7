package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy/marker"
)

// Local is a probe on this machine, whose marks are in a folder: a process of
// its own or another step.
type Local struct {
	Dir string
	// Died is how old the last sign of life is before the probe counts as dead.
	Died time.Duration
}

// DeadAfter is how long a living probe may give no sign of life: a starved
// machine is slow.
const DeadAfter = 30 * time.Second

var _ Probe = Local{}

// logFile is what a process in the background prints.
const logFile = "log"

// FindLocal finds the probe of a marks folder; false where none began there.
func FindLocal(dir string) (Local, bool) {
	_, err := os.Stat(filepath.Join(dir, marker.BegunFile))
	return Local{Dir: dir, Died: DeadAfter}, err == nil
}

// StartLocal starts program as a process that outlives this one, with the marks
// folder as its last argument.
func StartLocal(dir string, program []string, task marker.Task) (Local, error) {
	if err := marker.Write(dir, marker.TaskFile, task); err != nil {
		return Local{}, err
	}
	if err := marker.Write(dir, marker.BegunFile, marker.Begun{At: time.Now().UTC()}); err != nil {
		return Local{}, err
	}
	out, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return Local{}, err
	}
	defer out.Close()
	cmd := exec.Command(program[0], append(program[1:], dir)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Local{}, fmt.Errorf("the probe cannot be started: %w", err)
	}
	l := Local{Dir: dir, Died: DeadAfter}
	if err := marker.Write(dir, pidFile, cmd.Process.Pid); err != nil {
		return l, errors.Join(err, cmd.Process.Kill())
	}
	return l, cmd.Process.Release()
}

// Mark leaves a mark in the folder.
func (l Local) Mark(_ context.Context, name string, mark any) error {
	return marker.Write(l.Dir, name, mark)
}

// Read reads a mark in the folder.
func (l Local) Read(_ context.Context, name string, mark any) (bool, error) {
	return marker.Read(l.Dir, name, mark)
}

// Wait waits for the done mark, or until no sign of life has come for long.
func (l Local) Wait(ctx context.Context) (int, error) {
	ticker := time.NewTicker(marker.Poll)
	defer ticker.Stop()
	for {
		var done marker.Done
		if ok, err := marker.Read(l.Dir, marker.DoneFile, &done); ok || err != nil {
			return done.ExitCode, err
		}
		info, err := os.Stat(filepath.Join(l.Dir, marker.BegunFile))
		if errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("the folder of the probe's marks, %s, is gone", l.Dir)
		}
		if err != nil {
			return 0, err
		}
		if time.Since(info.ModTime()) > l.Died {
			return -1, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-ticker.C:
		}
	}
}

// Follow passes on the whole log of a process; another step has its own.
func (l Local) Follow(ctx context.Context, _ time.Time, line func(string)) error {
	from := int64(0)
	ticker := time.NewTicker(marker.Poll)
	defer ticker.Stop()
	for {
		// Whether it has ended is asked first, so that its last lines are read.
		_, err := os.Stat(filepath.Join(l.Dir, marker.DoneFile))
		ended := err == nil
		if from, err = l.more(from, line); err != nil {
			return err
		}
		if ended || ctx.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// more passes on the whole lines behind an offset and returns the next one.
func (l Local) more(from int64, line func(string)) (int64, error) {
	f, err := os.Open(filepath.Join(l.Dir, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return from, nil
	}
	if err != nil {
		return from, err
	}
	defer f.Close()
	b := make([]byte, 256<<10)
	n, err := f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return from, err
	}
	text := string(b[:n])
	whole := strings.LastIndexByte(text, '\n') + 1
	for one := range strings.Lines(text[:whole]) {
		line(strings.TrimRight(one, "\n"))
	}
	return from + int64(whole), nil
}

// pidFile holds the process's number, where it is one of its own.
const pidFile = "pid"

// Interrupt sends a process SIGINT; a step in the background is told that the
// deploy is over.
func (l Local) Interrupt(ctx context.Context) error {
	sent, err := l.signal(syscall.SIGINT)
	if err != nil || sent {
		return err
	}
	return l.Mark(ctx, marker.StopFile, marker.Stop{})
}

// signal signals the process, and tells whether there is one of its own.
func (l Local) signal(s syscall.Signal) (bool, error) {
	var pid int
	ok, err := marker.Read(l.Dir, pidFile, &pid)
	if err != nil || !ok || pid <= 1 {
		return false, err
	}
	if !l.Alive() {
		return true, nil // the number may be another's by now
	}
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return true, err
	}
	return true, nil
}

// Alive tells whether the probe runs, by its last sign of life.
func (l Local) Alive() bool {
	if _, err := os.Stat(filepath.Join(l.Dir, marker.DoneFile)); err == nil {
		return false
	}
	info, err := os.Stat(filepath.Join(l.Dir, marker.BegunFile))
	return err == nil && time.Since(info.ModTime()) <= l.Died
}

// Fetch has nothing to bring: the record is written in its place.
func (l Local) Fetch(context.Context, string) error { return nil }

// removeGrace is how long a process has to end by itself.
const removeGrace = 5 * time.Second

// Remove ends a process that still runs, and removes the marks.
func (l Local) Remove(ctx context.Context) error {
	if l.Alive() {
		if sent, err := l.signal(syscall.SIGINT); err != nil {
			return err
		} else if sent {
			ctx, cancel := context.WithTimeout(ctx, removeGrace)
			defer cancel()
			if _, err := l.Wait(ctx); err != nil {
				_, err = l.signal(syscall.SIGKILL)
				if err != nil {
					return err
				}
			}
		}
	}
	return os.RemoveAll(l.Dir)
}
