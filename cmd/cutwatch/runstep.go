package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/run"
)

// run probes within this step: it wraps a command, or goes on until the first
// cutover is over, unless other steps say when the deploy begins and ends.
func (s *step) run(ctx context.Context) (int, error) {
	cfg, platform, err := s.config(ctx)
	if err != nil {
		return 0, err
	}
	if err := config.PrepareReportDir(cfg.ReportDir); err != nil {
		return 0, err
	}
	var out *run.Outcome
	line := s.input(host.CommandInput)
	if err := checkRepeat(cfg, line != "" || cfg.Triggers()); err != nil {
		return 0, err
	}
	switch {
	case line != "":
		out, err = s.wrap(ctx, cfg, platform, line)
	case cfg.Repeat > 1:
		o := run.Options{Config: cfg, Version: Version, Progress: s.program.err}
		platform.deployBy(&o, nil, false)
		out, err = deployAll(ctx, o)
	default:
		out, err = s.besideOthers(ctx, cfg, platform)
	}
	if errors.Is(err, marker.ErrSkipped) {
		return s.withoutDeploy(), nil
	}
	if err != nil {
		return 0, err
	}
	if err := s.here.OwnReport(cfg.ReportDir); err != nil {
		s.note("the report stays root's: " + err.Error())
	}
	return s.publish(ctx, out, cfg.ReportDir, true), nil
}

// commandGrace is how long a command has to end when the job is cancelled: the
// runner sends SIGTERM 7.5 s after SIGINT, and what was recorded is to be judged
// by then.
const commandGrace = 3 * time.Second

// wrap runs a shell line as the deploy.
func (s *step) wrap(ctx context.Context, cfg *config.Config, platform *platform, line string) (*run.Outcome, error) {
	if err := oneDeploys(cfg, host.CommandInput+" deploys too"); err != nil {
		return nil, err
	}
	argv := []string{"sh", "-e", "-c", line}
	source, err := deploy.NewCommand(argv, deploy.CommandIO{
		Stdin: commandStdin(s.in), Stdout: s.out, Stderr: s.program.err, Grace: commandGrace,
	})
	if err != nil {
		return nil, &config.InputError{Input: host.CommandInput, Problem: err.Error()}
	}
	o := run.Options{Config: cfg, Version: Version, Command: argv, GiveUp: giveUp, Progress: s.program.err}
	platform.deployBy(&o, source, true)
	return deployAll(ctx, o)
}

// besideOthers probes with a folder in which other steps can leave their marks.
func (s *step) besideOthers(ctx context.Context, cfg *config.Config, platform *platform) (*run.Outcome, error) {
	dir, err := s.here.OpenMarks(cfg.ID)
	if err != nil {
		return nil, fmt.Errorf("no folder for the marks of other steps: %w", err)
	}
	out, err := steered(ctx, s.program, cfg, platform, marks{folder: dir, reportDir: cfg.ReportDir})
	done := marker.Done{}
	switch {
	case errors.Is(err, marker.ErrSkipped):
	case err != nil:
		done.ExitCode, done.Message = codeOf(err), err.Error()
	default:
		done.ExitCode = out.Verdict.ExitCode
	}
	if markErr := marker.Write(dir, marker.DoneFile, done); markErr != nil {
		s.note("other steps cannot be told of the end: " + markErr.Error())
	}
	return out, err
}
