//go:build linux

package trouble

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait for something that should happen soon.
const patience = 15 * time.Second

// The test binary, started anew, plays one of these parts.
const (
	partEnv   = "CUTWATCH_TROUBLE_PART"
	argEnv    = "CUTWATCH_TROUBLE_ARG"
	asService = "service" // on the IP address that is the argument
	asDeploy  = "deploy"  // directed over the Unix socket that is the argument
	asBurner  = "burner"  // of CPU time, for the duration that is the argument
)

func TestMain(m *testing.M) {
	var err error
	switch part := os.Getenv(partEnv); part {
	case "":
		flag.Parse()
		// They wait more than they compute, so that all may go on at once on few CPUs.
		if err = flag.Set("test.parallel", "8"); err == nil {
			os.Exit(m.Run())
		}
	case asService:
		err = serve(os.Getenv(argEnv))
	case asDeploy:
		err = deploy(os.Getenv(argEnv))
	case asBurner:
		err = burn(os.Getenv(argEnv))
	default:
		err = fmt.Errorf("no part %q", part)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// as is the environment of a process that plays a part.
func as(part, arg string) []string { return append(os.Environ(), partEnv+"="+part, argEnv+"="+arg) }

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// need finds a program of the system's.
func need(t *testing.T, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} { // a user's PATH may lack them
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	missing(t, name+" is not installed")
	return ""
}

// missing leaves a test out, save in CI.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI must not leave this test out", why)
	}
	t.Skip(why)
}

// burn wastes the time of one CPU.
func burn(howLong string) error {
	d, err := time.ParseDuration(howLong)
	if err != nil {
		return err
	}
	for begin := time.Now(); time.Since(begin) < d; {
	}
	return nil
}

// deploy is the COMMAND of a run: it says over the socket that it has begun and
// ends when the other side closes it.
func deploy(socket string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}

// stage is where a test directs the deploy from.
type stage struct {
	socket string
	l      *net.UnixListener
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "trouble") // a test's own folder may have too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{socket: dir + "/deploy"}
	if s.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: s.socket, Net: "unix"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.l.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return s
}

// begun waits for the deploy to begin; end has it end.
func (s *stage) begun(t *testing.T) (end func()) {
	t.Helper()
	if err := s.l.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c, err := s.l.Accept()
	if err != nil {
		t.Fatalf("the deploy has not begun: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() }) // once more, where the test ended early
	return func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// conversation is a process that is told things and answers, a line each.
type conversation struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// converse starts a process that ends when its standard input does.
func converse(t *testing.T, cmd *exec.Cmd) *conversation {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return &conversation{cmd, in, bufio.NewReader(out)}
}

func (c *conversation) hear(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (c *conversation) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}
