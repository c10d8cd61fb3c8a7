// Package event reads what started the workflow: which commit, pull request and
// deployment it is about. It asks nobody; where the payload does not name the
// pull request, it says how it can be found (see [Pulls]).
package event

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/cutwatch/cutwatch/internal/format"
)

// Event is what started the workflow.
type Event struct {
	Name        string // as of GITHUB_EVENT_NAME
	Owner, Repo string // "" where it is not known
	SHA         string // what is deployed: of a pull request its head; "" where it is not known
	CheckedOut  string // what the workflow runs on, GITHUB_SHA: of a pull request its merge with the base

	Pulls Pulls

	// Of deployment and deployment_status.
	Deployment  int64 // its id; 0: another event
	Environment string
	URL         string // that was deployed to, where a status names it; untrusted text
}

// Pulls tells which pull requests an event is about.
type Pulls struct {
	Numbers []int // as the payload names them
	// How to ask for them where the payload names none: those that this commit is
	// part of, also where they are merged by now, or those of this branch.
	Commit string
	Merged bool
	Head   Head
	// ReadOnly is why the workflow's own token may only read here, whatever the
	// permissions say; "": it may write.
	ReadOnly string
}

// Head is a branch that a pull request asks to merge, at a commit.
type Head struct{ Owner, Branch, SHA string }

// Any tells whether the event may have a pull request.
func (p Pulls) Any() bool { return len(p.Numbers) > 0 || p.Commit != "" || p.Head != Head{} }

// maxPayload bounds the payload that is read; GitHub's own limit is 25 MB.
const maxPayload = 32 << 20

// Read reads the event that the runner's variables tell of. Where the payload
// cannot be read, the error says why, and the event holds what the variables say.
func Read(getenv func(string) string) (Event, error) {
	sha := commit(getenv("GITHUB_SHA"))
	e := Event{Name: getenv("GITHUB_EVENT_NAME"), SHA: sha, CheckedOut: sha}
	owner, repo, ok := strings.Cut(getenv("GITHUB_REPOSITORY"), "/")
	if ok && name.MatchString(owner) && name.MatchString(repo) {
		e.Owner, e.Repo = owner, repo
	}
	if e.onBase() {
		e.SHA = ""
	}
	path := getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return e, nil
	}
	p, err := readPayload(path)
	if err != nil {
		return e, err
	}
	e.take(p)
	return e, nil
}

// onBase tells whether the workflow runs on the tip of a base or of the default
// branch, whatever it is that the event is about.
func (e *Event) onBase() bool {
	switch e.Name {
	case "pull_request_target", "workflow_run", "issue_comment":
		return true
	}
	return false
}

// Deployed is the commits whose deployments the event may be about: what is
// deployed, or its merge with the base, where the workflow runs on that. None:
// it is not known, and not the one that is checked out.
func (e *Event) Deployed() []string {
	var out []string
	if e.SHA != "" {
		out = append(out, e.SHA)
	}
	if strings.HasPrefix(e.Name, "pull_request") && !e.onBase() && e.CheckedOut != "" && e.CheckedOut != e.SHA {
		out = append(out, e.CheckedOut)
	}
	return out
}

// What becomes part of an address: the name of an owner or a repository, and a
// commit's.
var (
	name = regexp.MustCompile(`^[A-Za-z0-9._-]{0,99}[A-Za-z0-9_-]$`)
	hash = regexp.MustCompile(`^[0-9a-f]{40,64}$`)
)

// commit is the name of a commit; "" of what is none.
func commit(s string) string {
	if !hash.MatchString(s) {
		return ""
	}
	return s
}

func readPayload(path string) (*payload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the event's payload cannot be read: %w", err)
	}
	defer f.Close()
	var p payload
	if err := json.NewDecoder(io.LimitReader(f, maxPayload)).Decode(&p); err != nil {
		return nil, fmt.Errorf("the event's payload in %s is not as expected: %s", path, format.Clean(err.Error(), 200))
	}
	return &p, nil
}

// take takes what a payload tells.
func (e *Event) take(p *payload) {
	switch e.Name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment":
		e.pullRequest(p.PullRequest)
	case "issue_comment":
		switch {
		case p.Issue == nil:
		case p.Issue.PullRequest != nil:
			e.Pulls.Numbers = number(p.Issue.Number)
		default:
			e.SHA = e.CheckedOut
		}
	case "merge_group":
		if p.MergeGroup != nil {
			e.SHA = commit(p.MergeGroup.HeadSHA)
			e.Pulls.Numbers = queued(p.MergeGroup.HeadRef)
		}
	case "push":
		if !p.Deleted {
			e.Pulls.Commit, e.Pulls.Merged = e.SHA, true
		}
	case "workflow_dispatch":
		e.Pulls.Commit = e.SHA
	case "workflow_run":
		e.workflowRun(p)
	case "deployment", "deployment_status":
		e.deployment(p)
	}
}

func (e *Event) pullRequest(p *pullRequest) {
	if p == nil {
		return
	}
	e.SHA = commit(p.Head.SHA)
	e.Pulls.Numbers = number(p.Number)
	if e.Name == "pull_request_target" {
		return // it runs with the base's permissions, which is its danger
	}
	switch {
	case p.Head.Repo == nil || !strings.EqualFold(p.Head.Repo.FullName, e.Owner+"/"+e.Repo):
		e.Pulls.ReadOnly = "a pull request from a fork gives its workflows a token that may only read"
	case p.User.Login == "dependabot[bot]":
		e.Pulls.ReadOnly = "a pull request of Dependabot's gives its workflows a token that may only read, unless they say more"
	}
}

// queue is the branch that a merge queue makes for a pull request.
var queue = regexp.MustCompile(`^(?:refs/heads/)?gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40,64}$`)

func queued(ref string) []int {
	m := queue.FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return nil
	}
	return number(n)
}

// workflowRun is about the workflow that has run. What it names may be pull
// requests in other repositories, to which the branch is offered as well; of a
// fork's it names none.
func (e *Event) workflowRun(p *payload) {
	run := p.WorkflowRun
	if run == nil {
		return
	}
	e.SHA = commit(run.HeadSHA)
	for _, pull := range run.PullRequests {
		if p.Repository == nil || pull.Base.Repo.ID == 0 || pull.Base.Repo.ID == p.Repository.ID {
			e.Pulls.Numbers = append(e.Pulls.Numbers, number(pull.Number)...)
		}
	}
	switch {
	case len(e.Pulls.Numbers) > 0:
	case strings.HasPrefix(run.Event, "pull_request") && run.HeadRepository != nil:
		e.Pulls.Head = Head{run.HeadRepository.Owner.Login, run.HeadBranch, e.SHA}
	case run.Event == "push" || run.Event == "workflow_dispatch":
		e.Pulls.Commit, e.Pulls.Merged = e.SHA, run.Event == "push"
	}
}

func (e *Event) deployment(p *payload) {
	if p.DeploymentStatus != nil {
		e.URL = p.DeploymentStatus.EnvironmentURL
	}
	if d := p.Deployment; d != nil {
		e.Deployment, e.Environment, e.SHA = d.ID, d.Environment, commit(d.SHA)
		e.Pulls.Commit, e.Pulls.Merged = e.SHA, true
	}
}

// number is a pull request's number as the only one; none where it is none.
func number(n int) []int {
	if n <= 0 {
		return nil
	}
	return []int{n}
}

// Warning is what the user should know of the event; "" of most.
func (e Event) Warning() string {
	if e.Name != "pull_request_target" {
		return ""
	}
	return "this workflow runs on pull_request_target, with a token that may write and with secrets: " +
		"never check out or run code of the pull request in it; use pull_request, and workflow_run to comment on what a fork offers"
}
