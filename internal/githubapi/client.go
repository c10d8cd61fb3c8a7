// Package githubapi is a client of GitHub's API for a program that must not
// wait for long and must not be a burden: it repeats what can be repeated, keeps
// to GitHub's rate limits as far as the time of its caller allows, asks for
// nothing twice that has not changed, and says in one sentence what went wrong.
package githubapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/deploy/clock"
)

// PublicURL is where the API of github.com is.
const PublicURL = "https://api.github.com"

// answerTimeout is how long GitHub may take to begin an answer.
const answerTimeout = 10 * time.Second

// Client is go-github's, with the bounds of this package around each request.
type Client struct {
	*github.Client
	// Clock knows how far GitHub's clock is from this machine's, once an answer has come.
	Clock *clock.Clock

	token string
	quota *quota
}

// New is a client of the API at address (GITHUB_API_URL: github.com, a GHES or
// ghe.com; "": github.com) that shows token with each request. The error says
// what is wrong with the address.
func New(address, token string) (*Client, error) {
	if address == "" {
		address = PublicURL
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("GITHUB_API_URL is not an http(s) address: %.80q; leave it to the runner, or write one like %s", address, PublicURL)
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = answerTimeout
	c := &Client{Clock: &clock.Clock{}, token: token, quota: &quota{}}
	transport := &unchanged{next: &patient{next: &observer{next: base, clock: c.Clock, quota: c.quota}}}
	lib := github.NewClient(&http.Client{Transport: transport, CheckRedirect: sameHost}).WithAuthToken(token)
	if c.Client, err = lib.WithEnterpriseURLs(address, address); err != nil {
		return nil, err
	}
	c.UserAgent = "cutwatch"
	return c, nil
}

// errElsewhere is why a redirect is not followed.
var errElsewhere = errors.New("GitHub sent us to another host, which is not told the token")

// sameHost lets redirects lead to another path (a repository that was renamed),
// and nowhere else: the library shows the token to whomever is asked.
func sameHost(next *http.Request, before []*http.Request) error {
	if next.URL.Host != before[0].URL.Host || next.URL.Scheme != before[0].URL.Scheme {
		return errElsewhere
	}
	if len(before) >= 5 {
		return errors.New("GitHub sent us from one address to the next")
	}
	return nil
}

// GraphQL is the address of the other API, on the same host.
func (c *Client) GraphQL() string {
	base := *c.BaseURL
	if path, ghes := strings.CutSuffix(base.Path, "/api/v3/"); ghes {
		base.Path = path + "/api/graphql"
	} else {
		base.Path += "graphql"
	}
	return base.String()
}
