package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/actions"
)

// actionCmd is `cutwatch action`: the entry point of the action's container.
type actionCmd struct {
	Post bool `name:"post" hidden:"" help:"This is the post step."`
}

// postName is the name of the program as the entry point of the post step.
const postName = "cutwatch-post"

// arguments are the arguments of the program, by its name too: a runner gives
// all entry points of an action the same ones.
func arguments(argv []string) []string {
	if len(argv) > 0 && (argv[0] == postName || strings.HasSuffix(argv[0], "/"+postName)) {
		return []string{"action", "--post"}
	}
	return argv[min(1, len(argv)):]
}

func (c *actionCmd) main(ctx context.Context, p *program) (int, error) {
	runner := actions.New(p.out, p.getenv)
	s := &step{program: p, runner: runner, here: host.Here(p.getenv), inAction: true, input: eventInput(runner.Input, p.getenv)}
	code, err := s.do(ctx, c.Post)
	if err == nil {
		return code, nil
	}
	if !runner.On() {
		return 0, err
	}
	for line := range strings.Lines(err.Error()) {
		runner.Annotate(actions.Error, "Cutwatch", line)
	}
	return codeOf(err), nil
}

// codeOf is the exit code of an error.
func codeOf(err error) int {
	if _, bad := errors.AsType[*config.InputError](err); bad {
		return exitBadInput
	}
	if _, waited := errors.AsType[notBegun](err); waited {
		return exitInconclusive
	}
	return exitFault
}

// step is one step of a job, or one call of a command that has to do with a
// probe in the background.
type step struct {
	*program
	runner   *actions.Runner
	here     host.Surroundings
	inAction bool // in the action's container; else on a machine of the user's
	input    func(string) string
	json     bool // the result goes to stdout as JSON

	commented string // the comment that was left; "": none so far
}

// note prints a line that is safe to print.
func (s *step) note(line string) { complain(s.err, line) }

// log is where the parts that steer a probe say what goes on.
func (s *step) log() host.Log {
	return host.Log{Note: s.note, Probe: func(line string) { fmt.Fprintln(s.err, line) }}
}

// do does what the mode asks for.
func (s *step) do(ctx context.Context, post bool) (int, error) {
	mode, err := host.CheckMode(s.input(host.ModeInput))
	switch {
	case post && err != nil:
		return 0, nil // the main step has said so, and started nothing
	case post:
		return s.post(ctx, mode)
	case err != nil:
		return 0, err
	}
	switch mode {
	case host.Finish:
		return s.finish(ctx)
	case host.Ready:
		return s.ready(ctx)
	case host.Run:
		return s.run(ctx)
	case host.Merge:
		return s.merge(ctx)
	}
	return s.start(ctx)
}

// config is the inputs that make up a run, checked, with their secrets hidden
// from the log, and the platform that they name; nil where they name none. What
// checks refuse is refused before the platform is asked.
func (s *step) config(ctx context.Context, checks ...func(*config.Config) error) (*config.Config, *platform, error) {
	cfg, err := config.FromInputs(s.input)
	if cfg != nil {
		for _, secret := range cfg.Secrets() {
			s.runner.Mask(secret)
		}
	}
	if err == nil {
		err = s.sayNoAddress(cfg.Validate())
	}
	for _, check := range checks {
		if err == nil {
			err = check(cfg)
		}
	}
	var platform *platform
	if err == nil {
		platform, err = follow(ctx, cfg, s.getenv, s.note)
	}
	if err == nil && s.inAction {
		err = s.here.CheckLoopback(ctx, cfg)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, w := range cfg.Warnings() {
		s.note("warning: " + w)
	}
	s.warnOfEvent()
	return cfg, platform, nil
}

// id is the probe's id, checked with what else a step reads for itself that did
// not start the probe.
func (s *step) id() (string, error) {
	cfg := config.Default()
	cfg.URL = "http://localhost/"
	cfg.ID = s.input("id")
	if mode := s.input("comment"); mode != "" {
		cfg.Comment = mode
	}
	cfg.CommentKey, cfg.GitHubToken = s.input("comment-key"), s.input("github-token")
	return cfg.ID, cfg.Validate()
}

// outcome is what the user says of the deploy's step.
func (s *step) outcome() (string, error) {
	word := s.input(host.OutcomeInput)
	if err := marker.CheckOutcome(word); err != nil {
		return "", &config.InputError{Input: host.OutcomeInput, Problem: err.Error()}
	}
	return word, nil
}

// reportDir is where this step's report goes, as the user wrote it.
func (s *step) reportDir() string {
	if dir := s.input("report-dir"); dir != "" {
		return dir
	}
	return config.Default().ReportDir
}

// lost says what could not be told to the runner; the verdict stands.
func (s *step) lost(errs ...error) {
	for _, err := range errs {
		if err != nil {
			s.note("the runner was not told: " + err.Error())
		}
	}
}

// withoutDeploy is the end of a probe whose deploy did not take place.
func (s *step) withoutDeploy() int {
	s.lost(host.SetOutputs(s.runner, host.SkippedValues()))
	s.runner.Annotate(actions.Notice, "Cutwatch", "no deploy ran (its step was skipped), so there is no verdict")
	return 0
}
