package comment_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/host/comment"
	"github.com/cutwatch/cutwatch/internal/host/event"
)

// on answers requests of a method whose path ends so, n times.
func on(method, suffix string, n int, answer func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || !strings.HasSuffix(r.URL.Path, suffix) || n == 0 {
			return false
		}
		n--
		answer(w)
		return true
	}
}

func refuse(status int, message string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		githubtest.Refuse(w, status, message)
	}
}

func TestTrouble(t *testing.T) {
	const instead = "; the report is in the job's summary"
	fork, dependabot := pull(12), pull(12)
	fork.Pulls.ReadOnly = "a pull request from a fork gives its workflows a token that may only read"
	dependabot.Pulls.ReadOnly = "a pull request of Dependabot's gives its workflows a token that may only read, unless they say more"
	reset := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	for _, tt := range []struct {
		name   string
		token  string
		event  event.Event
		before func(http.ResponseWriter, *http.Request) bool
		text   string
		want   string // trouble; "": none
	}{
		{"a read-only token", "read-only", pull(12), nil, "",
			"no comment on #12: the token may not do it (403: Resource not accessible by integration); give the job the permission pull-requests: write" + instead},
		{"a fork", "read-only", fork, nil, "",
			"no comment on #12: the token may not do it (403: Resource not accessible by integration): a pull request from a fork gives its workflows a token that may only read, and a comment needs the permission pull-requests: write" + instead},
		{"Dependabot", "read-only", dependabot, nil, "",
			"no comment on #12: the token may not do it (403: Resource not accessible by integration): a pull request of Dependabot's gives its workflows a token that may only read, unless they say more, and a comment needs the permission pull-requests: write" + instead},
		{"no such token", "revoked", pull(12), nil, "", "no comment on #12: GitHub does not take the token (401)" + instead},
		{"no such pull request", "workflow", pull(99), nil, "",
			"no comment on #99: GitHub answers 404, as it does where the token may not see it; give the job the permission pull-requests: write" + instead},
		{"a body that is too long", "workflow", pull(12), nil, strings.Repeat("é", 70_000),
			"no comment on #12: GitHub refused it (422: Validation Failed; body is too long (maximum is 65536 characters))" + instead},
		{"a locked conversation", "workflow", pull(12), on("POST", "/comments", -1, refuse(403, "Unable to create comment because issue is locked.")), "",
			"no comment on #12: the token may not do it (403: Unable to create comment because issue is locked.)" + instead},
		{"the hour's limit", "workflow", pull(12), on("GET", "/comments", -1, refuse(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset)), "",
			"no comment on #12: a rate limit of GitHub's is reached (403)" + instead},
		{"a secondary limit, soon over", "workflow", pull(12), on("POST", "/comments", 1, refuse(403, "You have exceeded a secondary rate limit", "Retry-After", "1")), "", ""},
		{"a secondary limit", "workflow", pull(12), on("POST", "/comments", -1, refuse(403, "You have exceeded a secondary rate limit", "Retry-After", "60")), "",
			"no comment on #12: a rate limit of GitHub's is reached (403)" + instead},
		{"429, soon over", "workflow", pull(12), on("GET", "/comments", 1, refuse(429, "Too many requests", "Retry-After", "1")), "", ""},
		{"429", "workflow", pull(12), on("POST", "/comments", -1, refuse(429, "Too many requests", "Retry-After", "900")), "",
			"no comment on #12: a rate limit of GitHub's is reached (429)" + instead},
		{"500 for a while", "workflow", pull(12), on("GET", "/comments", 2, refuse(500, "oops")), "", ""},
		{"500", "workflow", pull(12), on("GET", "/comments", -1, refuse(500, "oops")), "",
			"no comment on #12: GitHub had trouble of its own (500)" + instead},
		{"no JSON", "workflow", pull(12), on("GET", "/comments", -1, func(w http.ResponseWriter) { w.Write([]byte("<html>")) }), "",
			"no comment on #12: GitHub's answer is not what it should be: invalid character '<' looking for beginning of value" + instead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := started(t)
			gh.Before = tt.before
			if tt.text == "" {
				tt.text = "new"
			}
			out := post(t, gh, tt.token, tt.event, request(config.CommentAuto, key, tt.text, true))
			if out.Trouble != tt.want || out.Quiet {
				t.Errorf("outcome %+v, want trouble %q", out, tt.want)
			}
			if (out.URL == "") != (tt.want != "") || len(gh.Comments(12)) == 1 != (tt.want == "") {
				t.Errorf("outcome %+v with comments %+v", out, gh.Comments(12))
			}
		})
	}
}

// Where it is not known whether a comment was made, there are not two of it.
func TestLostAnswerToAComment(t *testing.T) {
	for _, made := range []bool{true, false} {
		gh := started(t)
		var broken atomic.Bool
		gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") || broken.Swap(true) {
				return false
			}
			if made {
				gh.Comment(12, githubtest.Workflow, body(key, 100, "new"))
			}
			panic(http.ErrAbortHandler) // the connection breaks
		}
		out := post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "new", true))
		wantTexts(t, gh, 12, "new")
		if out.Trouble != "" || out.URL == "" {
			t.Errorf("made is %v: outcome %+v", made, out)
		}
	}
}

// A GitHub that never answers does not hold up the job.
func TestSilentGitHub(t *testing.T) {
	gh := started(t)
	over := make(chan struct{})
	defer close(over)
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-over:
		case <-r.Context().Done():
		}
		return true
	}
	api, err := githubapi.New(gh.URL, "workflow")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	from := time.Now()
	out := comment.New(api, pull(12)).Post(ctx, request(config.CommentAuto, key, "new", true))
	if took := time.Since(from); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if want := "no comment on #12: GitHub did not answer in time; the report is in the job's summary"; out.Trouble != want {
		t.Errorf("trouble %q, want %q", out.Trouble, want)
	}
}

func TestGitHubThatIsNotThere(t *testing.T) {
	t.Parallel()
	gh := started(t)
	gh.URL = "http://127.0.0.1:1"
	out := post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "new", true))
	if !strings.HasPrefix(out.Trouble, "no comment on #12: GitHub cannot be reached: ") {
		t.Errorf("outcome %+v", out)
	}
}
