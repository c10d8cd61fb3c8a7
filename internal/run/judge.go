package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Outcome is a judged run, or several deploys in one ([Repeat]).
type Outcome struct {
	Head     sample.Run
	Analysis *analysis.Analysis // nil: of several deploys
	Verdict  verdict.Verdict
	Result   *report.Result
	Changed  []string // inputs that are not the run's own, "--name=value" each
}

// Judge judges the samples file at path, by the inputs recorded in it as changed
// by changes. The same file gives the same outcome. An error means that it
// cannot be read as one.
func Judge(path string, changes ...func(*config.Config)) (*Outcome, error) {
	in, err := sample.Open(path)
	if err != nil {
		return nil, err
	}
	return judge(in, changes)
}

// JudgeFrom judges the samples file that src holds and that errors call name,
// where there is no place to put it.
func JudgeFrom(src io.Reader, name string, changes ...func(*config.Config)) (*Outcome, error) {
	in, err := sample.NewReader(src, name)
	if err != nil {
		return nil, err
	}
	return judge(in, changes)
}

// judge judges what a reader reads, and closes it.
func judge(in *sample.Reader, changes []func(*config.Config)) (out *Outcome, err error) {
	defer func() {
		if closeErr := in.Close(); err == nil {
			err = closeErr
		}
	}()
	head := in.Head()
	own := head.Config
	for _, change := range changes {
		change(&head.Config)
	}
	b := analysis.NewBuilder(head)
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		b.Add(l)
	}
	a := b.Analysis()
	v := verdict.Judge(a, head)
	return &Outcome{Head: head, Analysis: a, Verdict: v, Result: report.NewResult(head, a, v), Changed: changed(&own, &head.Config)}, nil
}

// changed is the inputs that are others than the run's own, as flags.
func changed(own, now *config.Config) []string {
	var flags []string
	for _, in := range config.Inputs() {
		if value := now.Get(in.Name); in.Recorded && value != own.Get(in.Name) {
			flags = append(flags, "--"+in.Name+"="+format.Name(value, 0))
		}
	}
	return flags
}

// WriteResult writes result.json into dir, whole or not at all.
func WriteResult(dir string, r *report.Result) error {
	data, err := r.JSON()
	if err != nil {
		return fmt.Errorf("the result cannot be written as JSON: %w", err)
	}
	path := filepath.Join(dir, ResultFile)
	if err := replace(path, data); err != nil {
		return fmt.Errorf("the result cannot be written to %s: %w", path, err)
	}
	return nil
}

// WriteHTML writes report.html into dir, whole or not at all.
func WriteHTML(dir string, out *Outcome) error {
	return writePage(dir, func(w io.Writer) error {
		return html.Write(w, html.Input{
			Head: out.Head, Analysis: out.Analysis, Verdict: out.Verdict, Result: out.Result, Samples: SamplesFile, Flags: out.Changed,
		})
	})
}

// WriteSumHTML writes the page of several results likewise.
func WriteSumHTML(dir string, in html.SumInput) error {
	return writePage(dir, func(w io.Writer) error { return html.WriteSum(w, in) })
}

func writePage(dir string, write func(io.Writer) error) error {
	var page bytes.Buffer
	err := write(&page)
	path := filepath.Join(dir, HTMLFile)
	if err == nil {
		err = replace(path, page.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the report cannot be written to %s: %w", path, err)
	}
	return nil
}

// replace puts data in path's place, whole or not at all.
func replace(path string, data []byte) error {
	const perm = 0o644 // whoever uploads it may be another user
	return renameio.WriteFile(path, data, perm, renameio.WithStaticPermissions(perm), renameio.WithTempDir(filepath.Dir(path)))
}
