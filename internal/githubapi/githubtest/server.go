// Package githubtest is a small GitHub on loopback for tests: comments, pull
// requests of commits, deployments and who a token is, with the answers that the
// real one gives to tokens that may not, texts that are too long and callers
// that ask too often.
package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Owner and Repo are the one repository that there is.
const (
	Owner = "octo"
	Repo  = "shop"
)

// Authors that tokens can belong to.
var (
	Workflow = Author{41898282, "github-actions[bot]", "Bot"}
	App      = Author{1001, "deployer[bot]", "Bot"}
	Mona     = Author{1002, "mona", "User"}
)

// Author is who writes.
type Author struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Token is what a token may do.
type Token struct {
	Author   Author
	ReadOnly bool
}

// Request is one that was received.
type Request struct {
	Method, Path, Query, Body string
	Header                    http.Header
	Status                    int // of the answer
}

// Server is a GitHub. Its fields are set before the first request.
type Server struct {
	URL    string // for GITHUB_API_URL, without the /api/v3 of a GHES
	Close  func()
	Tokens map[string]Token
	Ahead  time.Duration // of its clock before ours
	// NoGraphQL: it refuses to say who the viewer is.
	NoGraphQL bool
	// Before, unless nil, may answer a request itself: true where it has.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	nextID   int64
	comments map[int][]*Comment // by pull request, which exist by being here
	pulls    map[string][]Pull  // by commit, or by OWNER:BRANCH
	deploys  []*Deployment
	got      []Request
}

// Start starts one that stops with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := New()
	t.Cleanup(s.Close)
	return s
}

// New starts one. It knows the tokens "workflow", "app", "mona", and
// "read-only", a workflow's.
func New() *Server {
	s := &Server{
		Tokens: map[string]Token{
			"workflow": {Author: Workflow}, "workflow-t0ken": {Author: Workflow}, "app": {Author: App}, "mona": {Author: Mona},
			"read-only": {Author: Workflow, ReadOnly: true},
		},
		nextID: 100, comments: map[int][]*Comment{}, pulls: map[string][]Pull{},
	}
	server := httptest.NewServer(s)
	s.URL, s.Close = server.URL, server.Close
	return s
}

// Requests are those that were received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.got...)
}

// Count is how many requests of a method went to paths that end so.
func (s *Server) Count(method, suffix string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method == method && strings.HasSuffix(r.Path, suffix) {
			n++
		}
	}
	return n
}

// ServeHTTP answers as GitHub does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := readAll(r)
	rec := &recorder{ResponseWriter: w, status: http.StatusOK}
	rec.Header().Set("Date", time.Now().Add(s.Ahead).UTC().Format(http.TimeFormat))
	if s.Before == nil || !s.Before(rec, r) {
		s.route(rec, r, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, Request{r.Method, r.URL.Path, r.URL.RawQuery, body, r.Header.Clone(), rec.status})
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, body string) {
	token, ok := s.Tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok {
		Refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := "/api/v3/repos/" + Owner + "/" + Repo
	path, inRepo := strings.CutPrefix(r.URL.Path, repo+"/")
	parts := strings.Split(path, "/")
	switch {
	case r.URL.Path == "/api/graphql" && r.Method == http.MethodPost:
		s.viewer(w, token)
	case r.URL.Path == "/api/v3/user" && token.Author.Type == "User":
		Answer(w, http.StatusOK, token.Author)
	case r.URL.Path == "/api/v3/user":
		Refuse(w, http.StatusForbidden, "Resource not accessible by integration")
	case !inRepo:
		Refuse(w, http.StatusNotFound, "Not Found")
	case token.ReadOnly && r.Method != http.MethodGet:
		Refuse(w, http.StatusForbidden, "Resource not accessible by integration")
	case parts[0] == "issues":
		s.issues(w, r, token.Author, parts[1:], body)
	case parts[0] == "pulls":
		s.page(w, r, list(s.pulls[r.URL.Query().Get("head")]))
	case parts[0] == "commits" && len(parts) == 3 && parts[2] == "pulls":
		s.page(w, r, list(s.pulls[parts[1]]))
	case parts[0] == "deployments":
		s.deployments(w, r, parts[1:])
	default:
		Refuse(w, http.StatusNotFound, "Not Found")
	}
}

func (s *Server) viewer(w http.ResponseWriter, t Token) {
	if s.NoGraphQL {
		Answer(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]string{"message": "Resource not accessible by integration"}}})
		return
	}
	Answer(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"databaseId": t.Author.ID, "login": t.Author.Login}}})
}

// list is values as a list of anything.
func list[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// page answers one page of a list, with the addresses of the others.
func (s *Server) page(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	size, page := number(q.Get("per_page"), 30), number(q.Get("page"), 1)
	from, to := min(len(all), (page-1)*size), min(len(all), page*size)
	if to < len(all) {
		q.Set("page", strconv.Itoa(page+1))
		next := *r.URL
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, s.URL, next.RequestURI()))
	}
	data, err := json.Marshal(all[from:to])
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(data)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	Answer(w, http.StatusOK, json.RawMessage(data))
}

func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// Answer answers with a value as JSON.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		return // the caller has gone
	}
}

// Refuse answers with an error as GitHub words it.
func Refuse(w http.ResponseWriter, status int, message string) {
	Answer(w, status, map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}
