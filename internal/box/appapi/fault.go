package appapi

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is something that goes wrong with requests. The first of those that fit
// strikes.
type Fault struct {
	Method string        // of the requests; "": any
	Path   string        // the end of their path; "": any
	After  int           // so many that fit are spared first
	Count  int           // so many are struck; 0: any number
	For    time.Duration // and for so long, from the first; 0: without end

	Status     int    // the answer's
	ID         string // of the error; "": by the status
	Message    string // of the error; "": by the status
	RetryAfter string // the header; "": none
	HTML       bool   // the answer is a page of the edge's, not the API's JSON

	Done  bool // it is carried out all the same
	Hang  bool // nothing is answered until the client leaves
	Reset bool // the connection is reset
	Cut   bool // the answer ends in the middle of its body
}

// fault is one that is in force.
type fault struct {
	Fault
	spared, struck int
	since          time.Time
}

// Break has requests suffer a fault from now on.
func (a *API) Break(f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, &fault{Fault: f})
}

// Mend ends all faults.
func (a *API) Mend() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = nil
}

// strike finds the fault that a request suffers; nil: none.
func (a *API) strike(r *http.Request) *Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.faults {
		switch {
		case f.Method != "" && f.Method != r.Method, !strings.HasSuffix(r.URL.Path, f.Path):
			continue
		case f.spared < f.After:
			f.spared++
			continue
		case f.Count > 0 && f.struck >= f.Count, f.For > 0 && f.struck > 0 && time.Since(f.since) > f.For:
			continue
		}
		if f.struck++; f.struck == 1 {
			f.since = time.Now()
		}
		return &f.Fault
	}
	return nil
}

// suffering answers with the faults.
func (a *API) suffering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := a.strike(r)
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body) // as a server has it that goes wrong later
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		right := &kept{header: http.Header{}, status: http.StatusOK}
		if f.Done || f.Cut {
			next.ServeHTTP(right, r)
		}
		f.answer(w, r, right)
	})
}

func (f *Fault) answer(w http.ResponseWriter, r *http.Request, right *kept) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	switch {
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Reset:
		reset(w)
	case f.Cut:
		for name, values := range right.header {
			w.Header()[name] = values // the whole's length among them
		}
		w.WriteHeader(right.status)
		w.Write(right.body.Bytes()[:right.body.Len()/2]) //nolint:errcheck // a client that has left needs none
		http.NewResponseController(w).Flush()            //nolint:errcheck // as above
		panic(http.ErrAbortHandler)
	case f.HTML:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(f.Status)
		io.WriteString(w, "<html><head><title>A timeout occurred</title></head><body>cloudflare</body></html>") //nolint:errcheck // as above
	default:
		id := f.ID
		if id == "" {
			id = idOf(f.Status)
		}
		message := f.Message
		if message == "" {
			message = messageOf(f.Status)
		}
		problem(w, f.Status, id, message)
	}
}

// reset ends the connection without a word.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // it is closed all the same
	}
	c.Close() //nolint:errcheck // the client may have left
}

func idOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusTooManyRequests:
		return "too_many_requests"
	case http.StatusServiceUnavailable:
		return "service_unavailable"
	}
	return "server_error"
}

func messageOf(status int) string {
	if status == http.StatusTooManyRequests {
		return "API rate limit exceeded."
	}
	return "Server was unable to give you a response."
}

// kept is an answer that is kept back.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }
