package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/box/appapi"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	boxApp   = "box"
	boxToken = "dop_v1_of_the_box"
	// hurry is how many times more often the API in the box is asked than the
	// real one, where deploys take seconds.
	hurry = 10
)

// fit makes a scene one of App Platform's: in whole seconds, as a spec has them.
func fit(s *box.Scene) error {
	if s.Front != box.FrontEdge || !strings.HasPrefix(s.Name, "app-platform") && s.Rollout.Strategy != box.NoOp {
		return &config.InputError{Input: "platform", Problem: fmt.Sprintf("the scene %q is not App Platform's; give --scene app-platform, or leave platform out", s.Name)}
	}
	for _, d := range []*config.Duration{&s.Rollout.Drain, &s.Rollout.Grace} {
		*d = config.Duration(time.Duration(*d).Round(time.Second))
	}
	return nil
}

// platform is App Platform's API over the boxes of a stage.
type platform struct {
	stage *stage
	api   *appapi.API
}

// openPlatform serves the API; the stage has a box.
func openPlatform(s *stage) (*platform, error) {
	p := &platform{stage: s}
	seconds := func(d config.Duration) int { return int(time.Duration(d) / time.Second) }
	var err error
	p.api, err = appapi.Start(appapi.Options{
		App: appapi.App{
			Name: boxApp, LiveURL: s.box.URL(), Instances: s.scene.Instances,
			DrainSeconds: seconds(s.scene.Rollout.Drain), GracePeriodSeconds: seconds(s.scene.Rollout.Grace),
		},
		Token: boxToken, Deploy: p.deploy,
	})
	return p, err
}

// deploy has the box deploy, and the deployment go through the box's phases.
func (p *platform) deploy(ctx context.Context, d *appapi.Deployment) {
	b := p.stage.box
	if b.Scene().Rollout.Strategy == box.NoOp {
		d.Reused()
	}
	err := b.Rollout().Run(ctx, func(g sample.Signal) {
		switch {
		case g.Kind == sample.SignalPhase:
			d.Enter(g.Name)
		case g.Kind == sample.SignalEnd && g.Outcome == sample.Succeeded:
			d.Enter(appapi.Active)
		case g.Kind == sample.SignalEnd:
			d.Fail("DeployContainerExitNonZero", g.Message)
		}
	})
	if err != nil && !appapi.Final(d.Phase()) {
		d.Fail("UnknownError", err.Error())
	}
}

// follow adds the platform to a run's options, as a user's inputs would.
func (p *platform) follow(ctx context.Context, o *run.Options) error {
	cfg := o.Config
	cfg.Platform, cfg.Trigger, cfg.App, cfg.DigitalOceanToken = config.PlatformDigitalOcean, config.TriggerDeploy, boxApp, boxToken
	cfg.URL = "" // the platform knows it
	source, err := digitalocean.New(cfg, func(name string) string {
		if name == digitalocean.URLVariable {
			return p.api.URL()
		}
		return ""
	})
	if err != nil {
		return err
	}
	if !p.stage.o.RealTime {
		source.Hurry(hurry)
	}
	prepared, err := source.Prepare(ctx)
	if err != nil {
		return err
	}
	notes, err := prepared.Complete(cfg)
	if err != nil {
		return err
	}
	for _, w := range prepared.Warnings {
		notes = append(notes, "warning: "+w)
	}
	for _, n := range notes {
		fmt.Fprintf(p.stage.o.Stderr, "cutwatch: %s\n", n) //nolint:errcheck // progress never ends a run
	}
	o.Deploy, o.Platform = source, &prepared.Platform
	return nil
}

// row compares the API's own record of what was asked of it with the deploys
// that were judged.
func (p *platform) row(ids []string) Row {
	made := p.api.Deployments()[1:] // the first was there before
	r := Row{What: "deployments", Truth: fmt.Sprint(len(made)), Measured: fmt.Sprint(len(ids)), Agrees: len(made) == len(ids)}
	for i := range min(len(made), len(ids)) {
		if made[i] != ids[i] {
			r.Agrees = false
			r.Detail = append(r.Detail, fmt.Sprintf("deployment %s was followed as %s", made[i], ids[i]))
		}
	}
	if posts := p.api.Posts(); posts != len(made) {
		r.Agrees = false
		r.Detail = append(r.Detail, fmt.Sprintf("%d requests to deploy", posts))
	}
	r.Detail = few(r.Detail)
	return r
}
