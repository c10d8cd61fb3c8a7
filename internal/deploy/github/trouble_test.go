package github

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
)

// A GitHub that is in trouble for a while is asked again, and what was missed is told.
func TestTroubleOnTheWay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
	}{
		{"500", func(w http.ResponseWriter) { githubtest.Refuse(w, 500, "oops") }},
		{"403", func(w http.ResponseWriter) { githubtest.Refuse(w, 403, "Resource not accessible by integration") }},
		{"a rate limit", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "600")
			githubtest.Refuse(w, 429, "slow down")
		}},
		{"no JSON", func(w http.ResponseWriter) { w.Write([]byte("<html>")) }},
		{"no network", func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.Start(t)
			var down atomic.Bool
			gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if !down.Load() {
					return false
				}
				tt.answer(w)
				return true
			}
			f := begin(t, gh, Options{Commits: []string{ours}}, nil)
			id := gh.Deploy(ours, "a")
			gh.Tell(id, "in_progress", "")
			f.await(t, "in_progress")
			down.Store(true)
			f.await(t, "api-lost")
			gh.Tell(id, "success", "")
			down.Store(false)
			f.end(t)
			wantTold(t, f, "phase created", "start in_progress", "note api-lost", "note api-back", "end success succeeded")
		})
	}
}

// An hour's quota that is nearly used up is made to last.
func TestQuotaIsMadeToLast(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-RateLimit-Remaining", "2")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		return false
	}
	f := begin(t, gh, Options{Commits: []string{ours}}, nil)
	if got := f.api.Spread(); got < 50*time.Minute {
		t.Errorf("two requests are to last an hour, and are sent every %v", got)
	}
	select {
	case err := <-f.done:
		t.Errorf("it ended, with %v", err)
	case <-time.After(300 * time.Millisecond): // at a pace of 10 ms
	}
	if asked := gh.Count("GET", "/deployments"); asked > 2 {
		t.Errorf("asked %d times within a moment", asked)
	}
}

// Whoever waits for GitHub before the run is told so, and that it is GitHub's fault.
func TestPrepareInTrouble(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		waits  bool
		want   string
	}{
		{"500", func(w http.ResponseWriter) { githubtest.Refuse(w, 500, "oops") }, true, "GitHub had trouble of its own (500)"},
		{"a short limit", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			githubtest.Refuse(w, 429, "slow down")
		}, true, "a rate limit of GitHub's is reached (429)"},
		{"a long limit", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "600")
			githubtest.Refuse(w, 429, "slow down")
		}, false, "a rate limit of GitHub's is reached (429)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.Start(t)
			gh.Before = func(w http.ResponseWriter, r *http.Request) bool { tt.answer(w); return true }
			api, err := githubapi.New(gh.URL, "workflow")
			if err != nil {
				t.Fatal(err)
			}
			s := New(api, Options{Owner: githubtest.Owner, Repo: githubtest.Repo})
			s.pace.silent = 500 * time.Millisecond
			var said []string
			err = s.Prepare(t.Context(), func(line string) { said = append(said, line) })
			if bad, ok := errors.AsType[*config.InputError](err); ok {
				t.Errorf("the user is at fault: %v", bad)
			}
			if want := "platform: deployments cannot be read: " + tt.want + "; try again later, or leave platform out"; err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			if tt.waits && (len(said) != 1 || !strings.Contains(said[0], "waited for, up to 30")) {
				t.Errorf("said %q, want one line that it waits", said)
			}
		})
	}
}
