package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Lengths that a box's deploy fits into.
const (
	baseline = 4 * time.Second
	settle   = time.Second
	tail     = time.Second
)

// maxAdded is how much longer than its baseline, settle and tail a step may take
// with the image present, on a machine that has nothing else to do: there, a
// container that does nothing takes a quarter of it at most. On a busy one the
// step may take as many times longer as that container does. attempts is how
// often this is tried: what disturbs a measurement makes it longer.
const (
	maxAdded = 2 * time.Second
	attempts = 3
)

// allowed is maxAdded by what a container takes now that does nothing.
func allowed(t *testing.T) time.Duration {
	t.Helper()
	image := needImage(t) // built first, where it has to be
	begin := time.Now()
	mustDocker(t, "run", "--rm", image, "--version")
	idle := time.Since(begin)
	t.Logf("a container that does nothing: %s", idle.Round(10*time.Millisecond))
	return max(maxAdded, 4*idle)
}

// around is the inputs of a probe around a box's deploy.
func (b *boxServer) around() map[string]string {
	return map[string]string{
		"mode": "start", "url": b.url,
		"baseline": baseline.String(), "settle": settle.String(), "tail": tail.String(), "cutover-timeout": "3s",
		"rate": "60/s", "connections": "10", "max-duration": "4m",
	}
}

// inFlight adds slow requests that are longer than the box's drain.
func inFlight(b *boxServer, inputs map[string]string) map[string]string {
	inputs["slow-url"], inputs["slow-seconds"], inputs["slow-interval"] = b.slow, "5", "300ms"
	return inputs
}

// finishInputs are those of a finish step.
var finishInputs = map[string]string{"mode": "finish"}

// A deploy that drops nothing passes; the two steps add little to what they wait
// for. No other test runs beside this one, so that the times are the steps' own.
func TestDeployPasses(t *testing.T) {
	for range attempts {
		limit := allowed(t)
		start, finish := passes(t)
		t.Logf("added by start, without the baseline: %s; by finish, without settle and tail: %s",
			start.Round(10*time.Millisecond), finish.Round(10*time.Millisecond))
		if start <= limit && finish <= limit || t.Failed() {
			return
		}
	}
	t.Errorf("in none of %d attempts both steps added less than %s, or than four containers that do nothing", attempts, maxAdded)
}

// passes plays such a job and returns what its two steps added to it.
func passes(t *testing.T) (added, addedAtEnd time.Duration) {
	j := newJob(t)
	b := j.newBox("app-platform")
	start := j.run(b.around()).want(0, "the baseline is in", "the deploy can begin")
	if n := len(j.containers(t.Context())); n != 1 {
		t.Errorf("%d containers go on after start, want the probe's alone", n)
	}
	b.deploy()
	finish := j.run(finishInputs).want(0, "PASS")

	r := j.result()
	r.wantVerdict(t, "pass")
	agree(t, r, b.truth())
	j.wantOwned()
	if finish.outputs["verdict"] != "pass" || finish.outputs["deploy-failures"] != "0" || finish.outputs["result-path"] != "cutwatch-report/result.json" {
		t.Errorf("outputs %q", finish.outputs)
	}
	finish.wantSummary("pass")
	j.posts(0)
	return start.took - baseline, finish.took - settle - tail
}

// posts runs the post steps that a job with start and finish has.
func (j *job) posts(code int) {
	j.t.Helper()
	j.post(finishInputs).want(code)
	j.post(map[string]string{"mode": "start"}).want(code)
}

// In a job with services all is on the job's own network, where hosts have
// names; requests that are in flight when old stops are cut, and the job fails.
func TestDeployDropsOnTheJobsNetwork(t *testing.T) {
	t.Parallel()
	j := newJobOnNetwork(t)
	b := j.newBox("app-platform")
	j.run(inFlight(b, b.around())).want(0, "the baseline is in")
	b.deploy()
	finish := j.run(finishInputs).want(1, "FAIL")

	r, truth := j.result(), b.truth()
	r.wantVerdict(t, "fail", "deploy-failures")
	if len(truth.lost()) == 0 {
		t.Error("the box says that it dropped nothing, so this test shows nothing")
	}
	agree(t, r, truth)
	if finish.outputs["verdict"] != "fail" || finish.outputs["deploy-failures"] != itoa(len(truth.lost())) {
		t.Errorf("outputs %q, and the box dropped %d", finish.outputs, len(truth.lost()))
	}
	finish.wantSummary("fail")
	j.posts(0)
}

// Without a finish step the post step judges and fails the job, and what it
// reads of the deploy's step is read then.
func TestPostStepAlone(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	b := j.newBox("app-platform")
	inputs := inFlight(b, b.around())
	inputs["mode"] = "auto"
	j.run(inputs).want(0, "the baseline is in")
	b.deploy()
	inputs["deploy-outcome"] = "success"
	post := j.post(inputs).want(1, "FAIL")
	r, truth := j.result(), b.truth()
	r.wantVerdict(t, "fail", "deploy-failures")
	agree(t, r, truth)
	post.wantSummary("fail")
	j.wantOwned()
}

// A deploy step that failed is told from a deploy that changed nothing.
func TestDeployStepFailed(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	b := j.newBox("app-platform")
	j.run(b.around()).want(0)
	finish := j.run(map[string]string{"mode": "finish", "deploy-outcome": "failure"}).want(4)
	r := j.result()
	r.wantVerdict(t, "inconclusive", "deploy-failed")
	if r.Deploy.Outcome != "failed" || finish.outputs["reason"] != "deploy-failed" {
		t.Errorf("the deploy's outcome is %q, the outputs %q", r.Deploy.Outcome, finish.outputs)
	}
	j.posts(0)
}

// Where the deploy's step was skipped there is nothing to judge and nothing to fail.
func TestDeployStepSkipped(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	b := j.newBox("app-platform")
	inputs := b.around()
	inputs["mode"] = "auto"
	j.run(inputs).want(0)
	inputs["deploy-outcome"] = "skipped"
	post := j.post(inputs).want(0, "no deploy ran")
	if post.outputs["verdict"] != "skipped" {
		t.Errorf("outputs %q", post.outputs)
	}
}

// Two probes of one job are told apart by their ids.
func TestTwoProbes(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	changing, quiet := j.newBox("app-platform"), j.newBox("no-op")
	begin := func(b *boxServer, id string) *step {
		inputs := b.around()
		inputs["id"], inputs["report-dir"] = id, "cutwatch-report/"+id
		return j.begin("", inputs)
	}
	one, two := begin(changing, "shop"), begin(quiet, "cart")
	one.want(0)
	two.want(0)
	changing.deploy()
	finish := func(id string) *step {
		return j.begin("", map[string]string{"mode": "finish", "id": id, "report-dir": "cutwatch-report/" + id})
	}
	one, two = finish("shop"), finish("cart")
	one.want(0, "PASS")
	two.want(3, "INCONCLUSIVE")
	for id, b := range map[string]*boxServer{"shop": changing, "cart": quiet} {
		if r := readResult(t, j.workspace+"/cutwatch-report/"+id); r.Target.URL != b.url {
			t.Errorf("the report of %s is about %s, want %s", id, r.Target.URL, b.url)
		}
	}
	if two.outputs["reason"] != "no-cutover" {
		t.Errorf("outputs %q", two.outputs)
	}
}

// The loopback of the action's container is nobody's: a url there is refused
// before anything is sent, with the address that works.
func TestLoopbackIsNotTheRunners(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	gateway := mustDocker(t, "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	j.run(map[string]string{"mode": "start", "url": "http://localhost:8080/"}).want(2, "localhost", gateway)
	j.post(map[string]string{"mode": "start"}).want(0)
}

// Without an engine's socket no probe can outlive its step; the message says what
// works there.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.noSocket = true
	start := j.run(map[string]string{"mode": "start", "url": "http://shop.invalid/"}).want(2, "docker.sock", "mode: run")
	if !strings.Contains(start.out.String(), "::error") {
		t.Errorf("no annotation says so:\n%s", start.out.String())
	}
	j.post(map[string]string{"mode": "start"}).want(0)
	if _, err := os.Stat(j.workspace + "/cutwatch-report/result.json"); err == nil {
		t.Error("there is a result, of nothing")
	}
}
