package main

import (
	"context"
	"errors"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/actions"
	"github.com/cutwatch/cutwatch/internal/host/comment"
	"github.com/cutwatch/cutwatch/internal/host/event"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// hurried is how long the comment may take in a step that was told to stop.
const hurried = 3 * time.Second

// comment leaves a judgement on the pull request, where the action is to, and
// says so where it could not. in is what it is made of. No verdict depends on it.
func (s *step) comment(ctx context.Context, o *run.Outcome, in markdown.Input) {
	mode := s.own("comment", o.Head.Config.Comment)
	if !s.inAction || !s.runner.On() || mode == config.CommentNever {
		return
	}
	cfg := o.Head.Config
	key := s.commentKey(cfg.ID, cfg.CommentKey)
	s.tellComment(mode, s.postComment(ctx, comment.Request{
		Mode: mode, Key: key, Good: o.Verdict.Verdict == verdict.Pass && o.Verdict.ExitCode == 0,
		Body: func(previous *markdown.State) string { return markdown.Comment(in, key, previous) },
	}))
}

// commentLost has the comment of an earlier run say that this one's probe was
// lost. It makes none: how this probe was to comment was lost with it.
func (s *step) commentLost(ctx context.Context, id, why string) {
	mode := s.own("comment", "")
	if !s.inAction || !s.runner.On() || mode == config.CommentNever {
		return
	}
	key := s.commentKey(id, "")
	out := s.postComment(ctx, comment.Request{
		Mode: config.CommentOnFailure, Key: key, Good: true, // so that none is made
		Body: func(*markdown.State) string { return markdown.LostComment(id, why, key) },
	})
	s.tellComment(mode, out)
}

// commentKey tells a probe's comment from others; begun is what its start was given.
func (s *step) commentKey(id, begun string) string {
	if key := s.own("comment-key", begun); key != "" {
		return key
	}
	return s.here.CommentKey(id, s.input(host.MatrixInput))
}

// tellComment tells what came of a comment.
func (s *step) tellComment(mode string, out comment.Outcome) {
	if out.URL != "" {
		s.commented = out.URL
		s.lost(s.runner.Output("comment-url", actions.Line(out.URL)))
	}
	switch {
	case out.Trouble == "":
	case out.Quiet:
		s.note(out.Trouble)
	case mode == config.CommentAlways:
		s.runner.Annotate(actions.Warning, "Cutwatch", out.Trouble)
	default:
		s.runner.Annotate(actions.Notice, "Cutwatch", out.Trouble)
	}
}

// own is an input that this step reads for itself: as it was given here, else as
// it was when the run began.
func (s *step) own(name, begun string) string {
	for _, in := range config.Inputs() {
		if in.Name != name {
			continue
		}
		if value := s.given(in); value != "" {
			return value
		}
		if begun == "" {
			return in.Default
		}
	}
	return begun
}

// postComment leaves a comment, where the event has a place for it.
func (s *step) postComment(ctx context.Context, r comment.Request) comment.Outcome {
	e, err := event.Read(s.getenv)
	if err != nil {
		return comment.Outcome{Trouble: "no comment: " + err.Error()}
	}
	token := s.input("github-token")
	if token == "" && e.Pulls.Any() {
		return comment.Outcome{
			Trouble: "no comment: github-token is empty; leave it out, and the job's own token is taken",
			Quiet:   r.Mode != config.CommentAlways && len(e.Pulls.Numbers) == 0,
		}
	}
	s.runner.Mask(token)
	api, err := githubapi.New(s.getenv("GITHUB_API_URL"), token)
	if err != nil {
		return comment.Outcome{Trouble: "no comment: " + err.Error()}
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), hurried)
		defer cancel()
	}
	return comment.New(api, e).Post(ctx, r)
}

// reportShown is the page of the report, or the result, as other steps know it;
// "" where neither was written.
func (s *step) reportShown(dir string) string {
	paths := host.Paths(dir, s.shown(dir))
	if page := paths["report-path"]; page != "" {
		return page
	}
	return paths["result-path"]
}

// eventInput is get with the address that a deployment's event names as url,
// where none is given.
func eventInput(get, getenv func(string) string) func(string) string {
	return func(name string) string {
		value := get(name)
		if name != "url" || value != "" {
			return value
		}
		e, err := event.Read(getenv)
		if err != nil {
			return "" // no url, which is said
		}
		return e.URL
	}
}

// sayNoAddress is err; where it is about the address that is missing, it says that
// the deployment that started the workflow has none either.
func (s *step) sayNoAddress(err error) error {
	bad, ok := errors.AsType[*config.InputError](err)
	if !ok || bad.Input != "url" || s.input("url") != "" {
		return err
	}
	if e, unread := event.Read(s.getenv); unread == nil && e.Deployment != 0 {
		bad.Problem = "got nothing, and the status that started the workflow names no environment_url; write what to probe, like https://example.com/health"
	}
	return err
}

// warnOfEvent says what the user should know of what started the workflow.
func (s *step) warnOfEvent() {
	if e, err := event.Read(s.getenv); err == nil && e.Warning() != "" && s.inAction {
		s.runner.Annotate(actions.Warning, "Cutwatch", e.Warning())
	}
}
