package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxBody is how long a comment may be, in characters.
const maxBody = 65536

// Comment is a comment on a pull request.
type Comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User Author `json:"user"`
	URL  string `json:"html_url"`
}

// Pull is a pull request.
type Pull struct {
	Number int     `json:"number"`
	State  string  `json:"state"` // open, closed
	Head   PullRef `json:"head"`
	Merge  string  `json:"merge_commit_sha,omitempty"`
	Merged string  `json:"merged_at,omitempty"` // a time
}

// PullRef is an end of a pull request.
type PullRef struct {
	SHA string `json:"sha"`
}

// Deployment is a deployment with its statuses, the oldest first.
type Deployment struct {
	ID          int64     `json:"id"`
	SHA         string    `json:"sha"`
	Environment string    `json:"environment"`
	Created     time.Time `json:"created_at"`
	Statuses    []Status  `json:"-"`
}

// Status is one thing said of a deployment.
type Status struct {
	ID          int64     `json:"id"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	LogURL      string    `json:"log_url,omitempty"`
	Created     time.Time `json:"created_at"`
}

// Open makes a pull request that can be commented on, and tells which commit, or
// OWNER:BRANCH, it is found by; "": none.
func (s *Server) Open(p Pull, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comments[p.Number] = nil
	if by != "" {
		s.pulls[by] = append(s.pulls[by], p)
	}
}

// Comment leaves a comment of somebody's.
func (s *Server) Comment(number int, who Author, body string) *Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(number, who, body)
}

func (s *Server) add(number int, who Author, body string) *Comment {
	s.nextID++
	c := &Comment{ID: s.nextID, Body: body, User: who, URL: fmt.Sprintf("https://github.example/%s/%s/pull/%d#issuecomment-%d", Owner, Repo, number, s.nextID)}
	s.comments[number] = append(s.comments[number], c)
	return c
}

// Comments are those on a pull request, in their order.
func (s *Server) Comments(number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.comments[number] {
		out = append(out, *c)
	}
	return out
}

// Deploy makes a deployment at the server's present, and returns its id.
func (s *Server) Deploy(sha, environment string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	s.deploys = append(s.deploys, &Deployment{ID: s.nextID, SHA: sha, Environment: environment, Created: s.now()})
	return s.nextID
}

// Tell adds a status to a deployment, at the server's present.
func (s *Server) Tell(id int64, state, description string) {
	s.tell(id, Status{State: state, Description: description})
}

// TellJob adds the status of a job that has that page.
func (s *Server) TellJob(id int64, state, page string) {
	s.tell(id, Status{State: state, LogURL: page})
}

func (s *Server) tell(id int64, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deployment(id)
	s.nextID++
	status.ID, status.Created = s.nextID, s.now()
	d.Statuses = append(d.Statuses, status)
}

func (s *Server) now() time.Time { return time.Now().Add(s.Ahead).UTC().Truncate(time.Second) }

func (s *Server) deployment(id int64) *Deployment {
	for _, d := range s.deploys {
		if d.ID == id {
			return d
		}
	}
	return nil
}

func (s *Server) issues(w http.ResponseWriter, r *http.Request, who Author, path []string, body string) {
	if len(path) == 2 && path[0] == "comments" && r.Method == http.MethodPatch {
		s.edit(w, path[1], body)
		return
	}
	n := number(path[0], -1)
	on, exists := s.comments[n]
	switch {
	case len(path) != 2 || path[1] != "comments" || !exists:
		Refuse(w, http.StatusNotFound, "Not Found")
	case r.Method == http.MethodGet:
		s.page(w, r, list(on))
	case r.Method == http.MethodPost:
		if text, ok := s.text(w, body); ok {
			Answer(w, http.StatusCreated, s.add(n, who, text))
		}
	}
}

func (s *Server) edit(w http.ResponseWriter, id, body string) {
	for _, on := range s.comments {
		for _, c := range on {
			if strconv.FormatInt(c.ID, 10) != id {
				continue
			}
			if text, ok := s.text(w, body); ok {
				c.Body = text
				Answer(w, http.StatusOK, c)
			}
			return
		}
	}
	Refuse(w, http.StatusNotFound, "Not Found")
}

// text is the body of a comment that is to be written.
func (s *Server) text(w http.ResponseWriter, body string) (string, bool) {
	var c struct {
		Body string `json:"body"`
	}
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		Refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return "", false
	}
	if utf8.RuneCountInString(c.Body) > maxBody {
		Answer(w, http.StatusUnprocessableEntity, map[string]any{
			"message": "Validation Failed",
			"errors":  []any{map[string]string{"resource": "IssueComment", "code": "unprocessable", "message": "body is too long (maximum is 65536 characters)"}},
		})
		return "", false
	}
	return c.Body, true
}

func (s *Server) deployments(w http.ResponseWriter, r *http.Request, path []string) {
	if len(path) == 0 {
		var found []any
		for _, d := range slices.Backward(s.deploys) { // the newest first
			if env := r.URL.Query().Get("environment"); env == "" || env == d.Environment {
				found = append(found, d)
			}
		}
		s.page(w, r, found)
		return
	}
	d := s.deployment(int64(number(path[0], -1)))
	switch {
	case d == nil:
		Refuse(w, http.StatusNotFound, "Not Found")
	case len(path) == 1:
		Answer(w, http.StatusOK, d)
	case path[1] == "statuses":
		newest := slices.Clone(d.Statuses)
		slices.Reverse(newest)
		s.page(w, r, list(newest))
	}
}

func readAll(r *http.Request) string {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	return string(data)
}
