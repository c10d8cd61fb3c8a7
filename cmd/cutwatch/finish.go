package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/actions"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/run"
)

// finishCmd is `cutwatch finish`.
type finishCmd struct {
	ID            string `name:"id" placeholder:"NAME" help:"Which probe, where there are several."`
	DeployOutcome string `name:"deploy-outcome" placeholder:"WORD" help:"How the deploy ended: success, failure, cancelled or skipped."`
	JSON          bool   `name:"json" help:"Print the result as JSON to stdout."`

	policy `embed:"" group:"To judge by another policy than that of the start:"`
}

func (c *finishCmd) main(ctx context.Context, p *program) (int, error) {
	inputs := c.policy.given()
	inputs["id"], inputs[host.OutcomeInput] = c.ID, c.DeployOutcome
	s := commandStep(p, func(name string) string { return inputs[name] })
	s.json = c.JSON
	return s.finish(ctx)
}

// finish tells the probe that the deploy is over, waits for its end and judges.
func (s *step) finish(ctx context.Context) (int, error) {
	outcome, err := s.outcome()
	if err != nil {
		return 0, err
	}
	id, err := s.id()
	if err != nil {
		return 0, err
	}
	policy, err := s.policy()
	if err != nil {
		return 0, err
	}
	p, err := s.here.Find(ctx, id, s.inAction, s.log())
	if errors.Is(err, host.ErrNoProbe) {
		return s.finishWithout(id, err)
	}
	if err != nil {
		return s.probeLost(ctx, id, err)
	}
	ctx, cancel := s.bounded(ctx, outcome)
	defer cancel()
	return s.end(ctx, p, id, outcome, func(c *config.Config) {
		if unheard := s.unheard(c); len(unheard) > 0 {
			s.note("warning: not looked at here, since the probe has begun with other values: " + strings.Join(unheard, ", ") + "; give them to the start")
		}
		if policy != nil {
			policy(c)
		}
	})
}

// finishWithout: there is nothing to finish, or it was finished before.
func (s *step) finishWithout(id string, why error) (int, error) {
	if trace, ok := s.here.Finished(id); ok {
		s.note("this probe was finished before: " + trace.Headline)
		s.lost(host.SetOutputs(s.runner, trace.Outputs))
		return trace.ExitCode, nil
	}
	return 0, &config.InputError{Input: "id", Problem: fmt.Sprintf("%s cannot be finished (%v); start it before the deploy, with mode: start (or cutwatch start) and the same id", host.Named(id), why)}
}

// end ends a probe and judges it, by the policy of its start as changed by another; nil: as it is.
func (s *step) end(ctx context.Context, p host.Probe, id, outcome string, policy func(*config.Config)) (int, error) {
	steady := context.WithoutCancel(ctx)
	if outcome == marker.Skipped {
		err := s.here.Dismiss(steady, p)
		s.here.Leave(id, host.Trace{Headline: "no deploy ran", Outputs: host.SkippedValues()}, s.log())
		return s.withoutDeploy(), err
	}
	out, dir, err := s.here.Collect(ctx, p, host.Finishing{Outcome: outcome, ReportDir: s.reportDir(), Policy: policy}, s.log())
	if err != nil {
		s.here.Leave(id, host.Trace{Headline: "INCONCLUSIVE: " + err.Error(), ExitCode: exitInconclusive, Outputs: host.LostValues()}, s.log())
		return s.probeLost(ctx, id, err)
	}
	s.leave(id, out, dir)
	_, another := p.(host.Local)
	code := s.publish(ctx, out, dir, !another || !s.inAction)
	s.leave(id, out, dir) // again, with the comment
	return code, nil
}

// leave leaves word of a judgement for the steps behind this one.
func (s *step) leave(id string, o *run.Outcome, dir string) {
	s.here.Leave(id, host.Trace{Headline: host.Headline(o), ExitCode: o.Verdict.ExitCode, Outputs: s.outputs(o, dir)}, s.log())
}

// probeLost: the probe was lost with its record, so that there is nothing to judge.
func (s *step) probeLost(ctx context.Context, id string, err error) (int, error) {
	s.lost(host.SetOutputs(s.runner, host.LostValues()))
	s.runner.Annotate(actions.Error, "Cutwatch", "INCONCLUSIVE: "+err.Error())
	s.lost(s.runner.Summary(markdown.Lost(id, err.Error())))
	s.commentLost(ctx, id, err.Error())
	return exitInconclusive, nil
}

// publish shows a judgement and tells the runner of it: the outputs always, the
// annotation, the summary and the comment where no other step of the same run does.
func (s *step) publish(ctx context.Context, o *run.Outcome, dir string, alone bool) int {
	code := s.showFolded(o)
	s.lost(host.SetOutputs(s.runner, s.outputs(o, dir)))
	if alone {
		s.lost(s.runner.Summary(markdown.Summary(s.forGitHub(o, dir))))
		if s.runner.On() {
			host.Annotate(s.runner, o)
		}
	}
	s.nameFiles(dir)
	if alone {
		s.comment(ctx, o, s.forGitHub(o, dir))
	}
	return code
}

// showFolded prints a judgement; in a job's log the verdict, and the whole folded
// below it.
func (s *step) showFolded(o *run.Outcome) int {
	if !s.runner.On() || s.json {
		return s.show(o, s.json)
	}
	s.runner.Say(host.Headline(o))
	s.runner.Group("the whole report")
	code := s.show(o, false)
	s.runner.EndGroup()
	return code
}

// forGitHub is a judgement whose files are in dir, for the summary and the comment.
func (s *step) forGitHub(o *run.Outcome, dir string) markdown.Input {
	return markdown.Input{Head: o.Head, Result: o.Result, Analysis: o.Analysis, JobURL: s.here.JobURL(), Report: s.reportShown(dir)}
}

// outputs are all outputs of a judgement whose files are in dir.
func (s *step) outputs(o *run.Outcome, dir string) map[string]string {
	values := host.Values(o)
	maps.Copy(values, host.Paths(dir, s.shown(dir)))
	values["comment-url"] = actions.Line(s.commented)
	return values
}

// nameFiles says where the files of a judgement are: those that are there.
func (s *step) nameFiles(dir string) {
	var named []string
	for _, f := range []struct{ what, name string }{
		{"the report", run.ResultFile}, {"its page", run.HTMLFile}, {"the samples", run.SamplesFile},
	} {
		if exists(filepath.Join(dir, f.name)) {
			named = append(named, f.what+" in "+filepath.Join(s.shown(dir), f.name))
		}
	}
	if len(named) > 0 {
		s.note("written: " + strings.Join(named, ", "))
	}
}

// shown is a report folder as steps outside of this container know it: what is
// in the workspace is named from there.
func (s *step) shown(dir string) string {
	workspace := s.here.Workspace()
	if rel, err := filepath.Rel(workspace, dir); err == nil && workspace != "" && filepath.IsAbs(dir) && filepath.IsLocal(rel) {
		return rel
	}
	return dir
}

// cancelledFor is how long a step of a cancelled job goes on: the server ends
// the job after 5 min.
const cancelledFor = 4 * time.Minute

var (
	errCancelledFor = errors.New("a cancelled job has no more time")
	errCancelled    = errors.New("the job was cancelled, and nothing tells what became of the deploy")
)

// bounded is how long the end of a probe is waited for: as long as it takes, but
// where the job was cancelled. A deploy that is known to have been under way is
// watched then for a while; else the probe is stopped at once.
func (s *step) bounded(ctx context.Context, outcome string) (context.Context, context.CancelFunc) {
	if outcome != marker.Cancelled && s.input(host.JobStatusInput) != marker.Cancelled {
		return ctx, func() {}
	}
	if outcome == "" {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errCancelled)
		return ctx, func() {}
	}
	s.note("the job was cancelled; the probe watches what becomes of the deploy for a while, and is removed then")
	return context.WithTimeoutCause(ctx, cancelledFor, errCancelledFor)
}

// post finishes what no finish step has finished, and cleans up.
func (s *step) post(ctx context.Context, mode string) (int, error) {
	switch mode {
	case host.Run:
		id, err := s.id()
		if err != nil {
			return 0, nil // the main step has said so
		}
		return 0, s.here.Forget(id)
	case host.Finish, host.Ready, host.Merge:
		return 0, nil
	}
	id, err := s.id()
	if err != nil {
		return 0, nil // the main step has said so, and started nothing
	}
	outcome, outcomeErr := s.outcome()
	policy, policyErr := s.policy()
	inputErr := errors.Join(outcomeErr, policyErr) // said when the probe is cleared away
	p, err := s.here.Find(ctx, id, true, s.log())
	switch {
	case errors.Is(err, host.ErrNoProbe):
		return s.postWithout(ctx, id, err)
	case err != nil:
		return s.probeLost(ctx, id, err)
	}
	ctx, cancel := s.bounded(ctx, outcome)
	defer cancel()
	code, err := s.end(ctx, p, id, outcome, policy)
	if inputErr != nil {
		return 0, inputErr
	}
	return code, err
}

// postWithout: no probe is there. That is as it should be where a finish step
// has been, or where none was started.
func (s *step) postWithout(ctx context.Context, id string, why error) (int, error) {
	if s.runner.Saved(savedProbe) == "" {
		return 0, nil
	}
	if _, ok := s.here.Finished(id); ok {
		return 0, nil
	}
	return s.probeLost(ctx, id, fmt.Errorf("the probe's container is gone, and what it recorded with it (%w): something else removed it", why))
}
