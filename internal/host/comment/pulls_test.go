package comment_test

import (
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/host/event"
)

func TestPullRequestsOfACommit(t *testing.T) {
	const other = "5555555555555555555555555555555555555555"
	const when = "2026-11-30T11:00:00Z"
	open := func(n int, head string) githubtest.Pull {
		return githubtest.Pull{Number: n, State: "open", Head: githubtest.PullRef{SHA: head}}
	}
	merged := func(n int, commit string) githubtest.Pull {
		return githubtest.Pull{Number: n, State: "closed", Head: githubtest.PullRef{SHA: other}, Merge: commit, Merged: when}
	}
	closed := githubtest.Pull{Number: 9, State: "closed", Head: githubtest.PullRef{SHA: sha}}
	push := event.Pulls{Commit: sha, Merged: true}
	for _, tt := range []struct {
		name  string
		pulls event.Pulls
		there []githubtest.Pull
		want  []int
	}{
		{"the merged one", push, []githubtest.Pull{merged(3, sha)}, []int{3}},
		{"the one that ends in it", push, []githubtest.Pull{open(4, other), open(5, sha)}, []int{5}},
		{"those that hold it", push, []githubtest.Pull{open(4, other), merged(6, other)}, []int{4, 6}},
		{"not one that was closed", push, []githubtest.Pull{closed}, nil},
		{"none", push, nil, nil},
		{"not too many", push, []githubtest.Pull{open(1, sha), open(2, sha), open(3, sha), open(4, sha)}, []int{1, 2, 3}},
		{"a dispatch speaks of open ones", event.Pulls{Commit: sha}, []githubtest.Pull{merged(3, sha), open(4, sha)}, []int{4}},
		{"a fork's branch", event.Pulls{Head: event.Head{Owner: "stranger", Branch: "faster", SHA: sha}}, []githubtest.Pull{open(7, sha)}, []int{7}},
		{"a fork's branch that has gone on", event.Pulls{Head: event.Head{Owner: "stranger", Branch: "faster", SHA: sha}}, []githubtest.Pull{open(7, other)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gh := githubtest.Start(t)
			for _, p := range tt.there {
				by := tt.pulls.Commit
				if by == "" {
					by = "stranger:faster"
				}
				gh.Open(p, by)
			}
			e := event.Event{Name: "push", Owner: githubtest.Owner, Repo: githubtest.Repo, SHA: sha, Pulls: tt.pulls}
			out := post(t, gh, "workflow", e, request(config.CommentAuto, key, "new", true))
			var got []int
			for n := range 10 {
				if len(gh.Comments(n)) > 0 {
					got = append(got, n)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("comments on %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("comments on %v, want %v", got, tt.want)
				}
			}
			if len(tt.want) == 0 && (out.Trouble != "no comment: no pull request has this commit" || !out.Quiet) {
				t.Errorf("outcome %+v", out)
			}
			if len(tt.want) > 0 && out.URL != gh.Comments(tt.want[0])[0].URL {
				t.Errorf("outcome %+v, want the first one's address", out)
			}
		})
	}
}

func TestPullRequestsThatMayNotBeAskedFor(t *testing.T) {
	for _, mode := range []string{config.CommentAuto, config.CommentAlways} {
		gh := githubtest.Start(t)
		gh.Before = on("GET", "/pulls", -1, refuse(403, "Resource not accessible by integration"))
		e := event.Event{Name: "push", Owner: githubtest.Owner, Repo: githubtest.Repo, SHA: sha, Pulls: event.Pulls{Commit: sha, Merged: true}}
		out := post(t, gh, "workflow", e, request(mode, key, "new", true))
		want := "no comment: the pull requests of the commit cannot be asked for: the token may not do it (403: Resource not accessible by integration); give the job the permission pull-requests: write; the report is in the job's summary"
		if out.Trouble != want || out.Quiet != (mode == config.CommentAuto) {
			t.Errorf("%s: outcome %+v, want trouble %q", mode, out, want)
		}
	}
}
