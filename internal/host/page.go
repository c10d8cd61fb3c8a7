package host

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Names of the action's inputs that nobody needs to give: their defaults tell
// what a step cannot see of its job otherwise.
const (
	JobInput    = "check-run-id"
	MatrixInput = "matrix"
)

var (
	digits     = regexp.MustCompile(`^[0-9]{1,20}$`)
	repository = regexp.MustCompile(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)
	server     = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]_-]+$`)
)

// JobURL is the address of the job's page, where its number is known, else of
// its run's; "" outside of a job.
func (s Surroundings) JobURL() string {
	host, repo, run := s.Getenv("GITHUB_SERVER_URL"), s.Getenv("GITHUB_REPOSITORY"), s.Getenv("GITHUB_RUN_ID")
	if !server.MatchString(host) || !repository.MatchString(repo) || !digits.MatchString(run) {
		return ""
	}
	page := host + "/" + repo + "/actions/runs/" + run
	if job := s.jobID(); job != "" {
		return page + "/job/" + job
	}
	if attempt := s.Getenv("GITHUB_RUN_ATTEMPT"); digits.MatchString(attempt) {
		page += "/attempts/" + attempt
	}
	return page
}

// jobID is the number of the job; "" where the runner does not tell it.
func (s Surroundings) jobID() string {
	id := strings.TrimSpace(s.Getenv("INPUT_" + strings.ToUpper(JobInput)))
	if !digits.MatchString(id) {
		return ""
	}
	return id
}

// CommentKey is what tells this probe's comment from others on the same pull
// request: workflow, job, leg of the job's matrix (a JSON object, or "") and id.
func (s Surroundings) CommentKey(id, matrix string) string {
	key := s.Getenv("GITHUB_WORKFLOW") + "/" + s.Getenv("GITHUB_JOB")
	var leg map[string]any
	if json.Unmarshal([]byte(matrix), &leg) == nil && len(leg) > 0 {
		text, err := json.Marshal(leg) // in the order of the alphabet
		if err == nil {
			key += " " + string(text)
		}
	}
	if id != "" {
		key += "/" + id
	}
	return key
}
