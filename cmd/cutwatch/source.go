package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// platform is the platform that a run follows.
type platform struct {
	source deploy.Source
	facts  *sample.Platform // nil: it tells none
	leads  bool             // it is asked to deploy, so that a deploy will come
}

// follow prepares the platform that cfg names, nil where it names none. What cfg
// leaves to the platform is filled in; note is told what the user should know.
// Nothing is sent to the service; an error is a [config.InputError] or [notBegun].
func follow(ctx context.Context, cfg *config.Config, getenv func(string) string, note func(string)) (p *platform, err error) {
	switch cfg.Platform {
	case config.PlatformDigitalOcean:
		p, err = followDigitalOcean(ctx, cfg, getenv, note)
	case config.PlatformGitHub:
		p, err = followGitHub(ctx, cfg, getenv, note)
	default:
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, notBegun{fmt.Errorf("%w while the platform was asked; nothing was sent and nothing deployed", context.Cause(ctx))}
	}
	if _, bad := errors.AsType[*config.InputError](err); err != nil && !bad {
		return nil, notBegun{err}
	}
	return p, err
}

// notBegun is the error of a run that could not begin though nothing is wrong
// with its inputs: it is as inconclusive as a run can be.
type notBegun struct{ error }

func (n notBegun) Unwrap() error { return n.error }

func followDigitalOcean(ctx context.Context, cfg *config.Config, getenv func(string) string, note func(string)) (*platform, error) {
	source, err := digitalocean.New(cfg, getenv)
	if err != nil {
		return nil, err
	}
	source.Note = note
	prepared, err := source.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	notes, err := prepared.Complete(cfg)
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		note(n)
	}
	for _, w := range prepared.Warnings {
		note("warning: " + w)
	}
	return &platform{source: source, facts: &prepared.Platform, leads: cfg.Triggers()}, nil
}

// appears is how long after a command, or the deploy's step, has ended the
// platform may take to show a deployment that it asked for.
const appears = 20 * time.Second

// deployBy has a run follow the platform, p, beside what deploys otherwise, own;
// either may be nil. sure tells that own makes a deploy, or will be told of one.
func (p *platform) deployBy(o *run.Options, own deploy.Source, sure bool) {
	if own != nil {
		o.Deploy, o.Unsure = own, !sure
	}
	if p == nil {
		return
	}
	o.Platform = p.facts
	switch {
	case own == nil:
		o.Deploy, o.Unsure = p.source, !p.leads
	case p.leads:
		o.Deploy, o.Unsure = deploy.Together(p.source, own, 0), false
	default:
		o.Deploy = deploy.Together(own, p.source, appears)
	}
}

// oneDeploys refuses a trigger beside something else that deploys.
func oneDeploys(cfg *config.Config, other string) error {
	if !cfg.Triggers() {
		return nil
	}
	return &config.InputError{Input: "trigger", Problem: fmt.Sprintf("%q has the platform deploy, and %s; give one of the two", cfg.Trigger, other)}
}
