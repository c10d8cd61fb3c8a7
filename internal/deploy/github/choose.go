package github

import (
	"context"
	"slices"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// note notes the deployments that are there.
func (s *Source) note(ctx context.Context) error {
	list, err := s.list(ctx)
	if err != nil {
		return err
	}
	looked := 0
	for _, d := range list {
		s.seen = max(s.seen, d.GetID())
		if !s.ours(d) || looked == maxOpen {
			continue
		}
		looked++
		statuses, err := s.statuses(ctx, d.GetID())
		if err != nil {
			return err
		}
		if !s.own(statuses) && (len(statuses) == 0 || !over(statuses[0].GetState())) {
			s.open = append(s.open, d.GetID())
		}
	}
	return nil
}

// choose sets the deployment that is to be followed; nil: it is not there yet.
// One that was there before the run gives way to a newer one: it may have been
// left open for ever.
func (f *follower) choose(ctx context.Context) error {
	if f.o.Deployment != 0 {
		if f.deployment != nil {
			return nil
		}
		d, err := f.deploymentOf(ctx, f.o.Deployment)
		f.deployment = d
		return err
	}
	if f.deployment != nil && !f.old {
		return nil
	}
	list, err := f.list(ctx)
	if err != nil {
		return err
	}
	if next := f.next(list); next != nil {
		return f.takeOver(ctx, next)
	}
	if f.deployment == nil && len(f.open) > 0 {
		f.deployment, err = f.deploymentOf(ctx, f.open[0])
		f.old = true
	}
	return err
}

// next is the first deployment that is new; nil: there is none.
func (f *follower) next(list []*github.Deployment) *github.Deployment {
	for _, d := range slices.Backward(list) {
		same := f.deployment == nil || d.GetEnvironment() == f.deployment.GetEnvironment()
		if d.GetID() > f.passed && f.ours(d) && same {
			return d
		}
	}
	return nil
}

// takeOver follows a new deployment, in the place of an old one once something
// is told of the new one: it may be the own job's.
func (f *follower) takeOver(ctx context.Context, next *github.Deployment) error {
	if f.deployment != nil {
		statuses, err := f.statuses(ctx, next.GetID())
		switch {
		case err != nil:
			return err
		case f.own(statuses):
			f.pass(next.GetID())
			return nil
		case len(statuses) == 0:
			return nil
		}
		if f.told != 0 {
			f.tell(sample.Signal{
				Kind: sample.SignalNote, Name: "deployment-passed",
				Message: named(f.deployment.GetID(), f.deployment.GetEnvironment()) + " was there before the run; a newer one is followed from here on",
			}, time.Time{})
		}
	}
	f.deployment, f.old = next, false
	f.told, f.state, f.begun = 0, "", false
	return nil
}

// pass has a deployment never be followed again.
func (f *follower) pass(id int64) {
	f.open = slices.DeleteFunc(f.open, func(open int64) bool { return open == id })
	f.passed = max(f.passed, id)
}

func (s *Source) deploymentOf(ctx context.Context, id int64) (*github.Deployment, error) {
	d, _, err := s.api.Repositories.GetDeployment(ctx, s.o.Owner, s.o.Repo, id)
	return d, err
}

// list is the latest deployments, the latest first.
func (s *Source) list(ctx context.Context) ([]*github.Deployment, error) {
	list, _, err := s.api.Repositories.ListDeployments(ctx, s.o.Owner, s.o.Repo, &github.DeploymentsListOptions{
		Environment: s.o.Environment, ListOptions: github.ListOptions{PerPage: pageSize},
	})
	return list, err
}

// statuses is what was told of a deployment, the latest first.
func (s *Source) statuses(ctx context.Context, id int64) ([]*github.DeploymentStatus, error) {
	list, _, err := s.api.Repositories.ListDeploymentStatuses(ctx, s.o.Owner, s.o.Repo, id, &github.ListOptions{PerPage: pageSize})
	return list, err
}
