package appapi

import (
	"fmt"
	"slices"
	"time"
)

// Phases of a deployment.
const (
	Unknown       = "UNKNOWN"
	PendingBuild  = "PENDING_BUILD"
	Building      = "BUILDING"
	PendingDeploy = "PENDING_DEPLOY"
	Deploying     = "DEPLOYING"
	Active        = "ACTIVE"
	Superseded    = "SUPERSEDED"
	Failed        = "ERROR"
	Canceled      = "CANCELED"
)

// Types of causes.
const (
	Manual         = "MANUAL"
	DeployOnPush   = "DEPLOY_ON_PUSH"
	ManualRollback = "MANUAL_ROLLBACK"
	AutoRollback   = "AUTO_ROLLBACK"
)

// Final tells whether a phase ends a deployment.
func Final(phase string) bool {
	return slices.Contains([]string{Active, Superseded, Failed, Canceled}, phase)
}

// Cause is why there is a deployment.
type Cause struct {
	Type       string
	Action     string // of the user, where one acted: CREATE_DEPLOYMENT, RESTART, ROLLBACK_APP
	Text       string
	ForceBuild bool
	ClonedFrom string // the id of the deployment that a rollback goes back to
}

// Deployment is one deployment, in the hands of whoever plays it.
type Deployment struct {
	api   *API
	id    string
	cause Cause
	prev  string
	first bool      // it was there from the start
	made  time.Time // on our clock

	// As the API's clock has it; the API's lock guards them.
	phase   string
	created time.Time
	entered time.Time
	build   stage
	deploy  stage
	commit  string
}

// stage is one half of the progress.
type stage struct {
	status         string
	started, ended time.Time
	reason         *reason
}

// Statuses of a step.
const (
	pending = "PENDING"
	running = "RUNNING"
	success = "SUCCESS"
	broken  = "ERROR"
)

// Create makes a deployment without a request: a push, a rollback, somebody in
// the console. It begins in PENDING_BUILD.
func (a *API) Create(c Cause) *Deployment { return a.add(c) }

func (a *API) add(c Cause) *Deployment {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serial++
	d := &Deployment{
		api: a, id: fmt.Sprintf("b6bdf840-2854-4f87-a36c-%012d", a.serial), cause: c,
		phase: PendingBuild, made: time.Now(), created: a.now(), first: a.serial == 1,
		build: stage{status: pending}, deploy: stage{status: pending},
		commit: fmt.Sprintf("%040x", 0x9a4df0b8e161e3+a.serial),
	}
	if n := len(a.deployments); n > 0 {
		d.prev = a.deployments[n-1].id
	}
	a.deployments = append(a.deployments, d)
	return d
}

// ID is the deployment's id.
func (d *Deployment) ID() string { return d.id }

// Cause is why it was made.
func (d *Deployment) Cause() Cause { return d.cause }

// Phase is where it is.
func (d *Deployment) Phase() string {
	d.api.mu.Lock()
	defer d.api.mu.Unlock()
	return d.phase
}

// Enter takes the deployment to a phase, with the steps that belong to it. What
// was active is superseded by a deployment that becomes so.
func (d *Deployment) Enter(phase string) {
	d.api.mu.Lock()
	defer d.api.mu.Unlock()
	now := d.api.now()
	if phase == Active {
		for _, other := range d.api.deployments {
			if other.phase == Active {
				other.phase, other.entered = Superseded, now
			}
		}
	}
	d.phase, d.entered = phase, now
	switch phase {
	case Building:
		d.build.begin(now)
	case PendingDeploy:
		d.build.end(success, now)
	case Deploying:
		d.build.end(success, now)
		d.deploy.begin(now)
	case Active:
		d.build.end(success, now)
		d.deploy.end(success, now)
	}
}

// Reused says that the build is an earlier one's.
func (d *Deployment) Reused() {
	d.api.mu.Lock()
	defer d.api.mu.Unlock()
	d.build.end(success, d.api.now())
	d.build.reason = &reason{"PreviousBuildReused", "The previous build was reused"}
}

// Fail ends the deployment in ERROR, for a reason of the step that is under way.
func (d *Deployment) Fail(code, message string) {
	d.api.mu.Lock()
	defer d.api.mu.Unlock()
	now := d.api.now()
	d.phase, d.entered = Failed, now
	s := &d.deploy
	if d.deploy.status == pending {
		s = &d.build
	}
	s.end(broken, now)
	s.reason = &reason{code, message}
}

func (s *stage) begin(at time.Time) {
	if s.status == pending {
		s.status, s.started = running, at
	}
}

func (s *stage) end(status string, at time.Time) {
	s.begin(at)
	if s.status == running {
		s.status, s.ended = status, at
	}
}

// wire is the deployment as it is sent; the API is locked.
func (d *Deployment) wire() deployment {
	details := map[string]any{"type": d.cause.Type}
	if d.cause.Action != "" {
		details["digitalocean_user_action"] = map[string]any{
			"user": map[string]any{"uuid": "ff36cbc6fd350fe12577f5123133bb5ba01a2419"}, "name": d.cause.Action,
		}
	}
	return deployment{
		ID: d.id, Spec: d.api.spec(), Services: []source{{d.api.o.App.Component, d.commit}},
		PhaseLastUpdatedAt: d.entered, CreatedAt: d.created, UpdatedAt: latest(d.created, d.entered),
		Cause: d.cause.Text, ClonedFrom: d.cause.ClonedFrom, CauseDetails: details,
		Phase: d.phase, TierSlug: "basic", Previous: d.prev, Progress: d.progress(),
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// progress is the tree of steps, and their counts.
func (d *Deployment) progress() progress {
	name := d.api.o.App.Component
	leaf := func(name, message string, s stage, component string) *step {
		out := &step{Name: name, Status: s.status, Component: component, Message: message, Reason: s.reason}
		out.StartedAt, out.EndedAt = known(s.started), known(s.ended)
		return out
	}
	branch := func(name string, s stage, steps ...*step) *step {
		out := leaf(name, "", s, "")
		out.Steps, out.Reason = steps, nil
		return out
	}
	begun, last := d.deploy, d.deploy // its first step is over at once, its last comes at the end
	if begun.status == running || begun.status == broken {
		begun.status, begun.ended = success, begun.started
	}
	if last.status != success {
		last = stage{status: pending}
	}
	begun.reason, last.reason = nil, nil
	component := branch(name, d.deploy, leaf("deploy", "Deploying service", begun, name), leaf("wait", "Waiting for service", d.deploy, name))
	component.Component = name
	p := progress{Steps: []*step{
		branch("build", d.build, leaf("initialize", "", d.build.quiet(), ""),
			branch("components", d.build, leaf(name, "Building service", d.build, name))),
		branch("deploy", d.deploy, leaf("initialize", "", begun, ""), branch("components", d.deploy, component), leaf("finalize", "", last, "")),
	}}
	p.count(p.Steps)
	return p
}

// quiet is the stage without its reason.
func (s stage) quiet() stage {
	s.reason = nil
	return s
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// count counts the leaves.
func (p *progress) count(steps []*step) {
	for _, s := range steps {
		if len(s.Steps) > 0 {
			p.count(s.Steps)
			continue
		}
		p.Total++
		switch s.Status {
		case pending:
			p.Pending++
		case running:
			p.Running++
		case success:
			p.Success++
		case broken:
			p.Failed++
		}
	}
}
