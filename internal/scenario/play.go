package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// settleLimit bounds how long the box may take to end its rollout once the
// judgement is there.
const settleLimit = 20 * time.Second

// Played is a scenario that was played.
type Played struct {
	Outcome *run.Outcome
	Truth   box.Truth
	Left    map[string]bool // ids of requests that the prober left unfinished
	Good    map[string]bool // ids of those that it recorded as answered well
	Sent    int             // all that it recorded
	Samples string          // the file
}

// Play starts the scenario's box, and has it probed, deployed and judged. dir is
// an empty folder for what is recorded.
func (s *Scenario) Play(ctx context.Context, dir, version string, progress io.Writer) (p *Played, err error) {
	scene, err := s.scene()
	if err != nil {
		return nil, err
	}
	b, err := box.Start(ctx, scene)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	cfg, err := s.config(b, dir)
	if err != nil {
		return nil, err
	}
	p = &Played{Samples: filepath.Join(dir, run.SamplesFile)}
	o := run.Options{Config: cfg, Version: version, Progress: progress, Deploy: s.source(b), Resolver: b.Resolver()}
	unseen := make(chan error, 1)
	if s.Silent {
		go func() { unseen <- b.DeployNow(ctx, time.Duration(cfg.Baseline)) }()
	}
	if p.Outcome, err = run.Run(ctx, o); err != nil {
		return nil, err
	}
	if err := s.settle(ctx, b, unseen); err != nil {
		return nil, err
	}
	p.Truth = b.Truth()
	return p, p.read()
}

// settle waits for the rollout's end, where one was begun.
func (s *Scenario) settle(ctx context.Context, b *box.Box, unseen <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if s.Silent {
		select {
		case err := <-unseen:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("the deploy that nobody was told of: %w", ctx.Err())
		}
	}
	return b.Wait(ctx)
}

// source is what tells of the deploy; nil: nothing does.
func (s *Scenario) source(b *box.Box) deploy.Source {
	switch {
	case s.Silent:
		return nil
	case s.Clock != 0:
		return &skewed{Source: b.Rollout(), start: time.Now(), ahead: time.Duration(s.Clock)}
	}
	return b.Rollout()
}

// config is the inputs that a user would give, and those of the file.
func (s *Scenario) config(b *box.Box, dir string) (*config.Config, error) {
	p := b.Scene().Probe
	cfg := config.Default()
	cfg.URL = b.URL()
	if p.SlowSeconds > 0 {
		cfg.SlowURL = b.SlowURL()
		cfg.SlowSeconds, cfg.SlowInterval = config.Seconds{p.SlowSeconds}, p.SlowInterval
	}
	cfg.Connections, cfg.Rate = p.Connections, config.Rate{PerSecond: p.Rate}
	cfg.Baseline, cfg.Settle, cfg.Tail = p.Baseline, p.Settle, p.Tail
	cfg.CutoverTimeout = p.CutoverTimeout
	cfg.ControlURL, cfg.CACert, cfg.ReportDir = b.ControlURL(), b.Authority(), dir
	for name, value := range s.Inputs {
		if err := cfg.Set(name, strings.ReplaceAll(value, "{control}", b.ControlURL())); err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
	}
	return cfg, cfg.Validate()
}

// read reads what became of each request from the recording.
func (p *Played) read() error {
	p.Left, p.Good = map[string]bool{}, map[string]bool{}
	in, err := sample.Open(p.Samples)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.Sample == nil {
			continue
		}
		p.Sent++
		id := sample.RequestID(p.Outcome.Head.ID, l.Sample.N)
		switch {
		case l.Sample.Unfinished:
			p.Left[id] = true
		case l.Sample.Class == sample.OK:
			p.Good[id] = true
		}
	}
}
