package main

import (
	"context"
	"errors"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/run"
)

// analyzeCmd is `cutwatch analyze`.
type analyzeCmd struct {
	File      string `arg:"" name:"file" help:"The samples of a run: samples.ndjson.zst."`
	JSON      bool   `name:"json" help:"Print the result as JSON."`
	ReportDir string `name:"report-dir" help:"Write result.json and report.html there as well."`

	policy `embed:"" group:"To judge by another policy than the run's:"`
}

func (c *analyzeCmd) main(_ context.Context, p *program) (int, error) {
	changed, err := change(c.given())
	if err != nil {
		return 0, err
	}
	out, err := run.Judge(c.File, changed)
	if err != nil {
		return 0, &config.InputError{Problem: err.Error()}
	}
	if c.ReportDir != "" {
		if err := config.PrepareReportDir(c.ReportDir); err != nil {
			return 0, err
		}
		err := errors.Join(run.WriteResult(c.ReportDir, out.Result), run.WriteHTML(c.ReportDir, out))
		if err != nil {
			return 0, &config.InputError{Input: "report-dir", Problem: err.Error()}
		}
	}
	return p.show(out, c.JSON), nil
}
