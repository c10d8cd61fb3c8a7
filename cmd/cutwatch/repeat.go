package main

import (
	"context"
	"fmt"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/run"
)

// deployAll makes the deploys that were asked for: one, or several one after
// the other.
func deployAll(ctx context.Context, o run.Options) (*run.Outcome, error) {
	if o.Config.Repeat > 1 {
		return run.Repeat(ctx, o, nil)
	}
	return run.Run(ctx, o)
}

// checkRepeat refuses several deploys where nothing makes one each time.
func checkRepeat(cfg *config.Config, deploys bool) error {
	if cfg.Repeat == 1 || deploys {
		return nil
	}
	return &config.InputError{Input: "repeat", Problem: fmt.Sprintf(
		"%d deploys need something that makes one each time; give a trigger, or a command that deploys, to cutwatch run (in a workflow: mode: run)", cfg.Repeat)}
}
