package github

import (
	"testing"

	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestWhichDeployment(t *testing.T) {
	const page = "https://github.example/octo/shop/actions/runs/9/job/4711"
	for _, tt := range []struct {
		name  string
		o     Options
		there func(gh *githubtest.Server)       // before the run
		later func(gh *githubtest.Server) int64 // the one that is followed
	}{
		{"the first new one", Options{Commits: []string{ours}},
			func(gh *githubtest.Server) { gh.Tell(gh.Deploy(ours, "a"), "success", "") },
			func(gh *githubtest.Server) int64 {
				id := gh.Deploy(ours, "a")
				gh.Tell(gh.Deploy(ours, "b"), "failure", "")
				return id
			}},
		{"of the commit", Options{Commits: []string{"3333", ours}}, nil,
			func(gh *githubtest.Server) int64 {
				gh.Tell(gh.Deploy(theirs, "a"), "failure", "")
				return gh.Deploy(ours, "a")
			}},
		{"to the environment", Options{Commits: []string{ours}, Environment: "production"}, nil,
			func(gh *githubtest.Server) int64 {
				gh.Tell(gh.Deploy(ours, "preview"), "failure", "")
				return gh.Deploy(ours, "production")
			}},
		{"of any commit, where none is known", Options{}, nil,
			func(gh *githubtest.Server) int64 { return gh.Deploy(theirs, "a") }},
		{"not of that commit", Options{Not: theirs},
			func(gh *githubtest.Server) { gh.Deploy(theirs, "a") },
			func(gh *githubtest.Server) int64 {
				gh.Tell(gh.Deploy(theirs, "a"), "failure", "")
				return gh.Deploy(ours, "a")
			}},
		{"not that of the own job", Options{Commits: []string{ours}, JobURL: page},
			func(gh *githubtest.Server) { gh.TellJob(gh.Deploy(ours, "a"), "in_progress", page) },
			func(gh *githubtest.Server) int64 {
				gh.TellJob(gh.Deploy(ours, "a"), "in_progress", page)
				id := gh.Deploy(ours, "a")
				gh.TellJob(id, "in_progress", page+"2")
				return id
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.Start(t)
			if tt.there != nil {
				tt.there(gh)
			}
			f := begin(t, gh, tt.o, nil)
			id := tt.later(gh)
			gh.Tell(id, "in_progress", "")
			gh.Tell(id, "success", "")
			f.end(t)
			if got := f.got[len(f.got)-1]; got.Outcome != sample.Succeeded {
				t.Errorf("the end is %+v, want that of deployment %d", got, id)
			}
		})
	}
}

// One that was left open gives way to the one that this run is about, once
// something is told of that.
func TestDeploymentLeftOpen(t *testing.T) {
	const page = "https://github.example/octo/shop/actions/runs/9/job/4711"
	for _, state := range []string{"queued", "in_progress"} {
		gh := githubtest.Start(t)
		gh.Tell(gh.Deploy(ours, "a"), state, "")
		f := begin(t, gh, Options{Commits: []string{ours}, JobURL: page}, nil)
		f.await(t, state)
		gh.TellJob(gh.Deploy(ours, "a"), "in_progress", page)
		gh.Tell(gh.Deploy(ours, "b"), "failure", "")
		id := gh.Deploy(ours, "a")
		gh.Tell(id, "pending", "")
		f.await(t, "pending")
		gh.Tell(id, "success", "")
		f.end(t)
		kind := map[string]string{"queued": "phase", "in_progress": "start"}[state]
		wantTold(t, f, "phase created", kind+" "+state, "note deployment-passed", "phase created", "start pending", "end success succeeded")
	}
}

// The own job's deployment may be there before it can be told by its page.
func TestOwnDeploymentIsKnownLate(t *testing.T) {
	const page = "https://github.example/octo/shop/actions/runs/9/job/4711"
	gh := githubtest.Start(t)
	older := gh.Deploy(ours, "b")
	gh.Tell(older, "queued", "")
	own := gh.Deploy(ours, "a")
	f := begin(t, gh, Options{Commits: []string{ours}, JobURL: page}, func() { gh.TellJob(own, "in_progress", page) })
	f.await(t, "queued")
	gh.Tell(older, "in_progress", "")
	f.await(t, "in_progress")
	id := gh.Deploy(ours, "b")
	gh.Tell(id, "failure", "")
	f.end(t)
	if last := f.got[len(f.got)-1]; last.Outcome != sample.Failed {
		t.Errorf("the end is %+v, want that of deployment %d", last, id)
	}
}
