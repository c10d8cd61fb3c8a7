package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/actions"
)

// startCmd is `cutwatch start`.
type startCmd struct {
	config.Config `embed:""`
}

func (c *startCmd) main(ctx context.Context, p *program) (int, error) {
	s := commandStep(p, c.Get)
	return s.start(ctx)
}

// commandStep is a call of a command as a step.
func commandStep(p *program, input func(string) string) *step {
	return &step{program: p, runner: actions.New(p.out, p.getenv), here: host.Here(p.getenv), input: input}
}

// savedProbe is the post step's name for that a probe was started.
const savedProbe = "probe"

// start starts a probe in the background and returns when its baseline is in.
func (s *step) start(ctx context.Context) (int, error) {
	cfg, _, err := s.config(ctx, func(cfg *config.Config) error {
		if err := oneDeploys(cfg, "a probe that is started beside other steps watches what they deploy (write mode: run for a trigger)"); err != nil {
			return err
		}
		return checkRepeat(cfg, false)
	}) // the probe asks the platform itself; what is wrong is said here
	if err != nil {
		return 0, err
	}
	p, err := s.launch(ctx, cfg)
	if err != nil {
		return 0, err
	}
	s.lost(s.runner.Save(savedProbe, "started"))
	ready, err := host.AwaitReady(ctx, p, s.log())
	switch ended, isEnd := errors.AsType[host.Ended](err); {
	case isEnd:
		return s.endedEarly(ctx, p, ended)
	case ctx.Err() != nil:
		return s.startStopped(ctx, p)
	case err != nil:
		return 0, fmt.Errorf("the probe cannot be watched: %w", err)
	}
	s.note(host.WhatItSaw(ready) + "; the deploy can begin")
	return 0, nil
}

// launch starts the probe: beside the action's container, or as a process.
func (s *step) launch(ctx context.Context, cfg *config.Config) (host.Probe, error) {
	// Before anything is sent: the report is written there in the end.
	if err := config.PrepareReportDir(cfg.ReportDir); err != nil {
		return nil, err
	}
	if s.inAction {
		return s.here.StartSibling(ctx, cfg, s.input, s.log())
	}
	inputs := map[string]string{}
	for _, in := range config.Inputs() {
		inputs[in.Name] = s.input(in.Name)
	}
	for _, name := range []string{"report-dir", "history"} {
		if inputs[name] == "" {
			continue
		}
		path, err := filepath.Abs(inputs[name])
		if err != nil {
			return nil, err
		}
		inputs[name] = path
	}
	return s.here.StartProcess(cfg, inputs)
}

// endedEarly judges a probe that ended before its baseline was in.
func (s *step) endedEarly(ctx context.Context, p host.Probe, ended host.Ended) (int, error) {
	out, dir, err := s.here.Collect(ctx, p, host.Finishing{ReportDir: s.reportDir()}, s.log())
	if err != nil {
		s.here.Leave(s.input("id"), host.Trace{Headline: ended.Error(), ExitCode: exitFault}, s.log())
		return 0, fmt.Errorf("%w: see what it said above (%w)", ended, err)
	}
	s.leave(out.Head.Config.ID, out, dir)
	code := s.publish(ctx, out, dir, true)
	if code == 0 {
		code = exitInconclusive // without a baseline the deploy must not begin
	}
	return code, nil
}

// startStopped: the job was cancelled, or the user does not want to wait. The
// deploy will not begin, so the probe stops as well; the post step collects it.
func (s *step) startStopped(ctx context.Context, p host.Probe) (int, error) {
	s.note("told to stop while the baseline was measured: the probe stops too")
	ctx = context.WithoutCancel(ctx)
	if s.inAction {
		return exitInconclusive, p.Interrupt(ctx)
	}
	return exitInconclusive, p.Remove(ctx)
}
