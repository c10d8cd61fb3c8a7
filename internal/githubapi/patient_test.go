package githubapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scripted answers each request with the next of its steps.
type scripted struct {
	steps  []step
	bodies []string
}

type step struct {
	status int // 0: the network fails
	header map[string]string
	body   string
}

var errNetwork = errors.New("connection reset by peer")

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := ""
	if req.Body != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		sent = string(data)
	}
	now := s.steps[min(len(s.bodies), len(s.steps)-1)]
	s.bodies = append(s.bodies, sent)
	if now.status == 0 {
		return nil, errNetwork
	}
	resp := &http.Response{StatusCode: now.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(now.body)), Request: req}
	resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	for name, value := range now.header {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

func reset(in time.Duration) string { return strconv.FormatInt(time.Now().Add(in).Unix(), 10) }

func TestPatience(t *testing.T) {
	const within = 25 * time.Second
	ok := step{status: 200, body: "done"}
	limited := func(status int, name, value string) step {
		return step{status: status, header: map[string]string{name: value}}
	}
	tests := []struct {
		name, method string
		steps        func() []step
		status       int // of what comes out in the end; 0: the network's error
		sent         int
		least, most  time.Duration
	}{
		{"all well", "POST", func() []step { return []step{ok} }, 200, 1, 0, 0},
		{"429 with a pause", "POST", func() []step { return []step{limited(429, "Retry-After", "3"), ok} }, 200, 2, 3 * time.Second, 3 * time.Second},
		{"429 with a pause beyond the deadline", "GET", func() []step { return []step{limited(429, "Retry-After", "60"), ok} }, 429, 1, 0, 0},
		{"429 that names no time", "GET", func() []step { return []step{{status: 429}, ok} }, 429, 1, 0, 0},
		{"the hour's limit, soon over", "PATCH", func() []step {
			return []step{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(5 * time.Second)}}, ok}
		}, 200, 2, 5 * time.Second, 7 * time.Second},
		{"the hour's limit", "PATCH", func() []step {
			return []step{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(time.Hour)}}, ok}
		}, 403, 1, 0, 0},
		{"a secondary limit", "POST", func() []step { return []step{limited(403, "Retry-After", "2"), ok} }, 200, 2, 2 * time.Second, 2 * time.Second},
		{"a secondary limit in words alone", "POST", func() []step {
			return []step{{status: 403, body: `{"message":"You have exceeded a secondary rate limit."}`}, ok}
		}, 403, 1, 0, 0},
		{"not allowed", "GET", func() []step {
			return []step{{status: 403, body: `{"message":"Resource not accessible by integration"}`}, ok}
		}, 403, 1, 0, 0},
		{"not found", "GET", func() []step { return []step{{status: 404}, ok} }, 404, 1, 0, 0},
		{"502 once", "GET", func() []step { return []step{{status: 502}, ok} }, 200, 2, 500 * time.Millisecond, 500 * time.Millisecond},
		{"503 with a pause", "PATCH", func() []step { return []step{limited(503, "Retry-After", "4"), ok} }, 200, 2, 4 * time.Second, 4 * time.Second},
		{"500 for ever", "GET", func() []step { return []step{{status: 500}} }, 500, attempts, 3500 * time.Millisecond, 3500 * time.Millisecond},
		{"500 to what may not be sent twice", "POST", func() []step { return []step{{status: 500}, ok} }, 500, 1, 0, 0},
		{"no network once", "GET", func() []step { return []step{{}, ok} }, 200, 2, 500 * time.Millisecond, 500 * time.Millisecond},
		{"no network for what may not be sent twice", "POST", func() []step { return []step{{}, ok} }, 0, 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{steps: tt.steps()}
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, tt.method, "https://api.example/x", strings.NewReader("text"))
				if err != nil {
					t.Fatal(err)
				}
				from := time.Now()
				resp, err := (&patient{next: s}).RoundTrip(req)
				took := time.Since(from)
				switch {
				case tt.status == 0 && !errors.Is(err, errNetwork):
					t.Errorf("error %v, want the network's", err)
				case tt.status != 0 && (err != nil || resp.StatusCode != tt.status):
					t.Errorf("got %v, %v, want status %d", resp, err, tt.status)
				}
				if took < tt.least || took > tt.most {
					t.Errorf("took %v, want %v to %v", took, tt.least, tt.most)
				}
				if len(s.bodies) != tt.sent {
					t.Errorf("sent %d times, want %d", len(s.bodies), tt.sent)
				}
				for _, body := range s.bodies {
					if body != "text" {
						t.Errorf("a body was %q", body)
					}
				}
			})
		})
	}
}

// The body that was looked into for words of a limit is still whole.
func TestLimitedLeavesTheBody(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	resp := &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(long))}
	if Limited(resp) {
		t.Error("a text without a word of it is a rate limit")
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil || string(data) != long {
		t.Errorf("%d bytes are left, %v", len(data), err)
	}
}

func TestNobodyWaitsForACancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		req, err := http.NewRequestWithContext(ctx, "GET", "https://api.example/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		s := &scripted{steps: []step{{status: 429, header: map[string]string{"Retry-After": "3600"}}}}
		resp, err := (&patient{next: s}).RoundTrip(req)
		if err != nil || resp.StatusCode != 429 || time.Since(from) != time.Second {
			t.Errorf("after %v: %v, %v", time.Since(from), resp, err)
		}
	})
}

func TestQuotaLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{quota: &quota{}}
		if got := c.Spread(); got != 0 {
			t.Errorf("an unknown quota asks for intervals of %v", got)
		}
		learn := func(remaining int, in time.Duration) {
			c.quota.learn(&http.Response{Header: http.Header{
				"X-Ratelimit-Remaining": {strconv.Itoa(remaining)}, "X-Ratelimit-Reset": {reset(in)}, "Date": {time.Now().UTC().Format(http.TimeFormat)},
			}})
		}
		learn(900, 30*time.Minute)
		if got, want := c.Spread(), 4*time.Second; got != want {
			t.Errorf("450 requests for 30 min: %v, want %v", got, want)
		}
		time.Sleep(15 * time.Minute)
		if got, want := c.Spread(), 2*time.Second; got != want {
			t.Errorf("a quarter of an hour later: %v, want %v", got, want)
		}
		learn(0, 10*time.Minute)
		if got, want := c.Spread(), 10*time.Minute; got != want {
			t.Errorf("nothing left: %v, want %v", got, want)
		}
		time.Sleep(time.Hour)
		if got := c.Spread(); got != 0 {
			t.Errorf("after the reset: %v", got)
		}
	})
}
