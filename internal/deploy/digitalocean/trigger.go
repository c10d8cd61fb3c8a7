package digitalocean

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// fire has the app deploy: one POST, whatever becomes of it. Where that cannot
// be told, the deployment that it may have made is looked for.
func (s *Source) fire(ctx context.Context, t *tale) (*godo.Deployment, error) {
	// What others began since the start is not what this is about to make.
	list, err := s.api.deployments(ctx, s.appID(), s.api.pace.giveUp, t.trouble)
	if err != nil {
		return nil, s.api.explain(err, "list the app's deployments before it is asked to deploy", scopeRead)
	}
	for _, d := range list {
		s.pass(d)
	}
	s.mu.Lock()
	s.since = time.Now()
	s.mu.Unlock()
	t.tell(sample.Signal{Kind: sample.SignalNote, Name: "trigger " + s.trigger}, time.Time{})
	d, err := s.post(ctx)
	switch code := status(err); {
	case err == nil && d != nil && d.ID != "":
		return d, nil
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout:
		return nil, s.refused(err)
	case err == nil:
		err = errNothing
	}
	t.tell(sample.Signal{Kind: sample.SignalNote, Name: "trigger-answer-lost",
		Message: "whether it was accepted is not known, so the first new deployment whose cause may be this one is taken for it: " + s.api.said(err)}, time.Time{})
	return s.made(ctx, t, err)
}

func (s *Source) post(ctx context.Context) (*godo.Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, s.api.pace.attempt)
	defer cancel()
	if s.trigger == config.TriggerRestart {
		d, _, err := s.api.apps.Restart(ctx, s.appID(), &godo.AppRestartRequest{Components: []string{}}) // all of them
		return d, err
	}
	d, _, err := s.api.apps.CreateDeployment(ctx, s.appID(), &godo.DeploymentCreateRequest{ForceBuild: s.trigger == config.TriggerRebuild})
	return d, err
}

// refused is the error of a trigger that the platform did not take.
func (s *Source) refused(err error) error {
	if code := status(err); code == http.StatusUnauthorized || code == http.StatusForbidden {
		return s.api.explain(err, "have the app deploy", scopeUpdate)
	}
	return fmt.Errorf("trigger: DigitalOcean refused to %s the app (%s); nothing was deployed, and it is not asked again: see the app's activity, and run again", s.trigger, s.api.said(err))
}

// made is the deployment that a POST without an answer made: a new one whose
// cause may be the trigger.
func (s *Source) made(ctx context.Context, t *tale, lost error) (*godo.Deployment, error) {
	var others *godo.Deployment // the latest that is somebody else's
	for since := time.Now(); ; {
		d, err := s.fresh(ctx, t, nil, func(d *godo.Deployment) bool {
			if foreign(d) {
				others = d
			}
			return foreign(d)
		})
		if !errors.Is(err, errNone) {
			return d, err
		}
		if time.Since(since) > s.api.pace.appear {
			return nil, s.notMade(t, lost, others)
		}
		if err := sleep(ctx, s.api.pace.deploying); err != nil {
			return nil, err
		}
	}
}

// notMade is the error of a trigger whose deployment did not come up; others is
// somebody else's that did, nil where none did.
func (s *Source) notMade(t *tale, lost error, others *godo.Deployment) error {
	came := "no new deployment came up"
	if others != nil {
		came = fmt.Sprintf("only another's deployment came up (%s %s), which is not followed", t.clean(string(others.CauseDetails.Type), 40), t.id(others))
	}
	// The cause comes last, since a report may shorten this.
	return fmt.Errorf("trigger: DigitalOcean was asked to %s the app, its answer was lost, and %s; see the app's activity before you run again (%s)", s.trigger, came, s.api.said(lost))
}
