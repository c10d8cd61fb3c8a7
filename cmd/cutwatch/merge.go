package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/merge"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/run"
)

// mergeCmd is `cutwatch merge`.
type mergeCmd struct {
	Files          []string `arg:"" name:"file" help:"Results of probes that watched one deploy: result.json files, or folders that hold them."`
	JSON           bool     `name:"json" help:"Print the result as JSON."`
	ReportDir      string   `name:"report-dir" placeholder:"FOLDER" help:"Write result.json and report.html there as well."`
	OnInconclusive string   `name:"on-inconclusive" placeholder:"WORD" help:"fail, or warn: exit 0 with a warning."`
}

func (c *mergeCmd) main(_ context.Context, p *program) (int, error) {
	m, err := mergeResults("", c.Files, c.OnInconclusive)
	if err != nil {
		return 0, err
	}
	if err := m.write(c.ReportDir); err != nil {
		return 0, err
	}
	return p.showMerged(m, c.JSON), nil
}

// merged is several results and what is made of them.
type merged struct {
	parts []report.Part
	*run.Outcome
	files []string
}

// mergeResults reads and judges what an input names.
func mergeResults(input string, paths []string, onInconclusive string) (*merged, error) {
	policy := config.Default()
	policy.URL = "http://localhost/"
	if err := policy.Set("on-inconclusive", onInconclusive); err != nil {
		return nil, err
	}
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	parts, err := merge.Read(paths)
	if err != nil {
		return nil, &config.InputError{Input: input, Problem: err.Error() + "; give the result.json of each probe, or a folder that holds them"}
	}
	r, v := merge.Judge(parts, policy.OnInconclusive == "warn")
	return &merged{parts: parts, Outcome: &run.Outcome{Result: r, Verdict: v}, files: paths}, nil
}

// write writes result.json and report.html into a folder; "": nowhere. A result
// that was read is not written over: it could not be merged again.
func (m *merged) write(dir string) error {
	if dir == "" {
		return nil
	}
	if err := config.PrepareReportDir(dir); err != nil {
		return err
	}
	to, err := os.Stat(filepath.Join(dir, run.ResultFile))
	for _, path := range m.files {
		for _, from := range []string{path, filepath.Join(path, run.ResultFile)} {
			if info, statErr := os.Stat(from); err == nil && statErr == nil && os.SameFile(info, to) {
				return &config.InputError{Input: "report-dir", Problem: "one of the results that are merged is in it; give another folder"}
			}
		}
	}
	page := html.SumInput{Verdict: m.Verdict, Result: m.Result}
	for _, part := range m.parts {
		page.Parts = append(page.Parts, html.Part{Part: part})
	}
	if err := errors.Join(run.WriteResult(dir, m.Result), run.WriteSumHTML(dir, page)); err != nil {
		return &config.InputError{Input: "report-dir", Problem: err.Error()}
	}
	return nil
}

// showMerged prints it and returns its exit code.
func (p *program) showMerged(m *merged, asJSON bool) int {
	var err error
	if asJSON {
		err = p.print(m.Outcome, true)
	} else {
		err = report.TerminalMerged(p.out, p.terminalOptions(), m.parts, m.Result)
	}
	if err != nil {
		complain(p.err, "the result cannot be printed: "+err.Error())
	}
	p.warnInconclusive(m.Verdict)
	return m.Verdict.ExitCode
}

// merge makes one verdict of the results that earlier steps, or other jobs, left.
func (s *step) merge(ctx context.Context) (int, error) {
	id, err := s.id()
	if err != nil {
		return 0, err
	}
	var paths []string
	for line := range strings.Lines(s.input(host.ResultsInput)) {
		if line = strings.TrimSpace(line); line != "" {
			paths = append(paths, line)
		}
	}
	if len(paths) == 0 {
		return 0, &config.InputError{Input: host.ResultsInput, Problem: "got nothing; write the result.json of each probe, or a folder that holds them, one a line"}
	}
	m, err := mergeResults(host.ResultsInput, paths, s.input("on-inconclusive"))
	if err != nil {
		return 0, err
	}
	dir := s.reportDir()
	if err := m.write(dir); err != nil {
		return 0, err
	}
	if err := s.here.OwnReport(dir); err != nil {
		s.note("the report stays root's: " + err.Error())
	}
	code := s.showMerged(m, false)
	m.Head.Config.ID = id
	in := s.forGitHub(m.Outcome, dir)
	in.Parts = m.parts
	s.lost(host.SetOutputs(s.runner, s.outputs(m.Outcome, dir)), s.runner.Summary(markdown.Summary(in)))
	if s.runner.On() {
		host.Annotate(s.runner, m.Outcome)
	}
	s.nameFiles(dir)
	s.comment(ctx, m.Outcome, in)
	return code, nil
}
