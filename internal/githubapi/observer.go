package githubapi

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy/clock"
)

// observer reads off each answer how GitHub's clock goes and what is left of the
// quota.
type observer struct {
	next  http.RoundTripper
	clock *clock.Clock
	quota *quota
}

func (o *observer) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := time.Now()
	resp, err := o.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if offset, err := clock.FromDate(resp.Header.Get("Date"), sent, time.Now()); err == nil {
		o.clock.Learn(offset) // a proxy may leave the header out: nothing is learnt then
	}
	o.quota.learn(resp)
	return resp, nil
}

// quota is what is left of the requests of an hour, by the last answer.
type quota struct {
	mu        sync.Mutex
	known     bool
	remaining int
	left      time.Duration // until there are more, at the time of the answer
	at        time.Time
}

func (q *quota) learn(resp *http.Response) {
	remaining, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining"))
	if err != nil {
		return
	}
	reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.remaining, q.left, q.at = true, remaining, time.Unix(reset, 0).Sub(dateOf(resp)), time.Now()
}

// spread is the interval in which half of what is left of the quota lasts until
// there is more; other steps want some of it. 0: nothing is known.
func (q *quota) spread() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.left - time.Since(q.at)
	if !q.known || left <= 0 {
		return 0
	}
	return left / time.Duration(max(1, q.remaining/2))
}

// Spread is the least interval between requests with which the quota lasts; 0
// where there is no need for one.
func (c *Client) Spread() time.Duration { return c.quota.spread() }

// maxKept bounds the answers that are remembered, and the bytes of each.
const (
	maxKept      = 32
	maxKeptBytes = 1 << 20
)

// unchanged asks only for what has changed: an answer "not modified" costs
// nothing of the quota, and is replaced by the earlier one.
type unchanged struct {
	next http.RoundTripper
	mu   sync.Mutex
	kept map[string]kept // by address
}

type kept struct {
	etag   string
	header http.Header
	body   []byte
}

func (u *unchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return u.next.RoundTrip(req)
	}
	key := req.URL.String()
	u.mu.Lock()
	before, ok := u.kept[key]
	u.mu.Unlock()
	if ok {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", before.etag)
	}
	resp, err := u.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case ok && resp.StatusCode == http.StatusNotModified:
		resp.Body.Close()
		return before.answer(resp, req), nil
	case resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "":
		return resp, u.keep(key, resp)
	}
	return resp, nil
}

// answer is what was kept, with the headers of the answer that said so.
func (k kept) answer(now *http.Response, req *http.Request) *http.Response {
	out := *now
	out.StatusCode, out.Status = http.StatusOK, "200 OK"
	out.Header = now.Header.Clone()
	for _, name := range []string{"Content-Type", "Link"} {
		out.Header[name] = k.header[name]
	}
	out.Body, out.ContentLength, out.Request = io.NopCloser(bytes.NewReader(k.body)), int64(len(k.body)), req
	return &out
}

// keep remembers an answer that is not too long, and leaves it to be read.
func (u *unchanged) keep(key string, resp *http.Response) error {
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxKeptBytes+1))
	if err != nil {
		resp.Body.Close()
		return err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	if len(head) > maxKeptBytes {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept == nil || len(u.kept) >= maxKept {
		u.kept = map[string]kept{}
	}
	u.kept[key] = kept{resp.Header.Get("ETag"), resp.Header, head}
	return nil
}
