package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/demo"
)

// demoCmd is `cutwatch demo`.
type demoCmd struct {
	Scene    string        `name:"scene" help:"Which deploy to play; --list names them."`
	List     bool          `name:"list" help:"List the scenes."`
	Seed     int64         `name:"seed" default:"1" help:"Of what is random in a scene."`
	RealTime bool          `name:"real-time" help:"Play a scene as long as the platform would take, not shortened."`
	Platform string        `name:"platform" enum:"none,digitalocean" default:"none" help:"Have the scene deployed and followed through this platform's API, served on loopback: digitalocean."`
	Repeat   int           `name:"repeat" default:"1" help:"That many deploys, one table."`
	Tail     time.Duration `name:"tail" help:"How long to go on probing after a deploy. Default: the scene's."`

	JSON      bool   `name:"json" help:"Print the result as JSON to stdout."`
	ReportDir string `name:"report-dir" help:"Where report.html, result.json and the samples go. Default: a new temporary folder, which is named at the end."`
}

func (c *demoCmd) main(ctx context.Context, p *program) (int, error) {
	if c.List {
		return 0, demo.List(p.out)
	}
	if c.Repeat < 1 || c.Repeat > config.MaxRepeat {
		return 0, &config.InputError{Input: "repeat", Problem: fmt.Sprintf("got %d; write a number of deploys from 1 to %d", c.Repeat, config.MaxRepeat)}
	}
	if c.Tail < 0 {
		return 0, &config.InputError{Input: "tail", Problem: fmt.Sprintf("got %s; write a duration above 0, like 3m", c.Tail)}
	}
	platform := c.Platform
	if platform == config.PlatformNone {
		platform = ""
	}
	dir := c.ReportDir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "cutwatch-demo-"); err != nil {
			return 0, &config.InputError{Input: "report-dir", Problem: fmt.Sprintf("no temporary folder can be made (%v); give one", err)}
		}
	} else if err := config.PrepareReportDir(dir); err != nil {
		return 0, err
	}
	look := p.terminalOptions()
	code, err := demo.Run(ctx, demo.Options{
		Scene: c.Scene, Seed: c.Seed, RealTime: c.RealTime, Platform: platform, Repeat: c.Repeat, Tail: c.Tail,
		JSON: c.JSON, Color: look.Color, Width: look.Width, Progress: true, Live: terminalWidth(p.err) > 0,
		ReportDir: dir, Version: Version, Stdout: p.out, Stderr: p.err,
	})
	if err == nil {
		complain(p.err, "the report is in "+dir)
	}
	return code, err
}
