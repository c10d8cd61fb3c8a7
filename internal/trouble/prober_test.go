//go:build linux

package trouble

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/run"
)

// build builds cutwatch.
func build(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "cutwatch")
	out, err := exec.Command(need(t, "go"), "build", "-o", path, "github.com/cutwatch/cutwatch/cmd/cutwatch").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// prober is a run of cutwatch in a process of its own.
type prober struct {
	cmd    *exec.Cmd
	dir    string // of the report
	stderr bytes.Buffer
	exited chan struct{}
	err    error // how it ended; valid after exited
}

// startProber starts a run of cutwatch against s whose COMMAND is directed from
// st. wrapper is a command that runs another one in its own place.
func startProber(t *testing.T, cutwatch string, s *service, st *stage, wrapper ...string) *prober {
	t.Helper()
	p := &prober{dir: t.TempDir(), exited: make(chan struct{})}
	args := append(wrapper, cutwatch, "run",
		"--url", s.url, "--control-url", s.control, "--timeout", "1s",
		"--slow-url", s.url+"?seconds={seconds}", "--slow-seconds", "1.5", "--slow-interval", "200ms",
		"--rate", "50/s", "--connections", "25",
		"--baseline", "3500ms", "--settle", "2s", "--tail", "1s", "--cutover-timeout", "10s", "--max-duration", "1m",
		"--report-dir", p.dir, "--", self(t))
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = as(asDeploy, st.socket)
	p.cmd.Stdout, p.cmd.Stderr = &p.stderr, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		select {
		case <-p.exited:
		default:
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
		if t.Failed() {
			t.Logf("the prober said:\n%s", p.stderr.String())
		}
	})
	return p
}

// signal sends a signal to the prober alone.
func (p *prober) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// judged waits for the run's end and judges what it recorded; its exit code must be that of the judgement.
func (p *prober) judged(t *testing.T) *run.Outcome {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(2 * patience):
		t.Fatal("the run does not end")
	}
	out, err := run.Judge(filepath.Join(p.dir, run.SamplesFile))
	if err != nil {
		t.Fatalf("%v; the prober ended with %v", err, p.err)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != out.Verdict.ExitCode {
		t.Errorf("exit code %d, and the samples are judged with %d", code, out.Verdict.ExitCode)
	}
	t.Logf("%s %v; requests %+v; late %+v", out.Verdict.Verdict, out.Verdict.Reasons, out.Analysis.Requests, out.Analysis.Prober)
	return out
}
