package box

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentEnv has the test binary start an app and wait to be killed.
const parentEnv = "CUTWATCH_BOX_TEST_PARENT"

func maybeRunParent() {
	if os.Getenv(parentEnv) == "" {
		return
	}
	in, err := startInstance(context.Background(), appConfig{Version: "v1", Instance: "orphan", OnTerm: TermIgnore}, false)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(in.proc.Pid)
	select {}
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 10 s still not: %s", what)
		}
	}
}

func TestAppDiesWithItsParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe)
	parent.Env = append(os.Environ(), parentEnv+"=1")
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatalf("app %d does not run while its parent does", pid)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent was killed, and says it ended well")
	}
	eventually(t, "the orphan is dead", func() bool { return !alive(pid) })
}

// An app whose start is refused says why.
func TestStartInstanceTellsWhatWentWrong(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	slow := appConfig{Version: "v1", Instance: "late", OnTerm: TermExit, Fault: Fault{Kind: FaultSlowStart, Delay: 1e10}}
	_, err := startInstance(ctx, slow, false)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "late") {
		t.Errorf("got %v, want the deadline and the app's name", err)
	}
}

// What the machine does to an app is not taken for the app's own doing.
func TestAppTellsThatItStoodStill(t *testing.T) {
	const pause = 400 * time.Millisecond
	begin := time.Now()
	in := startApp(t, nil)
	in.signal(syscall.SIGSTOP)
	time.Sleep(pause) // what the stall lasts
	in.signal(syscall.SIGCONT)
	eventually(t, "the stall is told", func() bool { return time.Duration(in.stood.Load()) > pause-2*pulse })
	if got, most := time.Duration(in.stood.Load()), time.Since(begin); got > most {
		t.Errorf("stood still for %v within %v", got, most)
	}
}
