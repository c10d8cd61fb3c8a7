package e2e

import (
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

func itoa(n int) string { return strconv.Itoa(n) }

// A probe that is killed in the middle leaves what it had seen, and that is
// judged: not as a pass.
func TestProbeIsKilled(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	b := j.newBox("app-platform")
	j.run(b.around()).want(0)
	b.beginDeploy()
	probes := j.containers(t.Context())
	if len(probes) != 1 {
		t.Fatalf("the job's containers are %q, want the probe's alone", probes)
	}
	mustDocker(t, "kill", strings.Fields(probes[0])[0])
	b.await("deployed")
	finish := j.run(finishInputs).want(3, "INCONCLUSIVE")
	r := j.result()
	r.wantVerdict(t, "inconclusive", "probe-died")
	if r.Requests.Total < 100 {
		t.Errorf("%d requests were kept, want all of the baseline", r.Requests.Total)
	}
	if finish.outputs["reason"] != "probe-died" {
		t.Errorf("outputs %q", finish.outputs)
	}
	j.posts(0)
}

// leaveWithin is how long a cancelled step has until it is killed: the runner
// sends SIGINT, and SIGTERM 7.5 s later.
const leaveWithin = 7500 * time.Millisecond

// A cancelled job ends the start step in time, and the post step, which runs all
// the same, removes the probe.
func TestStartIsCancelled(t *testing.T) {
	for name, signal := range map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t)
			b := j.newBox("app-platform")
			inputs := b.around()
			inputs["baseline"] = "60s"
			start := j.begin("", inputs)
			j.awaitContainers(2)
			sent := time.Now()
			start.signal(signal)
			start.wait()
			if took := time.Since(sent); took > leaveWithin {
				t.Errorf("the step took %s to leave, want less than %s", took, leaveWithin)
			}
			if start.code == 0 {
				t.Errorf("a cancelled step ended with 0:\n%s", start.out.String())
			}
			inputs["deploy-outcome"] = "skipped"
			j.post(inputs).want(0)
		})
	}
}

// awaitContainers waits until the job has so many containers: the step's and the probe's.
func (j *job) awaitContainers(n int) {
	j.t.Helper()
	deadline := time.Now().Add(commandTimeout)
	for len(j.containers(j.t.Context())) != n {
		if time.Now().After(deadline) {
			j.t.Fatalf("the job has the containers %q, want %d", j.containers(j.t.Context()), n)
		}
		time.Sleep(100 * time.Millisecond) // between two questions
	}
}

// A job that is cancelled later, and that nobody told what became of the deploy,
// is not held up by its post step: what was recorded is judged at once.
func TestJobIsCancelled(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	b := j.newBox("app-platform")
	inputs := b.around()
	inputs["mode"], inputs["cutover-timeout"] = "auto", "80s" // longer than the whole may take
	j.run(inputs).want(0)
	inputs["job-status"] = "cancelled"
	post := j.post(inputs).want(3, "the job was cancelled")
	if post.took > 40*time.Second {
		t.Errorf("the post step took %s, as if it had waited for a cutover", post.took)
	}
	if r := j.result(); r.Requests.Total < 100 {
		t.Errorf("%d requests were kept, want all of the baseline", r.Requests.Total)
	}
	j.wantOwned()
}

// On a full disk the verdict stands, and what could not be written is said.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.smallDisk()
	b := j.newBox("app-platform")
	j.run(inFlight(b, b.around())).want(0)
	b.deploy()
	j.fillDisk()
	finish := j.run(finishInputs).want(1, "no space left on device", "FAIL")
	if lost := b.truth().lost(); finish.outputs["verdict"] != "fail" || len(lost) == 0 || finish.outputs["deploy-failures"] != itoa(len(lost)) {
		t.Errorf("outputs %q, and the box dropped %q", finish.outputs, lost)
	}
	if path := finish.outputs["result-path"]; path != "" {
		t.Errorf("the result is said to be in %s, where nothing could be written", path)
	}
	finish.wantSummary("fail")
	j.posts(0)
}

// smallDisk puts the workspace on a file system of its own with little room.
func (j *job) smallDisk() {
	j.t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			j.t.Fatal("CI must run this test as root, who alone can make a small file system")
		}
		j.t.Skip("only root can make a small file system")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=16k,uid=%d,gid=%d,mode=755", runnerUID, runnerUID), "tmpfs", j.workspace).CombinedOutput(); err != nil {
		j.t.Fatalf("no small file system can be made: %v: %s", err, out)
	}
	j.t.Cleanup(func() {
		if out, err := exec.Command("umount", j.workspace).CombinedOutput(); err != nil {
			j.t.Errorf("the small file system cannot be taken away: %v: %s", err, out)
		}
	})
}

// fillDisk takes what room there is in the workspace.
func (j *job) fillDisk() {
	j.t.Helper()
	err := os.WriteFile(j.workspace+"/deployed", make([]byte, 1<<20), 0o644)
	if !errors.Is(err, syscall.ENOSPC) {
		j.t.Fatalf("the workspace is not full: %v", err)
	}
}
