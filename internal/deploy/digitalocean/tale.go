package digitalocean

import (
	"fmt"
	"strings"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/clock"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// tale is what is told of one deploy: each thing once, at the platform's time
// for it.
type tale struct {
	s     *Source
	start time.Time
	clock *clock.Clock
	emit  deploy.Emit

	began      bool            // the start was told
	deployment string          // that is followed
	phase      string          // its phase when last seen
	steps      map[string]bool // that were told
	quiet      time.Time       // when it was last seen before its instances changed

	failing time.Time // since when the API does not answer; zero: it does
	why     error     // the last of its failures
	said    bool      // that was told
}

func (s *Source) newTale(emit deploy.Emit) *tale {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.start.IsZero() {
		s.start = time.Now()
	}
	return &tale{s: s, start: s.start, clock: s.clock, emit: emit}
}

func (t *tale) clean(text string, max int) string { return t.s.api.clean(text, max) }

func (t *tale) id(d *godo.Deployment) string { return t.clean(d.ID, 60) }

// tell emits a signal. at is of the platform's clock; zero: now.
func (t *tale) tell(g sample.Signal, at time.Time) {
	if g.Deployment == "" {
		g.Deployment = t.clean(t.deployment, 60)
	}
	if !at.IsZero() {
		g.At = t.moved(at)
		if o, known := t.clock.Offset(); known {
			g.Offset = int64(o.Ahead)
		}
	}
	t.emit(g)
}

// moved is a time of the platform's clock as one of the run's: not before its
// start, and not in the future.
func (t *tale) moved(at time.Time) int64 {
	return int64(min(max(1, t.clock.Move(at, t.start)), max(1, time.Since(t.start))))
}

// saw tells what is new about a deployment.
func (t *tale) saw(d *godo.Deployment) {
	if t.deployment != d.ID {
		t.deployment, t.phase, t.steps, t.quiet = d.ID, "", map[string]bool{}, time.Time{}
		t.tell(sample.Signal{Kind: sample.SignalNote, Name: "created", Message: t.clean(d.Cause, maxSaid)}, d.CreatedAt)
	}
	deploys := d.Progress != nil && t.tellSteps(d.Progress.Steps, "", 0)
	if phase := string(d.Phase); phase != t.phase {
		t.phase = phase
		if d.Phase == godo.DeploymentPhase_Deploying {
			t.begin(d.PhaseLastUpdatedAt, "")
		}
		if final(d.Phase) && !t.began && (deploys || d.Phase == godo.DeploymentPhase_Active) {
			t.beginUnseen(d)
		}
		if !final(d.Phase) && d.Phase != godo.DeploymentPhase_Deploying || d.Phase == godo.DeploymentPhase_Superseded {
			t.tell(sample.Signal{Kind: sample.SignalPhase, Name: t.clean(phase, 30)}, d.PhaseLastUpdatedAt)
		}
	}
	if !final(d.Phase) && d.Phase != godo.DeploymentPhase_Deploying {
		t.quiet = time.Now()
	}
}

// begin tells the deploy's start; of a successor's only that it is deploying too.
func (t *tale) begin(at time.Time, message string) {
	kind := sample.SignalStart
	if t.began {
		kind = sample.SignalPhase
	}
	t.began = true
	t.tell(sample.Signal{Kind: kind, Name: string(godo.DeploymentPhase_Deploying), Message: message}, at)
}

// beginUnseen tells the start of a deployment that was never seen DEPLOYING: its
// step's, else the last time at which it was seen to be before that.
func (t *tale) beginUnseen(d *godo.Deployment) {
	if d.Progress != nil {
		if step := stepNamed(d.Progress.Steps, "deploy"); step != nil && !step.StartedAt.IsZero() {
			t.begin(step.StartedAt, "the phase was not seen; the time is that of its step")
			return
		}
	}
	g := sample.Signal{Kind: sample.SignalStart, Name: string(godo.DeploymentPhase_Deploying), Message: "the phase was not seen; it began after this"}
	t.began = true
	if t.quiet.IsZero() {
		t.tell(g, d.CreatedAt)
		return
	}
	g.At = t.local(t.quiet)
	t.tell(g, time.Time{})
}

// local is a time of this machine as one of the run's.
func (t *tale) local(at time.Time) int64 { return max(1, int64(at.Sub(t.start))) }

// end tells the deploy's end.
func (t *tale) end(d *godo.Deployment, outcome, message string) {
	t.tell(sample.Signal{Kind: sample.SignalEnd, Name: t.clean(string(d.Phase), 30), Outcome: outcome, Message: message}, d.PhaseLastUpdatedAt)
}

// Bounds of what is told of a deployment's steps.
const (
	maxSteps = 60
	maxDepth = 4
)

// tellSteps tells which steps began or failed, and whether the instances are
// being changed: the step "deploy" has begun.
func (t *tale) tellSteps(steps []*godo.DeploymentProgressStep, above string, depth int) (deploys bool) {
	for _, step := range steps {
		if step == nil || depth == maxDepth || len(t.steps) >= maxSteps {
			continue
		}
		path := strings.TrimPrefix(above+"/"+stepName(step), "/")
		if depth == 0 && step.Name == "deploy" && !step.StartedAt.IsZero() {
			deploys = true
		}
		t.tellStep(step, path)
		t.tellSteps(step.Steps, path, depth+1)
	}
	return deploys
}

// codeReused is a step's reason where the platform took an earlier build.
const codeReused = "PreviousBuildReused"

func stepName(step *godo.DeploymentProgressStep) string {
	if step.Name == "" {
		return step.ComponentName
	}
	return step.Name
}

func (t *tale) tellStep(step *godo.DeploymentProgressStep, path string) {
	name := "step " + t.clean(path, 80)
	if !step.StartedAt.IsZero() && !t.steps[path] {
		t.steps[path] = true
		t.tell(sample.Signal{Kind: sample.SignalNote, Name: name, Message: t.reasonText(step.Reason)}, step.StartedAt)
	}
	if reused := "build-reused"; step.Reason != nil && step.Reason.Code == codeReused && !t.steps[reused] {
		t.steps[reused] = true
		t.tell(sample.Signal{Kind: sample.SignalNote, Name: reused, Message: t.reasonText(step.Reason)}, step.EndedAt)
	}
	if failed := path + " failed"; step.Status == godo.DeploymentProgressStepStatus_Error && !t.steps[failed] {
		t.steps[failed] = true
		t.tell(sample.Signal{Kind: sample.SignalNote, Name: name + " failed", Message: t.reasonText(step.Reason)}, step.EndedAt)
	}
}

func (t *tale) reasonText(r *godo.DeploymentProgressStepReason) string {
	if r == nil {
		return ""
	}
	return t.clean(strings.Trim(r.Code+": "+r.Message, ": "), maxSaid)
}

// reason is why a deployment failed: the reason of the deepest step that did.
func (t *tale) reason(d *godo.Deployment) string {
	if d.Progress != nil {
		for _, steps := range [][]*godo.DeploymentProgressStep{d.Progress.Steps, d.Progress.SummarySteps} {
			if step := deepestFailed(steps, 0); step != nil {
				return fmt.Sprintf("%s (step %s)", t.reasonText(step.Reason), t.clean(stepName(step)+of(step.ComponentName), 80))
			}
		}
	}
	return "the platform gave no reason"
}

func of(component string) string {
	if component == "" {
		return ""
	}
	return " of " + format.Name(component, 40)
}

// deepestFailed is the first failed step with a reason that has none below it.
func deepestFailed(steps []*godo.DeploymentProgressStep, depth int) *godo.DeploymentProgressStep {
	for _, step := range steps {
		if step == nil || depth > 2*maxDepth {
			continue
		}
		if below := deepestFailed(step.Steps, depth+1); below != nil {
			return below
		}
		if step.Status == godo.DeploymentProgressStepStatus_Error && step.Reason != nil && step.Reason.Code+step.Reason.Message != "" {
			return step
		}
	}
	return nil
}

// stepNamed is the step of that name at the top; nil where there is none.
func stepNamed(steps []*godo.DeploymentProgressStep, name string) *godo.DeploymentProgressStep {
	for _, step := range steps {
		if step != nil && step.Name == name {
			return step
		}
	}
	return nil
}

// trouble tells, where it lasts, that the API does not answer, and that it does
// again (nil).
func (t *tale) trouble(err error) {
	if err != nil {
		if t.failing.IsZero() {
			t.failing = time.Now()
		}
		t.why = err
	}
	if !t.failing.IsZero() && !t.said && time.Since(t.failing) >= t.s.api.pace.lost {
		t.said = true
		t.tell(sample.Signal{At: t.local(t.failing), Kind: sample.SignalNote, Name: "api-lost",
			Message: "the platform does not answer: " + t.s.api.said(t.why)}, time.Time{})
	}
	if err != nil {
		return
	}
	if t.said {
		t.tell(sample.Signal{Kind: sample.SignalNote, Name: "api-back",
			Message: fmt.Sprintf("the platform had told nothing for %s", format.Duration(time.Since(t.failing)))}, time.Time{})
	}
	t.failing, t.said, t.why = time.Time{}, false, nil
}
