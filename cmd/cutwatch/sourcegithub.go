package main

import (
	"context"
	"fmt"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/github"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/event"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// followGitHub prepares to follow the deployment that the event is about, or the
// next one of its commit.
func followGitHub(ctx context.Context, cfg *config.Config, getenv func(string) string, note func(string)) (*platform, error) {
	e, err := event.Read(getenv)
	if err != nil {
		note("warning: " + err.Error() + "; the commit alone tells which deployment is followed")
	}
	o, err := deploymentOf(cfg, e)
	if err != nil {
		return nil, err
	}
	o.JobURL = host.Surroundings{Getenv: getenv}.JobURL()
	api, err := githubapi.New(getenv("GITHUB_API_URL"), cfg.GitHubToken)
	if err != nil {
		return nil, &config.InputError{Input: "platform", Problem: err.Error()}
	}
	source := github.New(api, o)
	if err := source.Prepare(ctx, note); err != nil {
		return nil, err
	}
	app := cfg.App
	if app == "" {
		app = e.Environment
	}
	return &platform{source: source, facts: &sample.Platform{Kind: config.PlatformGitHub, App: app}}, nil
}

// deploymentOf says which deployment is followed.
func deploymentOf(cfg *config.Config, e event.Event) (github.Options, error) {
	o := github.Options{Owner: e.Owner, Repo: e.Repo, Environment: cfg.App, Deployment: e.Deployment}
	switch {
	case e.Owner == "":
		return o, &config.InputError{Input: "platform", Problem: "github needs the variable GITHUB_REPOSITORY (OWNER/NAME), which a workflow has; set it, or leave platform out"}
	case e.Deployment != 0 && cfg.App != "" && cfg.App != e.Environment:
		return o, &config.InputError{Input: "app", Problem: fmt.Sprintf("got %s, and the workflow was started by a deployment to %s; leave app out, or have the job run for its own environment alone (if: github.event.deployment.environment == …)",
			format.Quote(cfg.App, 80), format.Quote(e.Environment, 80))}
	}
	o.Commits = e.Deployed()
	if len(o.Commits) == 0 {
		o.Not = e.CheckedOut // it is the base's, and what is deployed is not known
	}
	return o, nil
}
