package appapi

import (
	"net/http"
	"time"
)

// Request is one request as the API saw it.
type Request struct {
	At     time.Time // it came, on our clock
	Method string
	Path   string
	Query  string
	Status int // 0: it was not answered
}

// Record is every request so far, in order.
func (a *API) Record() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Request(nil), a.requests...)
}

// Posts counts the requests that asked for something to be done.
func (a *API) Posts() int {
	n := 0
	for _, r := range a.Record() {
		if r.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// Deployments are the ids of all there are, the oldest first.
func (a *API) Deployments() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for _, d := range a.deployments {
		ids = append(ids, d.id)
	}
	return ids
}

// Busiest is the most requests in any span of that length.
func (a *API) Busiest(span time.Duration) int {
	list, from, most := a.Record(), 0, 0
	for i, r := range list {
		for r.At.Sub(list[from].At) >= span {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// recorded keeps the record and stamps answers with the API's clock.
func (a *API) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		at := len(a.requests)
		a.requests = append(a.requests, Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery})
		a.mu.Unlock()
		w.Header().Set("Date", a.now().UTC().Format(http.TimeFormat))
		w.Header().Set("X-Request-Id", "4d9d8375-3c56-4925-a3e7-eb137fed17e9")
		seen := &watched{ResponseWriter: w}
		defer func() { // also where the connection is broken off
			a.mu.Lock()
			defer a.mu.Unlock()
			a.requests[at].Status = seen.status
		}()
		next.ServeHTTP(seen, r)
	})
}

// watched is a writer that remembers the status.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the connection be taken over.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Active is the id of the deployment that is active.
func (a *API) Active() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.deployments {
		if d.phase == Active {
			return d.id
		}
	}
	return ""
}
