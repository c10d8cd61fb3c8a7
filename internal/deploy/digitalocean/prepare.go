package digitalocean

import (
	"context"
	"fmt"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/appspec"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// prepare finds the app, reads its spec, and notes which deployments there are.
func (s *Source) prepare(ctx context.Context) (*Prepared, error) {
	trouble := s.waiting()
	app, err := s.api.findApp(ctx, s.app, trouble)
	if err != nil {
		return nil, err
	}
	// Who answers there now is older than this; see [Source.fresh].
	s.mu.Lock()
	s.id, s.since = app.ID, time.Now()
	s.mu.Unlock()
	list, err := s.api.deployments(ctx, app.ID, s.api.pace.prepare, trouble)
	if err != nil {
		return nil, s.api.explain(err, "list the app's deployments", scopeRead)
	}
	for _, d := range append(list, app.ActiveDeployment, app.InProgressDeployment, app.PendingDeployment, app.PinnedDeployment) {
		s.pass(d)
	}
	p := &Prepared{Platform: facts(app, s.probed.url)}
	p.Warnings = append(s.deployWarnings(app, list), s.slowWarnings(p.Platform)...)
	return p, nil
}

// waiting says once, through Note, that the API has not answered for a while.
func (s *Source) waiting() func(error) {
	since, said := time.Now(), false
	return func(err error) {
		if err == nil || said || s.Note == nil || time.Since(since) < s.api.pace.lost {
			return
		}
		said = true
		s.Note(fmt.Sprintf("waiting for DigitalOcean's API, up to %s for each question: %s", format.Duration(s.api.pace.prepare), s.api.said(err)))
	}
}

// pass notes a deployment as one that is not the next.
func (s *Source) pass(d *godo.Deployment) {
	if d == nil || d.ID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[d.ID] = true
}

// deployWarnings is about what the app's deployments will do to this run.
func (s *Source) deployWarnings(app *godo.App, list []*godo.Deployment) []string {
	var out []string
	name := s.api.clean(format.Name(nameOf(app), 60), 0)
	for _, d := range list {
		if !final(d.Phase) {
			out = append(out, fmt.Sprintf("platform: deployment %s of %s is under way already (%s), and is not the one that is followed; what it does falls into the baseline, so wait for its end first",
				s.api.clean(d.ID, 60), name, s.api.clean(string(d.Phase), 30)))
		}
	}
	if s.trigger == config.TriggerRestart && s.probed.versionOnly {
		out = append(out, "trigger: a restart keeps the version, and instance-from is none, so that no cutover can be seen; write where answers name their instance, like header:x-instance")
	}
	if app.PinnedDeployment != nil && s.trigger != config.TriggerNone && s.trigger != "" {
		out = append(out, fmt.Sprintf("platform: %s is pinned to a deployment after a rollback, and may refuse to deploy; commit or revert the rollback first", name))
	}
	if m := app.Spec; m != nil && m.Maintenance != nil && (m.Maintenance.Enabled || m.Maintenance.Archive) {
		out = append(out, fmt.Sprintf("platform: %s is in maintenance mode, so that an offline page answers in its place; set maintenance.enabled: false in the app spec", name))
	}
	return out
}

// edgeReads is how long the edge waits for an answer, as long as it always did.
const edgeReads = 100 * time.Second

// slowWarnings is about slow requests that a deploy will cut, or the edge will.
func (s *Source) slowWarnings(p sample.Platform) []string {
	var out []string
	slow := s.probed.slow
	if slow >= edgeReads {
		out = append(out, fmt.Sprintf("slow-seconds: the edge ends a request that is not answered within about %s, deploy or not; write lengths up to 90", format.Duration(edgeReads)))
	}
	if slow == 0 || p.DrainSeconds == nil || p.GracePeriodSeconds == nil || slow <= time.Duration(*p.DrainSeconds)*time.Second {
		return out
	}
	drain, grace := *p.DrainSeconds, *p.GracePeriodSeconds
	longer, enough := appspec.Drain(slow)
	after := ""
	if !enough {
		after = ", which is the most and not enough: such requests need the app to finish them on SIGTERM"
	}
	out = append(out, fmt.Sprintf("slow-seconds: a request of %s outlives termination.drain_seconds, %s for %s: every deploy cuts it, unless the app finishes its requests on SIGTERM, within grace_period_seconds (%s); "+
		"the cure is this line under the service in the app spec, with which a deploy takes up to %d s longer: %s%s",
		format.Duration(slow), orDefaultText(drain, appspec.DefaultDrain), s.api.clean(format.Name(p.Component, 60), 0), orDefaultText(grace, appspec.DefaultGrace), max(0, longer-drain), appspec.Termination(longer, grace), after))
	return out
}

// orDefaultText says whether a number of seconds is the platform's default.
func orDefaultText(n, standard int) string {
	if n == standard {
		return fmt.Sprintf("%d (the default)", n)
	}
	return fmt.Sprint(n)
}

// longest is the length of the longest slow request; 0 where none is sent.
func longest(cfg *config.Config) time.Duration {
	if cfg.SlowURL == "" {
		return 0
	}
	n := 0.0
	for _, s := range cfg.SlowSeconds {
		n = max(n, s)
	}
	return time.Duration(n * float64(time.Second))
}

// final tells whether a phase is the last one.
func final(p godo.DeploymentPhase) bool {
	switch p {
	case godo.DeploymentPhase_Active, godo.DeploymentPhase_Superseded, godo.DeploymentPhase_Error, godo.DeploymentPhase_Canceled:
		return true
	}
	return false
}
