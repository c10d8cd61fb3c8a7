// Package github is the source of a deploy of which some other integration, or a
// job with an environment, tells through GitHub's Deployments API: whichever
// platform it is.
//
// # What is followed
//
// The event's own deployment, where the workflow was started by one. Else the
// first deployment of the event's commit (to the environment that was named)
// that was not there when the run began; one that was there, and not over, is
// taken until a newer one to its environment comes. The deployment of the job that this step is part of is passed
// over: it is over only after the job.
//
// # What is told
//
// Its statuses are signals by their own names (queued, pending, in_progress,
// success, failure, error, inactive), at GitHub's time moved onto the run's
// clock; "created" is the deployment itself. The start is the first pending or
// in_progress. Integrations that tell of nothing but the end have begun when the
// deployment was made. success, failure, error and inactive are the end:
// succeeded, failed, failed, and unknown, since another took its place.
//
// # Trouble
//
// GitHub is asked every few seconds, more seldom where the quota would not last.
// What could not be asked for is told by notes (api-lost, api-back) and tried
// again until the run ends.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/githubapi"
)

// Options say which deployment is followed.
type Options struct {
	Owner, Repo string
	Environment string   // "": any
	Commits     []string // one of them is deployed; none: any but Not
	Not         string   // a commit that is not deployed
	Deployment  int64    // the id of the one that is followed; 0: a new one is waited for
	JobURL      string   // of the own job's page; "": not known
}

// Source is the deploy that a deployment tells of. It may be run several times,
// one after the other.
type Source struct {
	o    Options
	api  *githubapi.Client
	pace pace

	seen int64   // the latest deployment that was there before the run
	open []int64 // those of them that may be followed, since they were not over; the latest first

	mu    sync.Mutex
	start time.Time
}

// pace is how often GitHub is asked.
type pace struct {
	waiting, pending, rolling time.Duration
	lost                      time.Duration // after how long without an answer that is told
	silent                    time.Duration // the same, before the run
}

var realPace = pace{waiting: 5 * time.Second, pending: 5 * time.Second, rolling: 2 * time.Second, lost: 15 * time.Second, silent: 2 * time.Second}

var _ deploy.Timed = (*Source)(nil)

// New is a source that asks api. It sends nothing.
func New(api *githubapi.Client, o Options) *Source {
	return &Source{o: o, api: api, pace: realPace}
}

// Name is "github".
func (s *Source) Name() string { return config.PlatformGitHub }

// StartedAt tells when the run started.
func (s *Source) StartedAt(start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start = start
}

const (
	// prepareWithin bounds the first look at the deployments.
	prepareWithin = 30 * time.Second
	// askWithin bounds one question later on.
	askWithin = 20 * time.Second
	// pageSize is how many of the latest deployments are looked at.
	pageSize = 100
	// maxOpen is how many of those that were there are looked at for one that is
	// not over.
	maxOpen = 5
)

// Prepare notes which deployments there are, so that a new one can be told from
// them, and finds out whether the token may ask. It is called once, before the
// run. Where GitHub lets it wait, say is told so. An error that is no
// [config.InputError] is GitHub's trouble.
func (s *Source) Prepare(ctx context.Context, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	defer soon(s.pace.silent, func() {
		say("platform: GitHub has not told yet which deployments there are; it is waited for, up to " + format.Duration(prepareWithin))
	})()
	var err error
	if s.o.Deployment != 0 {
		_, _, err = s.api.Repositories.GetDeployment(ctx, s.o.Owner, s.o.Repo, s.o.Deployment)
	} else {
		err = s.note(ctx)
	}
	switch {
	case err == nil:
		return nil
	case githubapi.Denied(err) && githubapi.Status(err) != http.StatusUnauthorized:
		return &config.InputError{Input: "github-token", Problem: "deployments cannot be read: " + s.api.Reason(err) + "; give the job the permission deployments: read"}
	case githubapi.Denied(err):
		return &config.InputError{Input: "github-token", Problem: s.api.Reason(err) + "; give the job's own, or one with the permission deployments: read"}
	}
	return fmt.Errorf("platform: deployments cannot be read: %s; try again later, or leave platform out", s.api.Reason(err))
}

// soon does something after a while, unless stop is called before; it is not
// under way any more once stop has returned.
func soon(after time.Duration, do func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(done)
		do()
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// ours tells whether a deployment is of the commit.
func (s *Source) ours(d *github.Deployment) bool {
	for _, commit := range s.o.Commits {
		if d.GetSHA() == commit {
			return true
		}
	}
	return len(s.o.Commits) == 0 && (s.o.Not == "" || d.GetSHA() != s.o.Not)
}

// own tells whether statuses are of the job that this step is part of.
func (s *Source) own(statuses []*github.DeploymentStatus) bool {
	if s.o.JobURL == "" || len(statuses) == 0 || s.o.Deployment != 0 {
		return false
	}
	for _, page := range []string{statuses[0].GetLogURL(), statuses[0].GetTargetURL()} {
		if page == s.o.JobURL || strings.HasPrefix(page, s.o.JobURL+"/") || strings.HasPrefix(page, s.o.JobURL+"?") {
			return true
		}
	}
	return false
}

// over tells whether a state is the last.
func over(state string) bool {
	switch state {
	case "success", "failure", "error", "inactive":
		return true
	}
	return false
}

// Run waits for the deployment and follows it to its end. It tells no end where
// ctx is done before, unless it is that the deploy took too long. The next run
// follows a later one.
func (s *Source) Run(ctx context.Context, emit deploy.Emit) error {
	f := s.follow(emit)
	defer f.leave()
	for {
		asking, cancel := context.WithTimeout(ctx, askWithin)
		err := f.look(asking)
		cancel()
		if err != nil && ctx.Err() == nil {
			f.missed(err)
		}
		if f.over {
			return nil
		}
		timer := time.NewTimer(max(f.pause(), s.api.Spread()))
		select {
		case <-ctx.Done():
			timer.Stop()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				f.tooLong()
			}
			return nil
		case <-timer.C:
		}
	}
}

// named is what a deployment is called in a sentence.
func named(id int64, environment string) string {
	out := fmt.Sprintf("the deployment %d", id)
	if environment != "" {
		out += " to " + format.Name(environment, 60)
	}
	return out
}
