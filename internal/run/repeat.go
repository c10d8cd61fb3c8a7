package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// ControlDir is the folder of the control period in a series' report folder;
// those of the deploys are named by their numbers, from 1 on.
const ControlDir = "control"

// Each is told of a run before it begins: 0 is the control period, n the nth
// deploy. It may change the run's options.
type Each func(n int, o *Options) error

// Repeat makes as many deploys as the inputs ask for, one after the other,
// after a control period without any: as long as a run probes around its
// cutover (baseline, settle, tail). Each has a folder of its own in the report
// folder, with its samples; the sums are in the report folder's result.json,
// written anew after each. Between two runs nothing is sent for as long as
// settle is.
//
// The outcome's result is the deploys' sum ([report.Sum]); it has no analysis,
// and its head is the control period's.
//
// Failures of the background in the control period and the deploys before count
// as history of those that follow. A deploy that did not succeed ends the series,
// and so do ctx and max-duration, which bounds the whole; what there is until
// then is judged. So it is where a run cannot be made or judged, as on a disk that
// is full, once a deploy was; before that it is an error.
func Repeat(ctx context.Context, o Options, each Each) (*Outcome, error) {
	s := &series{o: o, each: each, asked: o.Config.Repeat, start: time.Now()}
	s.note = newProgress(o.Progress, o.Live).Note
	if err := clearSeries(o.Config.ReportDir); err != nil {
		return nil, &config.InputError{Input: "report-dir", Problem: fmt.Sprintf("an earlier record cannot be removed (%v); give another folder", err)}
	}
	for n := 0; n <= s.asked && s.why == ""; n++ {
		if n > 0 {
			s.pause(ctx, n)
		}
		if s.why != "" {
			break
		}
		if err := s.run(ctx, n); err != nil && len(s.deploys) == 0 {
			return nil, err
		} else if err != nil { // what was judged is worth more than the error
			s.why = format.Clean(err.Error(), 300)
		}
		if n > 0 && n < s.asked && s.why == "" {
			s.conclude("the run was still under way")
		}
	}
	s.conclude(s.why)
	return &s.out, nil
}

// series is one under way.
type series struct {
	o     Options
	each  Each
	note  func(string, ...any)
	start time.Time

	asked   int // deploys
	out     Outcome
	control *report.Result // as the deploys' results: their analyses are let go
	deploys []report.Part
	exits   []int
	why     string // no other deploy is made; "": go on
}

// run makes one run.
func (s *series) run(ctx context.Context, n int) error {
	o, err := s.options(n)
	if err != nil {
		return fmt.Errorf("%s: %w", name(n), err)
	}
	if s.each != nil {
		if err := s.each(n, &o); err != nil {
			return err
		}
	}
	if n == 0 {
		s.note("control period: %s without a deploy", format.Duration(o.Control))
	} else {
		s.note("%s of %d", report.DeployName(n), s.asked)
	}
	out, err := Run(ctx, o)
	if err != nil {
		return fmt.Errorf("%s: %w", name(n), err)
	}
	s.take(n, out)
	return nil
}

func name(n int) string {
	if n == 0 {
		return "the control period"
	}
	return report.DeployName(n)
}

// options are one run's: a folder of its own, and what is left of max-duration.
func (s *series) options(n int) (Options, error) {
	o, cfg := s.o, *s.o.Config
	cfg.Repeat, o.Part = 1, true
	cfg.MaxDuration = config.Duration(s.left())
	cfg.ReportDir = filepath.Join(s.o.Config.ReportDir, ControlDir)
	if n > 0 {
		cfg.ReportDir = filepath.Join(s.o.Config.ReportDir, strconv.Itoa(n))
	} else {
		o.Deploy, o.Command, o.Platform = nil, nil, nil
		o.Control = min(time.Duration(cfg.Baseline+cfg.Settle+cfg.Tail), s.left())
	}
	o.Config = &cfg
	if s.control != nil {
		o.Earlier = append(o.Earlier, s.control)
	}
	for _, d := range s.deploys {
		o.Earlier = append(o.Earlier, d.Result)
	}
	return o, config.PrepareReportDir(cfg.ReportDir)
}

// left is what remains of max-duration.
func (s *series) left() time.Duration {
	return time.Duration(s.o.Config.MaxDuration) - time.Since(s.start)
}

// take takes a run's outcome in, and says why no other may follow, if so.
func (s *series) take(n int, out *Outcome) {
	end := out.Analysis.End
	if n == 0 {
		s.control, s.out.Head = out.Result, out.Head
		s.out.Head.Config.Repeat, s.out.Head.Config.ReportDir = s.asked, s.o.Config.ReportDir
		if end != sample.EndComplete && !(end == sample.EndNoAnswer && mayGoOn(s.o.Config)) {
			s.why = fmt.Sprintf("the control period ended early (%s)", endNote(out))
		}
		return
	}
	s.deploys = append(s.deploys, report.Part{Name: report.DeployName(n), Result: out.Result})
	s.exits = append(s.exits, out.Verdict.ExitCode)
	switch outcome := out.Analysis.Deploy.Outcome; {
	case end == sample.EndSignal, end == sample.EndNoAnswer, end == sample.EndRecording:
		s.why = fmt.Sprintf("%s ended early (%s)", report.DeployName(n), endNote(out))
	case outcome != sample.Succeeded:
		s.why = fmt.Sprintf("%s did not succeed (%s)", report.DeployName(n), outcome)
	}
}

// mayGoOn tells whether the user wants to deploy whatever the control shows.
func mayGoOn(cfg *config.Config) bool { return cfg.AllowNoBaseline || cfg.OnInconclusive == "warn" }

func endNote(out *Outcome) string {
	if out.Analysis.EndNote != "" {
		return format.Clean(out.Analysis.EndNote, 300)
	}
	return out.Analysis.End
}

// pause waits before the nth deploy, or finds that it is not to be made.
func (s *series) pause(ctx context.Context, n int) {
	var wait time.Duration
	if n > 1 { // the control period leaves nothing behind
		wait = time.Duration(s.o.Config.Settle)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		s.why = context.Cause(ctx).Error()
		return
	}
	if limit := time.Duration(s.o.Config.MaxDuration); s.left() <= time.Duration(s.o.Config.Baseline) {
		s.why = fmt.Sprintf("max-duration (%s) leaves no time for %s", format.Duration(limit), name(n))
	}
}

// conclude judges what there is so far, and writes it down. why is that of
// the deploys that are missing.
func (s *series) conclude(why string) {
	r := s.sum()
	missing, alone := s.asked-len(s.deploys), false
	if missing > 0 {
		reason := report.Reason{
			Code:    "deploys-missing",
			Message: fmt.Sprintf("%d of %s not made: %s", missing, format.Plural(s.asked, "deploy was", "deploys were"), why),
		}
		alone = r.Verdict == verdict.Pass // it is all that is in doubt
		if r.Reasons = append(r.Reasons, reason); alone {
			r.Verdict = verdict.Inconclusive
			r.Reasons = append([]report.Reason{reason}, r.Reasons[:len(r.Reasons)-1]...)
		}
	}
	if lead := headline(r); lead.Code != "" && !alone {
		r.Reasons = append([]report.Reason{lead}, r.Reasons...)
	}
	s.out.Result = r
	s.out.Verdict = verdict.Verdict{Verdict: r.Verdict, ExitCode: s.exitCode(missing > 0)}
	for _, reason := range r.Reasons {
		s.out.Verdict.Reasons = append(s.out.Verdict.Reasons, verdict.Reason(reason))
	}
	dir := s.o.Config.ReportDir
	page := html.SumInput{Verdict: s.out.Verdict, Result: r, Parts: s.parts()}
	if err := errors.Join(WriteResult(dir, r), WriteSumHTML(dir, page)); err != nil {
		s.note("%v", err)
	}
}

// parts are the runs so far, as their page leads to them.
func (s *series) parts() []html.Part {
	var out []html.Part
	add := func(part report.Part, folder string) {
		out = append(out, html.Part{Part: part, Page: path.Join(folder, HTMLFile), Samples: path.Join(folder, SamplesFile)})
	}
	if s.control != nil {
		add(report.Part{Name: "control", Result: s.control}, ControlDir)
	}
	for i, d := range s.deploys {
		add(d, strconv.Itoa(i+1))
	}
	return out
}

// sum is the result of the deploys, or of the control period where none was made.
func (s *series) sum() *report.Result {
	var r *report.Result
	if len(s.deploys) == 0 {
		copied := *s.control
		r = &copied
	} else {
		r = report.Sum(s.deploys)
	}
	if s.control != nil {
		r.Control = s.control
	}
	for _, d := range s.deploys {
		r.Runs = append(r.Runs, d.Result)
	}
	return r
}

// headline is the line to remember of several deploys; without a code where the
// first reason says it all.
func headline(r *report.Result) report.Reason {
	deploys := len(r.Runs)
	if deploys < 2 {
		return report.Reason{}
	}
	count := map[string]int{}
	for _, one := range r.Runs {
		count[one.Verdict]++
	}
	what := fmt.Sprintf("of %d deploys", deploys)
	switch {
	case r.Verdict == verdict.Fail && r.Requests.Deploy > 0:
		return report.Reason{Code: r.Reasons[0].Code, Message: fmt.Sprintf("%d %s failed: they lost %s", count[verdict.Fail], what, format.Plural(r.Requests.Deploy, "request", "requests"))}
	case r.Verdict == verdict.Fail:
		return report.Reason{Code: r.Reasons[0].Code, Message: fmt.Sprintf("%d %s failed", count[verdict.Fail], what)}
	case r.Verdict != verdict.Pass:
		return report.Reason{Code: r.Reasons[0].Code, Message: fmt.Sprintf("%d %s passed, and the others are inconclusive", count[verdict.Pass], what)}
	}
	code := verdict.ZeroDrop
	if r.Requests.Deploy > 0 {
		code = verdict.WithinLimit
	}
	return report.Reason{Code: code, Message: fmt.Sprintf("all %d deploys passed: they lost %s of %s", deploys, format.Count(r.Requests.Deploy), format.Plural(r.Requests.Total, "request", "requests"))}
}

// exitCode is the worst: a deploy that failed by itself, a drop, a doubt. A
// deploy that was asked for and not made is never a pass.
func (s *series) exitCode(missing bool) int {
	code := verdict.ExitPass
	if missing {
		code = verdict.ExitInconclusive
	}
	for _, order := range []int{verdict.ExitInconclusive, verdict.ExitFail, verdict.ExitDeployFailed} {
		for _, exit := range s.exits {
			if exit == order {
				code = order
			}
		}
	}
	return code
}

// Folders are the folders in a report folder that a series may have.
func Folders(dir string) []string {
	folders := []string{filepath.Join(dir, ControlDir)}
	for n := 1; n <= config.MaxRepeat; n++ {
		folders = append(folders, filepath.Join(dir, strconv.Itoa(n)))
	}
	return folders
}

// clearSeries removes the records of an earlier series, and nothing else.
func clearSeries(dir string) error {
	for _, folder := range append(Folders(dir), dir) {
		for _, file := range []string{ResultFile, SamplesFile, HTMLFile} {
			if err := os.Remove(filepath.Join(folder, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// SamplesOf names the samples file of a run of a series in a report folder, by
// the run's name in the table.
func SamplesOf(dir string) func(name string) string {
	return func(name string) string {
		folder, deploys := strings.CutPrefix(name, "deploy ")
		if !deploys {
			folder = ControlDir
		}
		return filepath.Join(dir, folder, SamplesFile)
	}
}
