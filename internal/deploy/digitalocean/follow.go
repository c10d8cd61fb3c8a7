package digitalocean

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// errNone is that no new deployment is listed.
var errNone = errors.New("no new deployment is listed")

// run makes or awaits a deployment and follows it, and its successors.
func (s *Source) run(ctx context.Context, emit deploy.Emit) error {
	t := s.newTale(emit)
	var d *godo.Deployment
	var err error
	if s.trigger == "" || s.trigger == config.TriggerNone {
		d, err = s.await(ctx, t)
	} else {
		d, err = s.fire(ctx, t)
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	for d != nil && err == nil {
		s.pass(d)
		if d, err = s.follow(ctx, t, d); err == nil {
			d, err = s.closing(ctx, t, d)
		}
	}
	if err != nil {
		t.lost(ctx, err)
	}
	return nil
}

// await waits for the first deployment that was not there at the start.
func (s *Source) await(ctx context.Context, t *tale) (*godo.Deployment, error) {
	for {
		d, err := s.fresh(ctx, t, nil, nil)
		if !errors.Is(err, errNone) {
			return d, err
		}
		if err := sleep(ctx, s.api.pace.listing); err != nil {
			return nil, err
		}
	}
}

// slack is how far a deployment's time may be misjudged: it may be in whole
// seconds, as the Date headers are by which its clock is known.
const slack = 3 * time.Second

// fresh is the oldest listed deployment that is new: not known, and made after
// Prepare; with after, made after that one; with not, none of which that is true.
// A list may lag, so a deployment that was there all the time can come up late.
func (s *Source) fresh(ctx context.Context, t *tale, after *godo.Deployment, not func(*godo.Deployment) bool) (*godo.Deployment, error) {
	list, err := s.api.deployments(ctx, s.appID(), s.api.pace.giveUp, t.trouble)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b *godo.Deployment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, d := range list {
		switch {
		case s.passed(d.ID):
		case scaled(d):
			s.pass(d)
		case after != nil && d.CreatedAt.Before(after.CreatedAt):
		case after == nil && s.wasThere(d):
			s.pass(d)
		case not != nil && not(d): // but it may supersede the one that is looked for
		default:
			return d, nil
		}
	}
	return nil, errNone
}

// wasThere tells whether a deployment was made before Prepare.
func (s *Source) wasThere(d *godo.Deployment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.clock.Offset(); !known || d.CreatedAt.IsZero() {
		return false
	}
	return s.clock.Move(d.CreatedAt, s.since) < -slack
}

func (s *Source) passed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

func (s *Source) appID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// follow looks at a deployment until it is in its last phase.
func (s *Source) follow(ctx context.Context, t *tale, d *godo.Deployment) (*godo.Deployment, error) {
	for {
		t.saw(d)
		if final(d.Phase) {
			return d, nil
		}
		wait := s.api.pace.building
		if d.Phase == godo.DeploymentPhase_PendingDeploy || d.Phase == godo.DeploymentPhase_Deploying {
			wait = s.api.pace.deploying
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		next, err := s.api.deployment(ctx, s.appID(), d.ID, t.trouble)
		if err != nil {
			return nil, err
		}
		d = next
	}
}

// closing tells the end of a deployment that is in its last phase, or returns the
// one that superseded it.
func (s *Source) closing(ctx context.Context, t *tale, d *godo.Deployment) (*godo.Deployment, error) {
	switch d.Phase {
	case godo.DeploymentPhase_Active:
		t.end(d, sample.Succeeded, "")
		return nil, nil
	case godo.DeploymentPhase_Error:
		t.end(d, sample.Failed, "deployment "+t.id(d)+" ended in ERROR: "+t.reason(d))
		return nil, nil
	case godo.DeploymentPhase_Canceled:
		t.end(d, sample.Failed, "deployment "+t.id(d)+" was cancelled")
		return nil, nil
	}
	next, err := s.successor(ctx, t, d)
	switch {
	case errors.Is(err, errNone) && wentLive(d):
		t.end(d, sample.Succeeded, "deployment "+t.id(d)+" was active, and was superseded since")
		return nil, nil
	case errors.Is(err, errNone):
		t.end(d, sample.Unknown, "deployment "+t.id(d)+" was superseded, and by which one is not listed")
		return nil, nil
	}
	return next, err
}

// successor is the deployment that superseded d: the first that was made after
// it. It may take a while to be listed.
func (s *Source) successor(ctx context.Context, t *tale, d *godo.Deployment) (*godo.Deployment, error) {
	for since := time.Now(); ; {
		next, err := s.fresh(ctx, t, d, nil)
		if !errors.Is(err, errNone) || time.Since(since) > s.api.pace.appear {
			return next, err
		}
		if err := sleep(ctx, s.api.pace.deploying); err != nil {
			return nil, err
		}
	}
}

// wentLive tells whether a deployment that is superseded now was active before:
// all that it had to do was done.
func wentLive(d *godo.Deployment) bool {
	if d.Progress == nil {
		return false
	}
	deployed := stepNamed(d.Progress.Steps, "deploy")
	return deployed != nil && deployed.Status == godo.DeploymentProgressStepStatus_Success
}

// lost tells the end of a deployment that was not followed to its end.
func (t *tale) lost(ctx context.Context, err error) {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && t.deployment == "":
		t.tell(sample.Signal{Kind: sample.SignalEnd, Name: sample.NoDeployment, Outcome: sample.Unknown,
			Message: "no new deployment of the app appeared within deploy-timeout"}, time.Time{})
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		t.tell(sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.TimedOut,
			Message: fmt.Sprintf("deployment %s was still %s", t.clean(t.deployment, 60), t.clean(t.phase, 30))}, time.Time{})
	case ctx.Err() != nil && t.deployment == "":
		// Told to stop, and nothing was begun.
	case ctx.Err() != nil:
		t.tell(sample.Signal{Kind: sample.SignalEnd, Name: "deploy-left", Outcome: sample.Unknown,
			Message: fmt.Sprintf("left while deployment %s was %s: %v", t.clean(t.deployment, 60), t.clean(t.phase, 30), context.Cause(ctx))}, time.Time{})
	default:
		t.tell(sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.Unknown,
			Message: "the platform does not tell any more how the deployment goes on: " + format.Clean(t.s.api.said(err), maxSaid)}, time.Time{})
	}
}
