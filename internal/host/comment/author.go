package comment

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/githubapi"
)

// author is who writes with a token.
type author struct {
	id    int64 // 0: not known
	login string
}

// workflows is who writes with a workflow's own token.
var workflows = author{login: "github-actions[bot]"}

// own tells whether a comment that carries our marker was written by the author
// of our token: anyone else can have copied the marker, and could change the text
// again.
func (p *Poster) own(ctx context.Context, c *github.IssueComment) (bool, error) {
	if p.who == nil {
		who, err := p.whoami(ctx)
		if err != nil {
			return false, err
		}
		p.who = &who
	}
	u := c.GetUser()
	if p.who.id != 0 {
		return u.GetID() == p.who.id, nil
	}
	return strings.EqualFold(u.GetLogin(), p.who.login) && u.GetType() == "Bot" == strings.HasSuffix(p.who.login, "[bot]"), nil
}

// whoami asks for the token's author. GraphQL's viewer knows it of every kind of
// token; GET /user refuses those of apps, and a workflow's own is one. Where
// both refuse, it is taken for a workflow's: nobody else can write as that
// author, so at worst our comment is not found again. Where GitHub is in trouble
// with either it stays unknown, which is an error: a guess would edit somebody
// else's comment, or leave a second one.
func (p *Poster) whoami(ctx context.Context) (author, error) {
	who, err := p.viewer(ctx)
	if err == nil {
		return who, nil
	}
	u, _, asked := p.api.Users.Get(ctx, "")
	switch {
	case asked == nil && u.GetID() != 0:
		return author{u.GetID(), u.GetLogin()}, nil
	case asked != nil && !githubapi.Denied(asked):
		return author{}, asked
	case !refused(err):
		return p.viewer(ctx) // the trouble may be over; GET /user does not tell
	}
	return workflows, nil
}

// refused tells whether the viewer is not told to this token, ever.
func refused(err error) bool {
	said, ok := errors.AsType[*github.ErrorResponse](err)
	return githubapi.Denied(err) && githubapi.Status(err) != http.StatusNotFound ||
		ok && githubapi.Status(err) == http.StatusOK && strings.HasPrefix(said.Message, "Resource not accessible")
}

// viewer is GraphQL's answer. It tells trouble by status 200 and a message too.
func (p *Poster) viewer(ctx context.Context) (author, error) {
	query := map[string]string{"query": "query { viewer { databaseId login } }"}
	req, err := p.api.NewRequest(http.MethodPost, p.api.GraphQL(), query)
	if err != nil {
		return author{}, err
	}
	var out struct {
		Data struct {
			Viewer struct {
				ID    int64  `json:"databaseId"`
				Login string `json:"login"`
			} `json:"viewer"`
		} `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	resp, err := p.api.Do(ctx, req, &out)
	if err != nil {
		return author{}, err
	}
	if who := out.Data.Viewer; who.Login != "" {
		return author{who.ID, who.Login}, nil
	}
	failed := &github.ErrorResponse{Response: resp.Response, Message: "it does not say whose the token is"}
	if len(out.Errors) > 0 {
		failed.Message = out.Errors[0].Message
	}
	return author{}, failed
}
