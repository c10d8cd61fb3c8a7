package githubapi

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// attempts is how often a request is sent at most.
	attempts = 4
	// firstPause is before the second attempt; each further one is twice as long.
	firstPause = 500 * time.Millisecond
	// blindPause is how long GitHub wants to be left alone where it names no time.
	blindPause = time.Minute
)

// patient repeats a request that was not done: after GitHub's own pause where a
// rate limit was reached, after a short one where something broke and the request
// may be sent twice. It never sleeps beyond the deadline of the request's
// context: an answer that could only be had later is handed on as it is.
type patient struct{ next http.RoundTripper }

func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	for n := 1; ; n++ {
		try, err := again(req)
		if err != nil {
			return nil, err
		}
		resp, err := p.next.RoundTrip(try)
		pause, worth := wait(req, resp, err, n)
		if !worth || n == attempts || !sleep(req, pause) {
			return resp, err
		}
		if resp != nil {
			resp.Body.Close()
		}
	}
}

// again is the request with a body that can be read from its beginning.
func again(req *http.Request) (*http.Request, error) {
	out := req.Clone(req.Context())
	if req.GetBody == nil {
		return out, nil
	}
	body, err := req.GetBody()
	out.Body = body
	return out, err
}

// wait tells after which pause the request is worth another attempt, if at all.
// err is of the n-th attempt.
func wait(req *http.Request, resp *http.Response, err error, n int) (pause time.Duration, worth bool) {
	twice := req.Method != http.MethodPost // an edit sets the whole comment
	pause = firstPause << (n - 1)
	switch {
	case err != nil:
		return pause, twice && req.Context().Err() == nil
	case Limited(resp):
		return limitPause(resp), true // it was not done, whatever it is
	case resp.StatusCode >= 500 && twice:
		if named, ok := retryAfter(resp); ok {
			pause = named
		}
		return pause, true
	}
	return 0, false
}

// sleep pauses unless the context of the request ends before or then.
func sleep(req *http.Request, pause time.Duration) bool {
	if end, ok := req.Context().Deadline(); ok && time.Until(end) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-req.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// Limited tells whether an answer says that a rate limit was reached: 429, or
// 403 with a sign of it. The body can be read from its beginning afterwards.
func Limited(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
	default:
		return false
	}
	if resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-RateLimit-Remaining") == "0" {
		return true
	}
	const most = 64 << 10
	head, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return false // the library finds the same fault
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	return strings.Contains(strings.ToLower(string(head)), "rate limit")
}

// limitPause is how long a limit holds.
func limitPause(resp *http.Response) time.Duration {
	if pause, ok := retryAfter(resp); ok {
		return pause
	}
	reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || resp.Header.Get("X-RateLimit-Remaining") != "0" {
		return blindPause
	}
	return max(0, time.Unix(reset, 0).Sub(dateOf(resp))) + time.Second // of whole seconds, cut off
}

// retryAfter is the pause that an answer names, in seconds.
func retryAfter(resp *http.Response) (time.Duration, bool) {
	s, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || s < 0 || s > 1<<20 {
		return 0, false
	}
	return time.Duration(s) * time.Second, true
}

// dateOf is when an answer was given, by GitHub's clock; by ours where it is silent.
func dateOf(resp *http.Response) time.Time {
	if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		return t
	}
	return time.Now()
}
