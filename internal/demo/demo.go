// Package demo plays a scene of the box, probes and judges its deploy as any
// other, and sets the judgement beside the box's own record.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
)

// DefaultScene is played where none is named.
const DefaultScene = "app-platform"

// settleLimit bounds how long the box may take to end its rollout once the
// judgement is there.
const settleLimit = 30 * time.Second

// Options are what to play and how to show it.
type Options struct {
	Scene    string // of [box.Scenes]; "" is [DefaultScene]
	Seed     int64
	RealTime bool // as long as on a real platform

	Platform string        // "": the box tells of its deploys itself; else through this platform's API
	Repeat   int           // deploys; below 2: one
	Tail     time.Duration // 0: the scene's

	JSON     bool // the result as JSON to Stdout, the rest to Stderr
	Color    bool
	Width    int
	Progress bool // tell on Stderr how the run goes
	Live     bool // Stderr is a terminal

	ReportDir string // an existing folder, for the result and the samples
	Version   string // of cutwatch
	Stdout    io.Writer
	Stderr    io.Writer
}

// List writes the scenes, one a line.
func List(w io.Writer) error {
	for _, s := range box.Scenes() {
		if _, err := fmt.Fprintf(w, "%-24s %s\n", s.Name, s.Summary); err != nil {
			return fmt.Errorf("writing the list of scenes: %w", err)
		}
	}
	return nil
}

// Run plays a scene. The exit code is 0 where the judgement agrees with the
// box's record, whatever the verdict, and 1 where it does not. A scene that
// does not exist is a [config.InputError].
func Run(ctx context.Context, o Options) (exitCode int, err error) {
	if o.Scene == "" {
		o.Scene = DefaultScene
	}
	scene, err := box.NewScene(o.Scene, o.Seed, o.RealTime)
	if err != nil {
		return 0, &config.InputError{Input: "scene", Problem: err.Error()}
	}
	if o.Tail > 0 {
		scene.Probe.Tail = config.Duration(o.Tail)
	}
	if o.Platform != "" {
		if err := fit(&scene); err != nil {
			return 0, err
		}
	}
	s, err := play(ctx, scene, o)
	if err != nil {
		return 0, fmt.Errorf("demo: %w", err)
	}
	agree, err := s.show(o)
	if err != nil {
		return 0, fmt.Errorf("demo: %w", err)
	}
	if ctx.Err() != nil || !agree {
		return 1, nil
	}
	return 0, nil
}

// played is a scene that was played: one deploy, or several.
type played struct {
	scene  box.Scene
	truths []box.Truth // of each run, the control period's first where there is one
	out    *run.Outcome
	extra  []Row
}

// play sets the scene up and has it deployed under the probe's eyes.
func play(ctx context.Context, scene box.Scene, o Options) (p *played, err error) {
	s := newStage(scene, o)
	defer func() { err = errors.Join(err, s.close()) }()
	first := 1
	if o.Repeat > 1 {
		first = 0
	}
	if err := s.next(ctx, first); err != nil {
		return nil, err
	}
	ro := run.Options{Config: s.config(), Deploy: s, Version: o.Version}
	if o.Progress {
		ro.Progress, ro.Live = o.Stderr, o.Live
	}
	var api *platform
	if o.Platform != "" {
		if api, err = openPlatform(s); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, api.api.Close()) }()
		if err := api.follow(ctx, &ro); err != nil {
			return nil, err
		}
	}
	if err := ro.Config.Validate(); err != nil {
		return nil, err
	}
	p = &played{scene: scene}
	if o.Repeat > 1 {
		p.out, err = run.Repeat(ctx, ro, func(n int, _ *run.Options) error {
			if n == first {
				return nil
			}
			return s.next(ctx, n)
		})
	} else {
		p.out, err = run.Run(ctx, ro)
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.end(ctx); err != nil {
		return nil, err
	}
	p.truths = s.truths
	if api != nil {
		p.extra = []Row{api.row(p.followed())}
	}
	return p, nil
}

// followed is the deployments that the judgements name.
func (p *played) followed() []string {
	var ids []string
	results := p.out.Result.Runs
	if results == nil {
		results = []*report.Result{p.out.Result}
	}
	for _, r := range results {
		if r.Platform != nil && r.Platform.DeploymentID != nil {
			ids = append(ids, *r.Platform.DeploymentID)
		}
	}
	return ids
}

// Config is the inputs that a user would give for a box.
func Config(b *box.Box) *config.Config {
	p := b.Scene().Probe
	cfg := config.Default()
	cfg.URL, cfg.SlowURL = b.URL(), b.SlowURL()
	cfg.SlowSeconds, cfg.SlowInterval = config.Seconds{p.SlowSeconds}, p.SlowInterval
	cfg.Connections, cfg.Rate = p.Connections, config.Rate{PerSecond: p.Rate}
	cfg.Baseline, cfg.Settle, cfg.Tail = p.Baseline, p.Settle, p.Tail
	cfg.CutoverTimeout = p.CutoverTimeout
	return cfg
}
