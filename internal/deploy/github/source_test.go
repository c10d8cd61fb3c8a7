package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	ours   = "1111111111111111111111111111111111111111"
	theirs = "2222222222222222222222222222222222222222"
)

// follow is a source under test and what it told.
type following struct {
	*Source
	gh   *githubtest.Server
	done chan error

	mu  sync.Mutex
	got []sample.Signal
	new chan struct{} // a signal came
}

// begin prepares a source and starts it. before is called in between.
func begin(t *testing.T, gh *githubtest.Server, o Options, before func()) *following {
	t.Helper()
	return beginWithin(t, t.Context(), gh, o, before)
}

func beginWithin(t *testing.T, ctx context.Context, gh *githubtest.Server, o Options, before func()) *following {
	t.Helper()
	api, err := githubapi.New(gh.URL, "workflow")
	if err != nil {
		t.Fatal(err)
	}
	o.Owner, o.Repo = githubtest.Owner, githubtest.Repo
	f := &following{Source: New(api, o), gh: gh, done: make(chan error, 1), new: make(chan struct{}, 100)}
	f.pace = pace{waiting: 10 * time.Millisecond, pending: 10 * time.Millisecond, rolling: 10 * time.Millisecond, lost: 100 * time.Millisecond}
	if err := f.Prepare(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	if before != nil {
		before()
	}
	f.StartedAt(time.Now().Add(-time.Minute))
	go func() {
		f.done <- f.Run(ctx, func(s sample.Signal) {
			f.mu.Lock()
			f.got = append(f.got, s)
			f.mu.Unlock()
			f.new <- struct{}{}
		})
	}()
	return f
}

// await waits until a signal of that name was told.
func (f *following) await(t *testing.T, name string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		f.mu.Lock()
		for _, s := range f.got {
			if s.Name == name {
				f.mu.Unlock()
				return
			}
		}
		f.mu.Unlock()
		select {
		case <-f.new:
		case <-deadline:
			t.Fatalf("nothing told %q: %v", name, f.told())
		}
	}
}

// end waits for the source's end.
func (f *following) end(t *testing.T) {
	t.Helper()
	select {
	case err := <-f.done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("it does not end: %v", f.told())
	}
}

// told is what was told, in short.
func (f *following) told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, s := range f.got {
		out = append(out, strings.TrimRight(s.Kind+" "+s.Name+" "+s.Outcome, " "))
	}
	return out
}

func wantTold(t *testing.T, f *following, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.told()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestStates(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []string
		want   []string
	}{
		{"all", []string{"queued", "pending", "in_progress", "success"},
			[]string{"phase created", "phase queued", "start pending", "phase in_progress", "end success succeeded"}},
		{"an environment's job", []string{"waiting", "queued", "in_progress", "success"},
			[]string{"phase created", "phase waiting", "phase queued", "start in_progress", "end success succeeded"}},
		{"the end alone", []string{"success"}, []string{"start created", "end success succeeded"}},
		{"failure", []string{"in_progress", "failure"}, []string{"phase created", "start in_progress", "end failure failed"}},
		{"error", []string{"pending", "error"}, []string{"phase created", "start pending", "end error failed"}},
		{"queued, and the end", []string{"queued", "success"}, []string{"phase created", "phase queued", "start in_progress", "end success succeeded"}},
		{"replaced", []string{"queued", "inactive"}, []string{"phase created", "phase queued", "end inactive unknown"}},
		{"nothing after the end", []string{"in_progress", "success", "inactive"}, []string{"phase created", "start in_progress", "end success succeeded"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.Start(t)
			f := begin(t, gh, Options{Commits: []string{ours}}, nil)
			id := gh.Deploy(ours, "production")
			for _, state := range tt.states {
				gh.Tell(id, state, "")
			}
			f.end(t)
			wantTold(t, f, tt.want...)
		})
	}
}

// Each status is told once, also where several came between two looks.
func TestFollowsAsItGoes(t *testing.T) {
	gh := githubtest.Start(t)
	f := begin(t, gh, Options{Commits: []string{ours}, Environment: "production"}, nil)
	id := gh.Deploy(ours, "production")
	gh.Tell(id, "queued", "")
	f.await(t, "queued")
	gh.Tell(id, "in_progress", "rolling | out\n::error::x")
	f.await(t, "in_progress")
	gh.Tell(id, "in_progress", "half way")
	gh.Tell(id, "success", "live")
	f.end(t)
	wantTold(t, f, "phase created", "phase queued", "start in_progress", "phase in_progress", "end success succeeded")
	last := f.got[4]
	if want := "the deployment 101 to production succeeded: live"; last.Message != want || last.Deployment != "101" {
		t.Errorf("the end is %+v, want message %q", last, want)
	}
	if got := f.got[2].Message; strings.Contains(got, "\n") {
		t.Errorf("a description was passed on as %q", got)
	}
}

// A deployment that is under way when the run begins is this run's.
func TestDeploymentUnderWay(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Tell(gh.Deploy(ours, "a"), "success", "")
	id := gh.Deploy(ours, "a")
	gh.Tell(id, "in_progress", "")
	gh.Tell(gh.Deploy(theirs, "a"), "in_progress", "")
	f := begin(t, gh, Options{Commits: []string{ours}}, nil)
	f.await(t, "in_progress")
	gh.Tell(id, "success", "")
	f.end(t)
	wantTold(t, f, "phase created", "start in_progress", "end success succeeded")
}

// The event's own deployment is followed, whichever others there are.
func TestDeploymentOfTheEvent(t *testing.T) {
	gh := githubtest.Start(t)
	id := gh.Deploy(theirs, "a")
	gh.Tell(gh.Deploy(ours, "a"), "in_progress", "")
	f := begin(t, gh, Options{Commits: []string{ours}, Deployment: id}, nil)
	gh.Tell(id, "error", "no space left")
	f.end(t)
	wantTold(t, f, "start created", "end error failed")
	if want := `the deployment 101 to a ended in "error": no space left`; f.got[1].Message != want {
		t.Errorf("message %q, want %q", f.got[1].Message, want)
	}
}

// Several deploys in one run are several deployments.
func TestRunAgain(t *testing.T) {
	gh := githubtest.Start(t)
	id := gh.Deploy(ours, "a")
	gh.Tell(id, "in_progress", "")
	f := begin(t, gh, Options{Commits: []string{ours}, Deployment: id}, nil)
	for range 3 {
		gh.Tell(id, "success", "")
		f.end(t)
		id = gh.Deploy(ours, "a")
		go func() { f.done <- f.Run(t.Context(), func(s sample.Signal) { f.got = append(f.got, s) }) }()
	}
	gh.Tell(id, "failure", "")
	f.end(t)
	wantTold(t, f, "phase created", "start in_progress", "end success succeeded", "start created", "end success succeeded",
		"start created", "end success succeeded", "start created", "end failure failed")
}

// GitHub's clock may be minutes off; the signals are on the run's.
func TestTimesAreOfTheRun(t *testing.T) {
	for _, ahead := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
		gh := githubtest.Start(t)
		gh.Ahead = ahead
		f := begin(t, gh, Options{Commits: []string{ours}}, nil)
		id := gh.Deploy(ours, "a")
		gh.Tell(id, "in_progress", "")
		gh.Tell(id, "success", "")
		f.end(t)
		now := time.Since(f.start)
		for _, s := range f.got {
			if at := time.Duration(s.At); at < time.Minute-5*time.Second || at > now {
				t.Errorf("clock %v off: %s at %v, and it is %v", ahead, s.Name, at, now)
			}
			if off := time.Duration(s.Offset) - ahead; off.Abs() > 2*time.Second {
				t.Errorf("offset %v, want about %v", time.Duration(s.Offset), ahead)
			}
		}
	}
}

func TestTimesBeforeTheRun(t *testing.T) {
	gh := githubtest.Start(t)
	id := gh.Deploy(ours, "a")
	gh.Tell(id, "in_progress", "")
	f := begin(t, gh, Options{Deployment: id}, nil)
	gh.Tell(id, "success", "")
	f.end(t)
	for _, s := range f.got {
		if s.At < 1 {
			t.Errorf("%s at %d: before the start, or to be stamped with the present", s.Name, s.At)
		}
	}
}

func TestTooLong(t *testing.T) {
	for _, tt := range []struct {
		name    string
		states  []string
		outcome string
		message string
	}{
		{"none came", nil, sample.Unknown, "no new deployment of this commit to production appeared within deploy-timeout"},
		{"not over", []string{"in_progress"}, sample.TimedOut, "the deployment 101 to production was not over in time; it was in_progress"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gh := githubtest.Start(t)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			f := beginWithin(t, ctx, gh, Options{Commits: []string{ours}, Environment: "production"}, func() {
				if tt.states != nil {
					gh.Tell(gh.Deploy(ours, "production"), tt.states[0], "")
				}
			})
			f.end(t)
			last := f.got[len(f.got)-1]
			if last.Kind != sample.SignalEnd || last.Outcome != tt.outcome || last.Message != tt.message {
				t.Errorf("the end is %+v, want message %q", last, tt.message)
			}
		})
	}
}

// A run that is over has nothing more to be told.
func TestRunThatIsOver(t *testing.T) {
	gh := githubtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := beginWithin(t, ctx, gh, Options{Commits: []string{ours}}, nil)
	cancel()
	f.end(t)
	wantTold(t, f)
}

func TestDeploymentThatVanishes(t *testing.T) {
	gh := githubtest.Start(t)
	gone := make(chan struct{})
	gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-gone:
			githubtest.Refuse(w, http.StatusNotFound, "Not Found")
			return true
		default:
			return false
		}
	}
	f := begin(t, gh, Options{Commits: []string{ours}}, nil)
	gh.Tell(gh.Deploy(ours, "a"), "in_progress", "")
	f.await(t, "in_progress")
	close(gone)
	f.end(t)
	wantTold(t, f, "phase created", "start in_progress", "end deployment-gone unknown")
}

func TestPrepareRefuses(t *testing.T) {
	for _, tt := range []struct {
		status      int
		input, want string
	}{
		{401, "github-token", "GitHub does not take the token (401); give the job's own, or one with the permission deployments: read"},
		{403, "github-token", "deployments cannot be read: the token may not do it (403: no); give the job the permission deployments: read"},
		{404, "github-token", "deployments cannot be read: GitHub answers 404, as it does where the token may not see it; give the job the permission deployments: read"},
	} {
		for _, id := range []int64{0, 7} {
			gh := githubtest.Start(t)
			gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
				githubtest.Refuse(w, tt.status, "no")
				return true
			}
			api, err := githubapi.New(gh.URL, "workflow")
			if err != nil {
				t.Fatal(err)
			}
			err = New(api, Options{Owner: githubtest.Owner, Repo: githubtest.Repo, Deployment: id}).Prepare(t.Context(), func(string) {})
			bad, ok := errors.AsType[*config.InputError](err)
			if !ok || bad.Input != tt.input || bad.Problem != tt.want {
				t.Errorf("%d: error %v, want %s: %s", tt.status, err, tt.input, tt.want)
			}
		}
	}
}
