package e2e

import (
	"maps"
	"testing"
)

// Within one step, around a command, no engine is needed.
func TestForegroundNeedsNoSocket(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.noSocket = true
	b := j.newBox("app-platform")
	inputs := inFlight(b, b.around())
	inputs["mode"], inputs["command"] = "run", `test "$(wget -q -O - `+b.control+`)" = deployed`
	step := j.run(inputs).want(1, "FAIL")
	r, truth := j.result(), b.truth()
	r.wantVerdict(t, "fail", "deploy-failures")
	agree(t, r, truth)
	j.wantOwned()
	if step.outputs["verdict"] != "fail" || len(truth.lost()) == 0 {
		t.Errorf("outputs %q, and the box dropped %q", step.outputs, truth.lost())
	}
	step.wantSummary("fail")
	j.post(inputs).want(0)
}

// A step in the background probes, others tell it when the deploy begins and
// ends, and its exit code is the verdict. No engine is needed.
func TestBackgroundStep(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.noSocket = true
	b := j.newBox("app-platform")
	inputs := b.around()
	inputs["mode"] = "run"
	background := j.begin("", inputs)
	j.run(map[string]string{"mode": "ready"}).want(0, "the deploy can begin")
	b.deploy()
	finish := j.run(finishInputs).want(0, "PASS")
	background.want(0, "PASS")
	r := j.result()
	r.wantVerdict(t, "pass")
	agree(t, r, b.truth())
	if finish.outputs["verdict"] != "pass" || !maps.Equal(finish.outputs, background.outputs) {
		t.Errorf("outputs %q, and those of the background step %q", finish.outputs, background.outputs)
	}
	for _, mode := range []string{"finish", "ready", "run"} {
		j.post(map[string]string{"mode": mode}).want(0)
	}
}
