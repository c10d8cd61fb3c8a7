package githubapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
)

func mustClient(t *testing.T, address, token string) *githubapi.Client {
	t.Helper()
	c, err := githubapi.New(address, token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ address, base, graphql string }{
		{"", "https://api.github.com/", "https://api.github.com/graphql"},
		{"https://api.github.com", "https://api.github.com/", "https://api.github.com/graphql"},
		{"https://api.octo.ghe.com", "https://api.octo.ghe.com/", "https://api.octo.ghe.com/graphql"},
		{"https://git.example.com/api/v3", "https://git.example.com/api/v3/", "https://git.example.com/api/graphql"},
		{"https://git.example.com", "https://git.example.com/api/v3/", "https://git.example.com/api/graphql"},
	} {
		c := mustClient(t, tt.address, "t")
		if got := c.BaseURL.String(); got != tt.base {
			t.Errorf("%q: base %s, want %s", tt.address, got, tt.base)
		}
		if got := c.GraphQL(); got != tt.graphql {
			t.Errorf("%q: GraphQL %s, want %s", tt.address, got, tt.graphql)
		}
	}
	for _, bad := range []string{"api.github.com", "ftp://api.github.com", "https://", "://", "/api/v3"} {
		if _, err := githubapi.New(bad, "t"); err == nil || !strings.Contains(err.Error(), "GITHUB_API_URL") {
			t.Errorf("%q: error %v, want one about GITHUB_API_URL", bad, err)
		}
	}
}

// An answer that has not changed is asked for, and costs nothing.
func TestUnchangedAnswers(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Open(githubtest.Pull{Number: 1}, "")
	gh.Comment(1, githubtest.Mona, "one")
	c := mustClient(t, gh.URL, "workflow")
	bodies := func() string {
		t.Helper()
		got, _, err := c.Issues.ListComments(t.Context(), githubtest.Owner, githubtest.Repo, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, comment := range got {
			all = append(all, comment.GetBody())
		}
		return strings.Join(all, ",")
	}
	for range 3 {
		if got := bodies(); got != "one" {
			t.Fatalf("comments %q", got)
		}
	}
	gh.Comment(1, githubtest.Mona, "two")
	if got := bodies(); got != "one,two" {
		t.Fatalf("comments %q after one more", got)
	}
	var status []int
	for _, r := range gh.Requests() {
		status = append(status, r.Status)
	}
	if len(status) != 4 || status[0] != 200 || status[1] != 304 || status[2] != 304 || status[3] != 200 {
		t.Errorf("answers %v, want 200, 304, 304, 200", status)
	}
}

func TestClockIsLearnt(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Ahead = -90 * time.Second
	gh.Open(githubtest.Pull{Number: 1}, "")
	c := mustClient(t, gh.URL, "workflow")
	if _, _, err := c.Issues.ListComments(t.Context(), githubtest.Owner, githubtest.Repo, 1, nil); err != nil {
		t.Fatal(err)
	}
	o, known := c.Clock.Offset()
	if !known || (o.Ahead+90*time.Second).Abs() > o.Error {
		t.Errorf("offset %+v, known %v, want -90s within its error", o, known)
	}
}

// The library shows the token to whomever it asks.
func TestTokenStaysOnItsHost(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = true }))
	defer other.Close()
	gh := githubtest.Start(t)
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL, http.StatusMovedPermanently)
		return true
	}
	c := mustClient(t, gh.URL, "workflow")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, _, err := c.Users.Get(ctx, ""); err == nil {
		t.Error("no error")
	}
	if asked {
		t.Error("another host was asked, and shown the token")
	}
}

func TestRedirectOnTheHostIsFollowed(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Open(githubtest.Pull{Number: 1}, "")
	gh.Comment(1, githubtest.Mona, "one")
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/renamed/") {
			return false
		}
		http.Redirect(w, r, strings.Replace(r.URL.Path, "/renamed/", "/"+githubtest.Repo+"/", 1), http.StatusMovedPermanently)
		return true
	}
	got, _, err := mustClient(t, gh.URL, "workflow").Issues.ListComments(t.Context(), githubtest.Owner, "renamed", 1, nil)
	if err != nil || len(got) != 1 {
		t.Errorf("comments %v, %v", got, err)
	}
}

func TestReasons(t *testing.T) {
	const token = "ghs_s3cret-of-a-job"
	refuse := func(status int, message string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { githubtest.Refuse(w, status, message) }
	}
	for _, tt := range []struct {
		name    string
		answer  func(http.ResponseWriter)
		want    string
		denied  bool
		limited bool
	}{
		{"401", refuse(401, "Bad credentials"), "GitHub does not take the token (401)", true, false},
		{"403", refuse(403, "Resource not accessible by integration"), "the token may not do it (403: Resource not accessible by integration)", true, false},
		{"403 of a limit", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "100")
			githubtest.Refuse(w, 403, "slow down")
		}, "a rate limit of GitHub's is reached (403)", false, true},
		{"403 of the hour's limit", func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "99999999999")
			githubtest.Refuse(w, 403, "API rate limit exceeded")
		}, "a rate limit of GitHub's is reached (403)", false, true},
		{"429", refuse(429, "Too many requests"), "a rate limit of GitHub's is reached (429)", false, true},
		{"404", refuse(404, "Not Found"), "GitHub answers 404, as it does where the token may not see it", true, false},
		{"422", refuse(422, "Validation Failed\n::error::x"), `GitHub refused it (422: Validation Failed\n::error::x)`, false, false},
		{"500", refuse(500, "oops"), "GitHub had trouble of its own (500)", false, false},
		{"no JSON", func(w http.ResponseWriter) { w.WriteHeader(418) }, "GitHub refused it (418)", false, false},
		{"an echo of the token", refuse(400, "bad token "+token), "GitHub refused it (400: bad token ***)", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gh := githubtest.Start(t)
			gh.Before = func(w http.ResponseWriter, r *http.Request) bool { tt.answer(w); return true }
			c := mustClient(t, gh.URL, token)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, _, err := c.Issues.CreateComment(ctx, githubtest.Owner, githubtest.Repo, 1, &github.IssueComment{})
			if err == nil {
				t.Fatal("no error")
			}
			if got := c.Reason(err); got != tt.want {
				t.Errorf("reason %q, want %q", got, tt.want)
			}
			if got := githubapi.Denied(err); got != tt.denied {
				t.Errorf("denied is %v", got)
			}
			if got := githubapi.RateLimited(err); got != tt.limited {
				t.Errorf("rate limited is %v", got)
			}
		})
	}
}

func TestReasonsWithoutAnAnswer(t *testing.T) {
	c := mustClient(t, "", "t")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{context.DeadlineExceeded, "GitHub did not answer in time"},
		{&net.DNSError{IsTimeout: true}, "GitHub did not answer in time"},
		{context.Canceled, "there was no time left to ask GitHub"},
		{errors.New("no route\nto host"), `GitHub cannot be reached: no route\nto host`},
	} {
		if got := c.Reason(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}
