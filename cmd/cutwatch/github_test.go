package main

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
)

// githubKey is where a script keeps its GitHub.
type githubKey struct{}

// startGitHub is `github [broken]`: it starts a GitHub with the pull request 12,
// whose head is the commit 1, and sets GITHUB_API_URL. A broken one answers 500, whatever it is asked.
func startGitHub(ts *testscript.TestScript, neg bool, args []string) {
	gh := githubtest.New()
	ts.Defer(gh.Close)
	head := strings.Repeat("1", 40)
	gh.Open(githubtest.Pull{Number: 12, State: "open", Head: githubtest.PullRef{SHA: head}}, head)
	if len(args) > 0 && args[0] == "broken" {
		gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
			githubtest.Refuse(w, http.StatusInternalServerError, "oops")
			return true
		}
	}
	*ts.Value(githubKey{}).(**githubtest.Server) = gh
	ts.Setenv("GITHUB_API_URL", gh.URL)
}

// comments is `comments N FILE`: the pull request 12 has so many comments, and
// the last goes into a file.
func comments(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := (*ts.Value(githubKey{}).(**githubtest.Server)).Comments(12)
	if (len(all) == want) == neg {
		ts.Fatalf("%d comments are on the pull request: %+v", len(all), all)
	}
	if len(args) > 1 && len(all) > 0 {
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(all[len(all)-1].Body), 0o600))
	}
}

// deployment is `deployment DIGIT ENVIRONMENT [STATE ...]`: it makes a deployment
// of the commit of that digit alone that goes through these states, and sets DEPLOYMENT to its id.
// `deployment -tell STATE` tells another state of it.
func deployment(ts *testscript.TestScript, neg bool, args []string) {
	gh := *ts.Value(githubKey{}).(**githubtest.Server)
	states := args[1:]
	if args[0] != "-tell" {
		ts.Setenv("DEPLOYMENT", strconv.FormatInt(gh.Deploy(strings.Repeat(args[0], 40), args[1]), 10))
		states = args[2:]
	}
	id, err := strconv.ParseInt(ts.Getenv("DEPLOYMENT"), 10, 64)
	ts.Check(err)
	for _, state := range states {
		gh.Tell(id, state, "")
	}
}

// changed waits until the script's service of kind "changing" has changed.
func changed(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serviceKey{}).(*service)
	for deadline := time.Now().Add(time.Minute); s.deploys.Load() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("the service has not changed")
		}
	}
}
