//go:build linux

package fronts

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
)

func TestMain(m *testing.M) {
	box.MaybeRunApp()
	os.Exit(m.Run())
}

// patience bounds every wait for something that should happen soon.
const patience = 15 * time.Second

// need finds a program of the system's.
func need(t *testing.T, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} { // a user's PATH may lack it
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI must not leave this test out", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// server is a front: a process in the foreground, and its children, in a
// process group of their own.
type server struct {
	proc   *os.Process
	exited chan struct{} // closed once the process is gone and waited for
	err    error         // how it ended; valid after exited
	said   lockedBuffer  // what it wrote on standard error
}

// spawn starts a server; out takes its standard output, nil for nobody. The
// kernel tells it to end should this process end first.
func spawn(out *os.File, path string, args ...string) (*server, error) {
	s := &server{exited: make(chan struct{})}
	cmd := exec.Command(path, args...)
	cmd.Stderr = &s.said
	if out != nil {
		cmd.Stdout = out
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error, 1)
	go func() {
		// The death that is watched for is that of this thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.exited)
		err := cmd.Start()
		s.proc = cmd.Process
		started <- err
		if err == nil {
			s.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return s, nil
}

// end asks the server to finish what it has in hand and to leave, so that its
// log is complete. It fails the test where something of it is left afterwards.
func (s *server) end(t *testing.T, how syscall.Signal) {
	t.Helper()
	if err := s.proc.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal to %d: %v", s.proc.Pid, err)
	}
	select {
	case <-s.exited:
	case <-time.After(patience):
		t.Errorf("%d did not end within %v of its %v", s.proc.Pid, patience, how)
	}
	s.kill(t)
}

// kill ends the whole group at once, and sees to it that it is gone.
func (s *server) kill(t *testing.T) {
	t.Helper()
	group := -s.proc.Pid
	err := syscall.Kill(group, syscall.SIGKILL)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("kill the group %d: %v", -group, err)
	}
	<-s.exited
	eventually(t, "no process of the front is left", func() bool {
		return errors.Is(syscall.Kill(group, 0), syscall.ESRCH)
	})
}

// startFront starts a front on a port of its own until one serves: between
// choosing the port and taking it someone else may. configure writes the
// configuration for a port.
func startFront(t *testing.T, start func(port int) (*server, error)) (*server, int) {
	t.Helper()
	for range 5 {
		port := freePort(t)
		s, err := start(port)
		if err != nil {
			t.Fatal(err)
		}
		if s.serves(t, port) {
			t.Cleanup(func() { s.kill(t) })
			return s, port
		}
		s.kill(t)
		t.Logf("port %d could not be used: %v: %s", port, s.err, s.said.String())
	}
	t.Fatal("the front did not come up on any of 5 ports")
	return nil, 0
}

// serves waits until the apps answer through the front; false: it ended first.
func (s *server) serves(t *testing.T, port int) bool {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for begin := time.Now(); time.Since(begin) < patience; {
		select {
		case <-s.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
		resp, err := client.Get("http://" + address(port))
		if err != nil {
			continue
		}
		version := resp.Header.Get("X-Version")
		if err := resp.Body.Close(); err == nil && version == oldVersion {
			return true
		}
	}
	return false
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort is a port that nobody used a moment ago. It is none of those that the
// kernel gives to connections: on a busy machine they are taken again at once.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		ln, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("none of 100 ports is free")
	return 0
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := until(ctx, cond); err != nil {
		t.Errorf("still not so: %s", what)
	}
}

// until waits for a condition as long as ctx allows.
func until(ctx context.Context, cond func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// lockedBuffer is written by a process and read by a test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
