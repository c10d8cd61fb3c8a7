package comment_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/host/comment"
	"github.com/cutwatch/cutwatch/internal/host/event"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
)

const (
	key = "deploy/ship/web"
	sha = "1111111111111111111111111111111111111111"
)

// result is a judgement with so many requests.
func result(requests int) *report.Result {
	return &report.Result{StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "pass", Requests: report.Requests{Total: requests, OK: requests}}
}

// body is a comment with a marker, in short.
func body(key string, requests int, text string) string {
	marker, _, _ := strings.Cut(markdown.Comment(markdown.Input{Result: result(requests)}, key, nil), "\n")
	return marker + "\n" + text
}

// request is a request to say text, and what was said before.
func request(mode, key, text string, good bool) comment.Request {
	return comment.Request{Mode: mode, Key: key, Good: good, Body: func(previous *markdown.State) string {
		said := text
		if previous != nil {
			said += fmt.Sprintf(" (before: %d requests)", previous.Requests)
		}
		return body(key, 100, said)
	}}
}

// pull is a pull request's event.
func pull(number int) event.Event {
	return event.Event{Name: "pull_request", Owner: githubtest.Owner, Repo: githubtest.Repo, SHA: sha, Pulls: event.Pulls{Numbers: []int{number}}}
}

// post leaves a comment and checks that it was quick.
func post(t *testing.T, gh *githubtest.Server, token string, e event.Event, r comment.Request) comment.Outcome {
	t.Helper()
	api, err := githubapi.New(gh.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	out := comment.New(api, e).Post(t.Context(), r)
	if took := time.Since(from); took > comment.Within+2*time.Second {
		t.Errorf("took %v", took)
	}
	return out
}

// started is a GitHub with the pull request 12.
func started(t *testing.T) *githubtest.Server {
	gh := githubtest.Start(t)
	gh.Open(githubtest.Pull{Number: 12}, "")
	return gh
}

// wantTexts compares the comments on a pull request, without their markers.
func wantTexts(t *testing.T, gh *githubtest.Server, number int, want ...string) {
	t.Helper()
	var got []string
	for _, c := range gh.Comments(number) {
		text := c.Body
		if marker, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(marker, "<!-- cutwatch") {
			text = rest
		}
		got = append(got, text)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("comments %q, want %q", got, want)
	}
}

func TestCreateThenUpdate(t *testing.T) {
	for _, token := range []string{"workflow", "app", "mona"} {
		t.Run(token, func(t *testing.T) {
			gh := started(t)
			gh.Comment(12, githubtest.Mona, "nice work")
			first := post(t, gh, token, pull(12), request(config.CommentAuto, key, "one", true))
			second := post(t, gh, token, pull(12), request(config.CommentAuto, key, "two", false))
			wantTexts(t, gh, 12, "nice work", "two (before: 100 requests)")
			if first.URL == "" || first != second || first.URL != gh.Comments(12)[1].URL {
				t.Errorf("outcomes %+v and %+v, want the comment's address twice", first, second)
			}
			if made := gh.Count("POST", "/comments"); made != 1 {
				t.Errorf("%d comments were made", made)
			}
		})
	}
}

// Both ways of asking who a token is are refused to some.
func TestAuthorWithoutGraphQL(t *testing.T) {
	for _, token := range []string{"workflow", "mona"} {
		t.Run(token, func(t *testing.T) {
			gh := started(t)
			gh.NoGraphQL = true
			post(t, gh, token, pull(12), request(config.CommentAuto, key, "one", true))
			post(t, gh, token, pull(12), request(config.CommentAuto, key, "two", true))
			wantTexts(t, gh, 12, "two (before: 100 requests)")
		})
	}
}

// A guess at the author would leave a second comment.
func TestAuthorUnknownInTrouble(t *testing.T) {
	t.Parallel()
	gh := started(t)
	post(t, gh, "mona", pull(12), request(config.CommentAuto, key, "one", true))
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/graphql" && r.URL.Path != "/api/v3/user" {
			return false
		}
		githubtest.Refuse(w, http.StatusBadGateway, "oops")
		return true
	}
	out := post(t, gh, "mona", pull(12), request(config.CommentAuto, key, "two", true))
	wantTexts(t, gh, 12, "one")
	if !strings.Contains(out.Trouble, "GitHub had trouble of its own (502)") {
		t.Errorf("outcome %+v", out)
	}
}

// One question that fails, beside one that is refused, says nothing of the author.
func TestAuthorIsNotGuessedInTrouble(t *testing.T) {
	for _, tt := range []struct {
		name   string
		often  int // the viewer is not told
		answer func(w http.ResponseWriter)
		want   string // trouble
	}{
		{"a 502 once", 1, refuse(502, "oops"), ""},
		{"502", -1, refuse(502, "oops"), "GitHub had trouble of its own (502)"},
		{"an error within the answer", -1, func(w http.ResponseWriter) {
			githubtest.Answer(w, 200, map[string]any{"errors": []any{map[string]string{"message": "Something went wrong"}}})
		}, "GitHub refused it (200: Something went wrong)"},
		{"not there", -1, refuse(404, "Not Found"), "GitHub answers 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := started(t)
			gh.Comment(12, githubtest.Workflow, body(key, 100, "a workflow's"))
			gh.Comment(12, githubtest.App, body(key, 100, "ours"))
			gh.Before = on("POST", "/graphql", tt.often, tt.answer)
			out := post(t, gh, "app", pull(12), request(config.CommentAuto, key, "new", true))
			if tt.want == "" {
				wantTexts(t, gh, 12, "a workflow's", "new (before: 100 requests)")
			} else {
				wantTexts(t, gh, 12, "a workflow's", "ours")
			}
			if !strings.Contains(out.Trouble, tt.want) || (out.Trouble == "") != (tt.want == "") {
				t.Errorf("outcome %+v, want trouble %q", out, tt.want)
			}
		})
	}
}

func TestAllPagesAreSearched(t *testing.T) {
	gh := started(t)
	for i := range 299 {
		gh.Comment(12, githubtest.Mona, "comment "+strconv.Itoa(i))
	}
	gh.Comment(12, githubtest.Workflow, body(key, 77, "ours"))
	post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "new", true))
	all := gh.Comments(12)
	if len(all) != 300 || !strings.HasSuffix(all[299].Body, "\nnew (before: 77 requests)") {
		t.Errorf("%d comments, the last: %q", len(all), all[len(all)-1].Body)
	}
	if pages := gh.Count("GET", "/issues/12/comments"); pages != 3 {
		t.Errorf("%d pages were asked for, want 3", pages)
	}
}

func TestSomeoneElsesMarker(t *testing.T) {
	gh := started(t)
	gh.Comment(12, githubtest.Mona, body(key, 1, "PASS, honestly"))
	gh.Comment(12, githubtest.App, body(key, 2, "of an app"))
	gh.Comment(12, githubtest.Author{ID: 9, Login: "github-actions[bot]", Type: "User"}, body(key, 3, "a name alike"))
	for _, graphQL := range []bool{true, false} {
		gh.NoGraphQL = !graphQL
		post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "ours", true))
	}
	wantTexts(t, gh, 12, "PASS, honestly", "of an app", "a name alike", "ours (before: 100 requests)")
}

// Our own comment that quotes a marker further down is not the one.
func TestMarkerNotOnTheFirstLine(t *testing.T) {
	gh := started(t)
	gh.Comment(12, githubtest.Workflow, "see:\n"+body(key, 1, "x"))
	post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "ours", true))
	if all := gh.Comments(12); len(all) != 2 || !strings.HasPrefix(all[0].Body, "see:") {
		t.Errorf("comments %+v", all)
	}
}

func TestTwoKeys(t *testing.T) {
	gh := started(t)
	for _, round := range []string{"1", "2"} {
		post(t, gh, "workflow", pull(12), request(config.CommentAuto, "a", "a"+round, true))
		post(t, gh, "workflow", pull(12), request(config.CommentAuto, "b", "b"+round, true))
	}
	wantTexts(t, gh, 12, "a2 (before: 100 requests)", "b2 (before: 100 requests)")
}

func TestModes(t *testing.T) {
	none := event.Event{Name: "schedule", Owner: githubtest.Owner, Repo: githubtest.Repo}
	for _, tt := range []struct {
		name, mode string
		event      event.Event
		before     bool // a comment is there
		good       bool
		want       string // what it says in the end
		trouble    string
		quiet      bool
	}{
		{"never", config.CommentNever, pull(12), true, false, "old", "", false},
		{"auto, good", config.CommentAuto, pull(12), false, true, "new", "", false},
		{"auto, bad", config.CommentAuto, pull(12), false, false, "new", "", false},
		{"auto without a pull request", config.CommentAuto, none, false, false, "", "no comment: the event schedule has no pull request", true},
		{"always without a pull request", config.CommentAlways, none, false, false, "", "no comment: the event schedule has no pull request", false},
		{"always", config.CommentAlways, pull(12), true, true, "new (before: 5 requests)", "", false},
		{"on failure, good", config.CommentOnFailure, pull(12), false, true, "", "", false},
		{"on failure, good again", config.CommentOnFailure, pull(12), true, true, "new (before: 5 requests)", "", false},
		{"on failure, bad", config.CommentOnFailure, pull(12), false, false, "new", "", false},
		{"on failure without a pull request", config.CommentOnFailure, none, false, false, "", "no comment: the event schedule has no pull request", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gh := started(t)
			if tt.before {
				gh.Comment(12, githubtest.Workflow, body(key, 5, "old"))
			}
			out := post(t, gh, "workflow", tt.event, request(tt.mode, key, "new", tt.good))
			if tt.want == "" {
				wantTexts(t, gh, 12)
			} else {
				wantTexts(t, gh, 12, tt.want)
			}
			if out.Trouble != tt.trouble || out.Quiet != tt.quiet {
				t.Errorf("outcome %+v, want trouble %q, quiet %v", out, tt.trouble, tt.quiet)
			}
			if said := tt.want != "" && tt.want != "old"; (out.URL != "") != said {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

func TestCommentThatVanishes(t *testing.T) {
	gh := started(t)
	gh.Comment(12, githubtest.Workflow, body(key, 5, "old"))
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		githubtest.Refuse(w, http.StatusNotFound, "Not Found")
		return true
	}
	out := post(t, gh, "workflow", pull(12), request(config.CommentAuto, key, "new", true))
	wantTexts(t, gh, 12, "old", "new")
	if out.Trouble != "" || out.URL != gh.Comments(12)[1].URL {
		t.Errorf("outcome %+v", out)
	}
}

func TestNoTimeLeft(t *testing.T) {
	gh := started(t)
	api, err := githubapi.New(gh.URL, "workflow")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := comment.New(api, pull(12)).Post(ctx, request(config.CommentAuto, key, "new", true))
	if want := "no comment on #12: there was no time left to ask GitHub; the report is in the job's summary"; out.Trouble != want {
		t.Errorf("trouble %q, want %q", out.Trouble, want)
	}
}
