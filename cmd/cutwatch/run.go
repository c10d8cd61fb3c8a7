package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/run"
)

// runCmd is `cutwatch run`.
type runCmd struct {
	config.Config `embed:""`

	JSON    bool     `name:"json" help:"Print the result as JSON to stdout; COMMAND's stdout goes to stderr then."`
	Command []string `arg:"" optional:"" name:"command" help:"The command that deploys, after --. Without one, the first change of version ends the run."`
}

func (c *runCmd) main(ctx context.Context, p *program) (int, error) {
	// All that the user may have got wrong is said before a request is sent.
	if err := c.Validate(); err != nil {
		return 0, err
	}
	source, err := c.source(p)
	if err != nil {
		return 0, err
	}
	if err := checkRepeat(&c.Config, source != nil || c.Triggers()); err != nil {
		return 0, err
	}
	platform, err := follow(ctx, &c.Config, p.getenv, func(line string) { complain(p.err, line) })
	if err != nil {
		return 0, err
	}
	if err := config.PrepareReportDir(c.ReportDir); err != nil {
		return 0, err
	}
	for _, w := range c.Warnings() {
		complain(p.err, "warning: "+w)
	}
	o := run.Options{
		Config: &c.Config, Version: Version, Command: c.Command,
		Progress: p.err, Live: terminalWidth(p.err) > 0,
	}
	platform.deployBy(&o, source, true)
	out, err := deployAll(ctx, o)
	if err != nil {
		return 0, err
	}
	code := p.show(out, c.JSON)
	samples := filepath.Join(c.ReportDir, run.SamplesFile)
	if c.Repeat > 1 {
		samples = "folders beside it"
	}
	if page := filepath.Join(c.ReportDir, run.HTMLFile); exists(page) {
		complain(p.err, "the report to look at is "+page)
	}
	if result := filepath.Join(c.ReportDir, run.ResultFile); exists(result) {
		complain(p.err, fmt.Sprintf("the report is in %s, the samples in %s", result, samples))
	} else { // the run said why
		complain(p.err, "the samples are in "+samples)
	}
	return code, nil
}

// exists tells whether there is such a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// source is COMMAND as the deploy; nil where there is none.
func (c *runCmd) source(p *program) (deploy.Source, error) {
	if len(c.Command) == 0 {
		return nil, nil
	}
	if err := oneDeploys(&c.Config, "COMMAND deploys too"); err != nil {
		return nil, err
	}
	stdout := p.out
	if c.JSON {
		stdout = p.err
	}
	source, err := deploy.NewCommand(c.Command, deploy.CommandIO{Stdin: commandStdin(p.in), Stdout: stdout, Stderr: p.err})
	if err != nil {
		return nil, &config.InputError{Problem: err.Error()}
	}
	return source, nil
}

// commandStdin is what COMMAND reads: nothing where we sit at a terminal, which
// a process group in the background may not read from.
func commandStdin(in io.Reader) io.Reader {
	if w, ok := in.(io.Writer); ok && terminalWidth(w) > 0 {
		return nil
	}
	return in
}
