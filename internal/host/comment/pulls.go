package comment

import (
	"context"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/host/event"
)

// maxPulls is on how many pull requests a judgement is left at most.
const maxPulls = 3

// pulls are the numbers of the pull requests that the event is about.
func (p *Poster) pulls(ctx context.Context) ([]int, error) {
	of := p.event.Pulls
	if len(of.Numbers) > 0 {
		return of.Numbers[:min(len(of.Numbers), maxPulls)], nil
	}
	var found []*github.PullRequest
	var err error
	switch {
	case of.Head != event.Head{}:
		found, _, err = p.api.PullRequests.List(ctx, p.event.Owner, p.event.Repo, &github.PullRequestListOptions{
			State: "open", Head: of.Head.Owner + ":" + of.Head.Branch, ListOptions: github.ListOptions{PerPage: 100},
		})
	case of.Commit != "":
		found, _, err = p.api.PullRequests.ListPullRequestsWithCommit(ctx, p.event.Owner, p.event.Repo, of.Commit, &github.ListOptions{PerPage: 100})
	}
	if err != nil {
		return nil, err
	}
	return choose(found, of), nil
}

// choose takes the pull requests that end in the commit, or were merged by it;
// where none does, those that hold it.
func choose(found []*github.PullRequest, of event.Pulls) []int {
	var exact, others []int
	for _, pull := range found {
		open, merged := pull.GetState() == "open", pull.MergedAt != nil
		switch {
		case !open && !(merged && of.Merged):
		case of.Head != event.Head{}:
			if pull.GetHead().GetSHA() == of.Head.SHA { // else the branch has gone on
				exact = append(exact, pull.GetNumber())
			}
		case pull.GetHead().GetSHA() == of.Commit, merged && pull.GetMergeCommitSHA() == of.Commit:
			exact = append(exact, pull.GetNumber())
		default:
			others = append(others, pull.GetNumber())
		}
	}
	if len(exact) == 0 {
		exact = others
	}
	return exact[:min(len(exact), maxPulls)]
}
