package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// follower follows one deployment and tells each thing once.
type follower struct {
	*Source
	emit  deploy.Emit
	start time.Time // of the run

	deployment *github.Deployment // nil: not found yet
	old        bool               // it was there before the run
	passed     int64              // deployments up to this one are not the one
	told       int64              // the latest status that was told
	toldAt     time.Time          // when it was given
	state      string             // of it
	begun      bool               // the start was told
	over       bool

	failing time.Time // since when GitHub does not answer; zero: it does
	said    bool      // that was told
}

func (s *Source) follow(emit deploy.Emit) *follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.start.IsZero() {
		s.start = time.Now()
	}
	return &follower{Source: s, emit: emit, start: s.start, passed: s.seen}
}

// leave has the next run pass over what this one has followed.
func (f *follower) leave() {
	if f.deployment != nil {
		f.seen = max(f.seen, f.passed, f.deployment.GetID())
		f.open, f.o.Deployment = nil, 0
	}
}

// pause is how long until GitHub is asked again.
func (f *follower) pause() time.Duration {
	switch {
	case !f.failing.IsZero(), f.deployment == nil:
		return f.Source.pace.waiting
	case f.state == "in_progress":
		return f.Source.pace.rolling
	}
	return f.Source.pace.pending
}

// look asks once, and tells what is new.
func (f *follower) look(ctx context.Context) error {
	if err := f.choose(ctx); err != nil {
		return err
	}
	if f.deployment == nil {
		f.heard()
		return nil
	}
	statuses, err := f.statuses(ctx, f.deployment.GetID())
	if err != nil {
		return err
	}
	f.heard()
	if f.own(statuses) {
		f.pass(f.deployment.GetID())
		f.deployment = nil
		return nil
	}
	for _, status := range slices.Backward(statuses) {
		if !f.over && status.GetID() > f.told {
			f.take(status)
		}
	}
	return nil
}

// take tells a status.
func (f *follower) take(status *github.DeploymentStatus) {
	d := f.deployment
	if f.told == 0 {
		f.tell(sample.Signal{Kind: f.kindOf(status.GetState()), Name: "created", Message: named(d.GetID(), d.GetEnvironment())}, d.GetCreatedAt().Time)
	}
	if f.told != 0 && over(status.GetState()) && status.GetState() != "inactive" && !f.begun {
		f.begun = true
		f.tell(sample.Signal{Kind: sample.SignalStart, Name: "in_progress", Message: "this was not told; the deploy began after " + format.Name(f.state, 40)}, f.toldAt)
	}
	f.told, f.toldAt, f.state = status.GetID(), status.GetCreatedAt().Time, status.GetState()
	g := sample.Signal{Kind: sample.SignalPhase, Name: format.Clean(f.state, 40), Message: format.Clean(status.GetDescription(), 200)}
	switch f.state {
	case "pending", "in_progress":
		if !f.begun {
			g.Kind, f.begun = sample.SignalStart, true
		}
	case "success", "failure", "error", "inactive":
		g.Kind, f.over = sample.SignalEnd, true
		g.Outcome, g.Message = f.end(g.Message)
	}
	f.tell(g, status.GetCreatedAt().Time)
}

// kindOf is what the deployment's making is, by the first thing that is told of
// it: the start, where that is the end.
func (f *follower) kindOf(first string) string {
	if over(first) {
		f.begun = true
		return sample.SignalStart
	}
	return sample.SignalPhase
}

// end is the outcome by the last state, with what was said of it.
func (f *follower) end(said string) (outcome, message string) {
	message = named(f.deployment.GetID(), f.deployment.GetEnvironment())
	switch f.state {
	case "success":
		outcome, message = sample.Succeeded, message+" succeeded"
	case "inactive":
		outcome, message = sample.Unknown, message+" was replaced by another before it was over"
	default:
		outcome, message = sample.Failed, message+fmt.Sprintf(" ended in %q", f.state)
	}
	if said != "" {
		message += ": " + said
	}
	return outcome, message
}

// tell emits a signal at a time of GitHub's clock; zero: now.
func (f *follower) tell(g sample.Signal, at time.Time) {
	if f.deployment != nil {
		g.Deployment = strconv.FormatInt(f.deployment.GetID(), 10)
	}
	now := time.Since(f.start)
	if !at.IsZero() {
		now = min(now, f.api.Clock.Move(at, f.start))
		if o, known := f.api.Clock.Offset(); known {
			g.Offset = int64(o.Ahead)
		}
	}
	g.At = max(1, int64(now))
	f.emit(g)
}

// heard takes note that GitHub answered.
func (f *follower) heard() {
	if f.said {
		f.tell(sample.Signal{Kind: sample.SignalNote, Name: "api-back", Message: "GitHub had told nothing for " + format.Duration(time.Since(f.failing))}, time.Time{})
	}
	f.failing, f.said = time.Time{}, false
}

// missed takes note that it did not.
func (f *follower) missed(err error) {
	if githubapi.Status(err) == http.StatusNotFound && f.deployment != nil {
		f.gone(err)
		return
	}
	if f.failing.IsZero() {
		f.failing = time.Now()
	}
	if !f.said && time.Since(f.failing) >= f.Source.pace.lost {
		f.said = true
		f.tell(sample.Signal{Kind: sample.SignalNote, Name: "api-lost", Message: "deployments cannot be read: " + f.api.Reason(err)}, time.Time{})
	}
}

// gone is the end of a deployment that was removed.
func (f *follower) gone(err error) {
	f.over = true
	f.tell(sample.Signal{
		Kind: sample.SignalEnd, Name: "deployment-gone", Outcome: sample.Unknown,
		Message: named(f.deployment.GetID(), f.deployment.GetEnvironment()) + " cannot be read any more: " + f.api.Reason(err),
	}, time.Time{})
}

// tooLong is the end where the deploy had no more time.
func (f *follower) tooLong() {
	g := sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.TimedOut}
	if f.deployment == nil {
		g.Name, g.Outcome = sample.NoDeployment, sample.Unknown
		g.Message = "no new deployment of this commit"
		if f.o.Environment != "" {
			g.Message += " to " + format.Name(f.o.Environment, 60)
		}
		g.Message += " appeared within deploy-timeout"
	} else {
		g.Message = named(f.deployment.GetID(), f.deployment.GetEnvironment()) + " was not over in time"
		if f.state != "" {
			g.Message += "; it was " + format.Name(f.state, 40)
		}
	}
	f.tell(g, time.Time{})
}
