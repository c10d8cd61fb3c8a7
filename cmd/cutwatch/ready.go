package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host"
)

// readyCmd is `cutwatch ready`.
type readyCmd struct {
	ID string `name:"id" placeholder:"NAME" help:"Which probe, where there are several."`
}

func (c *readyCmd) main(ctx context.Context, p *program) (int, error) {
	return commandStep(p, func(name string) string { return map[string]string{"id": c.ID}[name] }).ready(ctx)
}

// appearWithin is how long a step in the background may take to begin: its
// image may have to be made ready.
const appearWithin = 2 * time.Minute

// ready waits until the baseline of a step in the background is in, and tells it
// that the deploy begins.
func (s *step) ready(ctx context.Context) (int, error) {
	id, err := s.id()
	if err != nil {
		return 0, err
	}
	p, err := s.appear(ctx, id)
	if err != nil {
		return 0, err
	}
	ready, err := host.AwaitReady(ctx, p, s.log())
	switch _, ended := errors.AsType[host.Ended](err); {
	case ended:
		s.note(err.Error() + "; its own step says why")
		return exitInconclusive, nil
	case ctx.Err() != nil:
		return exitInconclusive, nil
	case err != nil:
		return 0, fmt.Errorf("the probe cannot be watched: %w", err)
	}
	if err := p.Mark(ctx, marker.GoFile, marker.Go{At: time.Now().UTC()}); err != nil {
		return 0, fmt.Errorf("the probe cannot be told that the deploy begins: %w", err)
	}
	s.note(host.WhatItSaw(ready) + "; the deploy can begin")
	return 0, nil
}

// appear waits for a probe that is about to begin.
func (s *step) appear(ctx context.Context, id string) (host.Probe, error) {
	deadline := time.NewTimer(appearWithin)
	defer deadline.Stop()
	ticker := time.NewTicker(marker.Poll)
	defer ticker.Stop()
	for {
		if p, ok := host.FindLocal(s.here.MarksFolder(id)); ok {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("told to stop before a probe had begun: %w", context.Cause(ctx))
		case <-deadline.C:
			return nil, &config.InputError{Input: "id", Problem: fmt.Sprintf("%s has not begun within %s; have a step with mode: run and background: true before this one, with the same id", host.Named(id), appearWithin)}
		case <-ticker.C:
		}
	}
}
