// Package comment leaves a judgement on the pull request: one comment a key,
// found again by the marker on its first line and edited in place.
//
// Whatever GitHub answers, or does not, no verdict depends on it: what could not
// be done is a sentence for the user, and all of it together takes no longer
// than [Within].
package comment

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/host/event"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
)

// Within is how long it may take to find and write comments.
const Within = 25 * time.Second

// Request is what is to be left.
type Request struct {
	Mode string // one of config's: auto, always, on-failure, never
	Good bool   // the verdict: with on-failure there is nothing to say then
	Key  string // tells the comment from others of ours
	// Body is the comment's text behind a marker with the key, as
	// [markdown.Comment] writes it. Previous is of the comment that is replaced.
	Body func(previous *markdown.State) string
}

// Outcome is what came of it.
type Outcome struct {
	URL string // of the comment, the first of several; "": there is none
	// Trouble is why there is none where the mode wants one, a sentence; "": all
	// is well.
	Trouble string
	// Quiet: what is said of trouble needs no annotation, since nobody asked.
	Quiet bool
}

// Poster leaves comments for one event.
type Poster struct {
	api   *githubapi.Client
	event event.Event
	who   *author // the token's own; nil: not asked yet
}

// New is a poster of comments on the event's pull requests.
func New(api *githubapi.Client, e event.Event) *Poster { return &Poster{api: api, event: e} }

// Post finds the event's pull requests and leaves the comment on each.
func (p *Poster) Post(ctx context.Context, r Request) Outcome {
	if r.Mode == config.CommentNever {
		return Outcome{}
	}
	if !p.event.Pulls.Any() {
		return p.nowhere(r.Mode, fmt.Sprintf("the event %s has no pull request", eventName(p.event)))
	}
	if p.event.Owner == "" {
		return Outcome{Trouble: "no comment: GITHUB_REPOSITORY does not name a repository (OWNER/NAME)"}
	}
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	numbers, err := p.pulls(ctx)
	if err != nil {
		return p.nowhere(r.Mode, "the pull requests of the commit cannot be asked for: "+p.why(err, "pull-requests: write"))
	}
	if len(numbers) == 0 {
		return p.nowhere(r.Mode, "no pull request has this commit")
	}
	var out Outcome
	for _, number := range numbers {
		url, err := p.post(ctx, number, r)
		if err != nil && out.Trouble == "" {
			out.Trouble = fmt.Sprintf("no comment on #%d: %s", number, p.why(err, "pull-requests: write"))
		}
		if out.URL == "" {
			out.URL = url
		}
	}
	return out
}

func eventName(e event.Event) string {
	if e.Name == "" {
		return "(unknown)"
	}
	return e.Name
}

// nowhere: no pull request is known, which matters only where there is to be one
// always.
func (p *Poster) nowhere(mode, why string) Outcome {
	return Outcome{Trouble: "no comment: " + why, Quiet: mode != config.CommentAlways}
}

// why is what went wrong, what it needs, and where the report is instead.
func (p *Poster) why(err error, permission string) string {
	const instead = "; the report is in the job's summary"
	text := p.api.Reason(err)
	switch {
	case !githubapi.Denied(err) || githubapi.Status(err) == http.StatusUnauthorized || strings.Contains(text, "locked"):
		return text + instead
	case p.event.Pulls.ReadOnly != "":
		return text + ": " + p.event.Pulls.ReadOnly + ", and a comment needs the permission " + permission + instead
	}
	return text + "; give the job the permission " + permission + instead
}

// post leaves the comment on one pull request and returns its address.
func (p *Poster) post(ctx context.Context, number int, r Request) (string, error) {
	old, err := p.find(ctx, number, r.Key)
	if err != nil {
		return "", err
	}
	if old == nil && r.Mode == config.CommentOnFailure && r.Good {
		return "", nil
	}
	if old != nil {
		previous, _ := markdown.ParseState(old.GetBody(), r.Key)
		edited, _, err := p.api.Issues.EditComment(ctx, p.event.Owner, p.event.Repo, old.GetID(), &github.IssueComment{Body: github.String(r.Body(previous))})
		if githubapi.Status(err) != http.StatusNotFound {
			return edited.GetHTMLURL(), err
		} // it was removed meanwhile
	}
	return p.create(ctx, number, r)
}

// create makes a new comment. Where it is not known whether GitHub has made it,
// it is looked for before another is made.
func (p *Poster) create(ctx context.Context, number int, r Request) (string, error) {
	body := &github.IssueComment{Body: github.String(r.Body(nil))}
	made, _, err := p.api.Issues.CreateComment(ctx, p.event.Owner, p.event.Repo, number, body)
	if status := githubapi.Status(err); err == nil || status != 0 && status < 500 || ctx.Err() != nil {
		return made.GetHTMLURL(), err
	}
	found, findErr := p.find(ctx, number, r.Key)
	switch {
	case findErr != nil:
		return "", err
	case found != nil:
		return found.GetHTMLURL(), nil
	}
	made, _, err = p.api.Issues.CreateComment(ctx, p.event.Owner, p.event.Repo, number, body)
	return made.GetHTMLURL(), err
}

// find is our comment with that key: the first on the first page that has one.
// nil: there is none on any page.
func (p *Poster) find(ctx context.Context, number int, key string) (*github.IssueComment, error) {
	o := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := p.api.Issues.ListComments(ctx, p.event.Owner, p.event.Repo, number, o)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if _, ours := markdown.ParseState(c.GetBody(), key); !ours {
				continue
			}
			if own, err := p.own(ctx, c); own || err != nil {
				return c, err
			}
		}
		if resp.NextPage == 0 {
			return nil, nil
		}
		o.Page = resp.NextPage
	}
}
