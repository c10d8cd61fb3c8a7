package digitalocean

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
)

// Scopes of a token.
const (
	scopeRead   = "app:read"
	scopeUpdate = "app:update"
)

// maxSaid is how much of the API's text is repeated, in columns.
const maxSaid = 200

// clean makes text of the API safe to show, without the token if it is in it.
func (c *client) clean(text string, max int) string {
	if c.token != "" {
		text = strings.ReplaceAll(text, c.token, "***")
	}
	return format.Clean(text, max)
}

// said is what the API answered, or why it did not, in a few words.
func (c *client) said(err error) string {
	e, ok := errors.AsType[*godo.ErrorResponse](err)
	if !ok || e.Response == nil {
		return c.clean(err.Error(), maxSaid)
	}
	text := e.Message
	if text == "" && e.NestedError != nil {
		text = e.NestedError.Message
	}
	out := fmt.Sprintf("status %d", e.Response.StatusCode)
	if text != "" && !strings.HasPrefix(strings.TrimSpace(text), "<") {
		out += ": " + c.clean(text, maxSaid)
	}
	if e.RequestID != "" {
		out += ", request " + c.clean(e.RequestID, 60)
	}
	return out
}

// explain is the error of a request that was to do something, like "read the
// app", for which the token needs a scope.
func (c *client) explain(err error, what, scope string) error {
	switch status(err) {
	case http.StatusUnauthorized:
		return &config.InputError{Input: "digitalocean-token", Problem: fmt.Sprintf("DigitalOcean does not take it (%s) to %s; write a valid token with the scope %s, from a secret", c.said(err), what, scope)}
	case http.StatusForbidden:
		return &config.InputError{Input: "digitalocean-token", Problem: fmt.Sprintf("it may not %s (%s); write a token with the scope %s", what, c.said(err), scope)}
	case 0:
		if _, known := errors.AsType[*config.InputError](err); known {
			return err
		}
	}
	return fmt.Errorf("DigitalOcean's API could not %s (%s); try again, or leave platform out to judge without it", what, c.said(err))
}

// noSuchApp is the error of an app that is not there, with those that are.
func (c *client) noSuchApp(given string, apps []*godo.App) error {
	const most = 10
	var names []string
	for _, a := range apps {
		if len(names) == most {
			names = append(names, fmt.Sprintf("and %d more", len(apps)-most))
			break
		}
		names = append(names, c.clean(format.Name(nameOf(a), 60), 0))
	}
	there := "there are: " + strings.Join(names, ", ")
	if len(apps) == 0 {
		there = "it sees none: see that it belongs to the right team"
	}
	return &config.InputError{Input: "app", Problem: fmt.Sprintf("%s is no app that the token sees; %s", format.Quote(given, 80), there)}
}

func nameOf(a *godo.App) string {
	if a.Spec == nil || a.Spec.Name == "" {
		return a.ID
	}
	return a.Spec.Name
}
