package demo

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/cutwatch/cutwatch/internal/audit"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
)

// show writes the judgement, and beside it the truth; it tells whether they agree.
func (p *played) show(o Options) (agree bool, err error) {
	table := o.Stdout
	if o.JSON {
		table = o.Stderr
		err = p.json(o.Stdout)
	} else {
		err = p.terminal(o)
	}
	if err != nil {
		return false, err
	}
	if p.out.Analysis != nil {
		return p.compare(table, "", p.truths[0], p.out, p.extra)
	}
	agree = true
	for n, truth := range p.truths {
		title, folder := "the control period", run.ControlDir
		if n > 0 {
			title, folder = report.DeployName(n), strconv.Itoa(n)
		}
		out, err := run.Judge(filepath.Join(o.ReportDir, folder, run.SamplesFile))
		if err != nil {
			return false, err
		}
		var extra []Row
		if n == len(p.truths)-1 {
			extra = p.extra
		}
		same, err := p.compare(table, ", "+title, truth, out, extra)
		if err != nil {
			return false, err
		}
		agree = agree && same
	}
	return agree, nil
}

// compare writes the box's own record of one run beside its judgement.
func (p *played) compare(w io.Writer, title string, truth box.Truth, out *run.Outcome, extra []Row) (agree bool, err error) {
	head := fmt.Sprintf("\nThe box's own record of %s, seed %d%s (tolerance %s)\n",
		p.scene.Name, p.scene.Seed, title, format.Duration(Tolerance(out.Analysis)))
	if _, err := io.WriteString(w, head); err != nil {
		return false, fmt.Errorf("writing the comparison: %w", err)
	}
	rows := append(Compare(truth, out.Analysis, out.Verdict), extra...)
	if err := WriteTable(w, rows); err != nil {
		return false, err
	}
	agree = Agree(rows)
	if _, err := io.WriteString(w, Busy(audit.HeldUp(truth, out.Analysis.Prober), agree)); err != nil {
		return false, fmt.Errorf("writing the comparison: %w", err)
	}
	return agree, nil
}

func (p *played) json(w io.Writer) error {
	data, err := p.out.Result.JSON()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

func (p *played) terminal(o Options) error {
	look := report.TerminalOptions{Color: o.Color, Width: o.Width}
	if p.out.Analysis != nil {
		return report.Terminal(o.Stdout, look, p.out.Head, p.out.Analysis, p.out.Verdict)
	}
	return report.TerminalSeries(o.Stdout, look, p.out.Result, run.SamplesOf(o.ReportDir))
}
