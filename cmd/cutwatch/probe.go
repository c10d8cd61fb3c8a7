package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/run"
)

// probeCmd is what runs in the background: the run that start steers by marks.
type probeCmd struct {
	Folder string `arg:"" name:"folder" help:"Where the task is and the marks are."`
}

func (c *probeCmd) main(ctx context.Context, p *program) (int, error) {
	code, err := c.run(ctx, p)
	done := marker.Done{ExitCode: code}
	if err != nil {
		done.ExitCode, done.Message = codeOf(err), err.Error()
	}
	if markErr := marker.Write(c.Folder, marker.DoneFile, done); markErr != nil {
		complain(p.err, "the probe's end cannot be marked: "+markErr.Error())
	}
	return code, err
}

func (c *probeCmd) run(ctx context.Context, p *program) (int, error) {
	var task marker.Task
	if ok, err := marker.Take(c.Folder, &task); err != nil || !ok {
		return 0, &config.InputError{Problem: fmt.Sprintf("%s holds no task for a probe (%v); probes are started by cutwatch start", c.Folder, err)}
	}
	cfg, err := config.FromInputs(func(name string) string { return task.Inputs[name] })
	if err != nil {
		return 0, err
	}
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	if err := config.PrepareReportDir(cfg.ReportDir); err != nil {
		return 0, err
	}
	reportDir := cfg.ReportDir
	if task.ReportDir != "" {
		reportDir = task.ReportDir
	}
	platform, err := follow(ctx, cfg, func(name string) string { return task.Environment[name] }, func(line string) { complain(p.err, line) })
	if err != nil {
		return 0, err
	}
	out, err := steered(ctx, p, cfg, platform, marks{c.Folder, reportDir, task.Strict})
	if err != nil {
		return 0, err
	}
	return out.Verdict.ExitCode, nil
}

// giveUp is how long a service may give no good answer before start fails, or a
// step with a command.
const giveUp = 5 * time.Second

// marks is where a probe's marks are and what stands in them.
type marks struct {
	folder    string
	reportDir string // where those who finish it find, or put, its record
	strict    bool   // see [marker.Task]
}

// steered runs a probe that is told by marks when the deploy begins and ends.
func steered(ctx context.Context, p *program, cfg *config.Config, platform *platform, m marks) (*run.Outcome, error) {
	err := marker.Write(m.folder, marker.BegunFile, marker.Begun{
		At: time.Now().UTC(), ReportDir: m.reportDir,
		Baseline: time.Duration(cfg.Baseline), MaxDuration: time.Duration(cfg.MaxDuration),
	})
	if err != nil {
		return nil, fmt.Errorf("the probe's beginning cannot be marked: %w", err)
	}
	ctx, skip := context.WithCancelCause(ctx)
	defer skip(nil)
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	gone := skip
	if !m.strict {
		gone = func(error) {} // the first cutover ends it
	}
	go marker.KeepAlive(alive, m.folder, gone)

	source := marker.New(m.folder, m.strict, skip)
	o := run.Options{
		Config: cfg, Version: Version,
		Ready: func(s run.Seen) {
			source.Saw(marker.Ready{Requests: s.Requests, Failed: s.Failed, Versions: s.Versions, Instances: s.Instances}, int64(s.At))
		},
		GiveUp:   giveUp,
		Progress: p.err, Live: terminalWidth(p.err) > 0,
	}
	platform.deployBy(&o, source, m.strict)
	out, err := run.Run(ctx, o)
	if err == nil && context.Cause(ctx) == marker.ErrSkipped {
		err = marker.ErrSkipped
	}
	return out, err
}
