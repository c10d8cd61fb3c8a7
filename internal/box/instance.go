package box

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// instance is one app process.
type instance struct {
	id, version string
	isNew       bool   // not of the generation that was there at the start
	gen         string // genOld, genNew or genOther; set once it accepts

	addr   string
	proc   *os.Process
	stdin  io.WriteCloser
	exited chan struct{} // closed once the process is gone and waited for
	exitAt time.Time     // valid after exited
	stood  atomic.Int64  // nanoseconds: the longest that the process stood still
}

// startInstance starts an app and returns once it accepts. When ctx is done
// before, the app is killed.
func startInstance(ctx context.Context, cfg appConfig, isNew bool) (*instance, error) {
	in := &instance{id: cfg.Instance, version: cfg.Version, isNew: isNew, exited: make(chan struct{})}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("box: find the own binary: %w", err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("box: write the app's configuration: %w", err)
	}
	cmd := exec.Command(exe, "box-app", cfg.Instance)
	// Nothing of the parent's environment: no secret of its. Under the race
	// detector an exit would take a second. On a second processor an app would
	// only look for work in vain, beside all the others.
	cmd.Env = []string{appEnv + "=" + string(text), "GORACE=atexit_sleep_ms=0", "GOMAXPROCS=1"}
	cmd.SysProcAttr = dieWithParent()
	ready := make(chan error, 1)
	go in.run(ctx, cmd, ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("box: start app %s: %w", cfg.Instance, err)
	}
	return in, nil
}

// run starts the process, tells on ready whether it accepts, and waits for
// its end. It keeps to one thread throughout: the kernel sends the parent's
// death signal when the thread that started the child ends.
func (in *instance) run(ctx context.Context, cmd *exec.Cmd, ready chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(in.exited)

	var stderr bytes.Buffer
	cmd.Stderr = &limitedWriter{w: &stderr, left: 4096}
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		ready <- err
		return
	}
	if err := cmd.Start(); err != nil {
		ready <- err
		return
	}
	in.proc, in.stdin = cmd.Process, stdin

	disarm := context.AfterFunc(ctx, in.kill)
	told := json.NewDecoder(stdout)
	var hello appReady
	readErr := told.Decode(&hello)
	inTime := disarm()
	in.addr = hello.Address
	ok := readErr == nil && inTime
	if ok {
		ready <- nil
		in.heed(told)
	} else {
		in.kill()
	}
	waitErr := cmd.Wait()
	in.exitAt = time.Now()
	if !ok {
		ready <- fmt.Errorf("it did not say where it listens: %w: %s", errors.Join(readErr, waitErr, context.Cause(ctx)), stderr.String())
	}
}

// heed takes note of the app's stalls until its output ends.
func (in *instance) heed(told *json.Decoder) {
	for {
		var s appStall
		if told.Decode(&s) != nil { // at the latest when the process is gone
			return
		}
		in.stood.Store(max(in.stood.Load(), int64(s.Stood)))
	}
}

// notifyDrain tells the app that it will be stopped. An app that is gone
// already needs no notice.
func (in *instance) notifyDrain() {
	if _, err := io.WriteString(in.stdin, drainNotice+"\n"); err != nil {
		return
	}
}

// terminate sends SIGTERM; a process that is gone already is no error.
func (in *instance) terminate() { in.signal(syscall.SIGTERM) }

func (in *instance) kill() { in.signal(syscall.SIGKILL) }

func (in *instance) signal(s syscall.Signal) {
	if err := in.proc.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		// The process is our own child and the signal is valid.
		panic(fmt.Sprintf("box: signal %v to %s: %v", s, in.id, err))
	}
}

// gone tells whether the process has ended.
func (in *instance) gone() bool {
	select {
	case <-in.exited:
		return true
	default:
		return false
	}
}

// limitedWriter keeps the first bytes and drops the rest.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	if _, err := l.w.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}
