package digitalocean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const secret = "dop_v1_0123456789abcdef"

// fast is a pace at which a test waits milliseconds.
const fast = 1000

// source is one against an API that is handler.
func source(t *testing.T, handler http.HandlerFunc, change func(*config.Config)) *Source {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg := config.Default()
	cfg.Platform, cfg.App, cfg.DigitalOceanToken = config.PlatformDigitalOcean, "shop", secret
	if change != nil {
		change(cfg)
	}
	s, err := New(cfg, func(string) string { return server.URL })
	if err != nil {
		t.Fatal(err)
	}
	s.Hurry(fast)
	return s
}

func TestBaseURL(t *testing.T) {
	for _, tt := range []struct{ given, want, problem string }{
		{"", "https://api.digitalocean.com/", ""},
		{"https://api.example.com", "https://api.example.com/", ""},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080/", ""},
		{"http://[::1]:8080", "http://[::1]:8080/", ""},
		{"http://localhost:8080", "http://localhost:8080/", ""},
		{"http://api.example.com", "", "without TLS"},
		{"http://127.0.0.1.example.com", "", "without TLS"},
		{"https://api.example.com/v2", "", "more than a scheme and a host"},
		{"https://user:hidden@api.example.com", "", "more than a scheme and a host"},
		{"ftp://api.example.com", "", "not the address of an API"},
		{"api.example.com", "", "not the address of an API"},
		{"::", "", "not the address of an API"},
	} {
		got, err := baseURL(tt.given)
		if got != tt.want || (err != nil) != (tt.problem != "") {
			t.Errorf("%q: %q, %v", tt.given, got, err)
			continue
		}
		if err == nil {
			continue
		}
		if _, bad := errors.AsType[*config.InputError](err); !bad || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", tt.given, err)
		}
	}
}

// apiError is an error as the client gives it.
func apiError(status int, headers ...string) error {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	request := httptest.NewRequest(http.MethodGet, "/v2/apps", nil)
	return &godo.ErrorResponse{Response: &http.Response{StatusCode: status, Header: h, Request: request}}
}

func TestWhatIsAskedAgain(t *testing.T) {
	date := "Mon, 30 Nov 2026 12:00:00 GMT"
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Unix()
	for _, tt := range []struct {
		name    string
		err     error
		attempt int
		wait    time.Duration
		again   bool
	}{
		{"the network, first", io.ErrUnexpectedEOF, 0, time.Second, true},
		{"the network, third", io.ErrUnexpectedEOF, 2, 4 * time.Second, true},
		{"the network, for long", io.ErrUnexpectedEOF, 500, 30 * time.Second, true},
		{"500", apiError(500), 0, time.Second, true},
		{"524", apiError(524), 5, 30 * time.Second, true},
		{"503 with Retry-After", apiError(503, "Retry-After", "7"), 0, 7 * time.Second, true},
		{"429 with Retry-After", apiError(429, "Retry-After", "13"), 0, 13 * time.Second, true},
		{"429 with a date", apiError(429, "Date", date, "Retry-After", "Mon, 30 Nov 2026 12:00:45 GMT"), 0, 45 * time.Second, true},
		{"429 without", apiError(429), 0, 30 * time.Second, true},
		{"429 of the hour", apiError(429, "Date", date, "RateLimit-Remaining", "0", "RateLimit-Reset", fmt.Sprint(noon+90)), 0, 90 * time.Second, true},
		{"429 of an hour that is long", apiError(429, "Date", date, "RateLimit-Remaining", "0", "RateLimit-Reset", fmt.Sprint(noon+3000)), 0, 5 * time.Minute, true},
		{"Retry-After without sense", apiError(429, "Retry-After", "-5"), 0, 30 * time.Second, true},
		{"400", apiError(400), 0, 0, false},
		{"401", apiError(401), 0, 0, false},
		{"403", apiError(403), 0, 0, false},
		{"404", apiError(404), 0, 0, false},
		{"a redirect", apiError(302), 0, 0, false},
	} {
		if wait, again := realPace.again(tt.err, tt.attempt); wait != tt.wait || again != tt.again {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, wait, again, tt.wait, tt.again)
		}
	}
}

// A followed deployment is asked for far less often than a token may.
func TestRate(t *testing.T) {
	const most = 250 // a minute
	for _, wait := range []time.Duration{realPace.deploying, realPace.building, realPace.listing} {
		if perMinute := int(time.Minute / wait); perMinute > most/5 {
			t.Errorf("every %v is %d a minute", wait, perMinute)
		}
	}
}

// Neither the token nor what it stands beside is carried elsewhere, or said.
func TestTheTokenStays(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, handler := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
		"an error that repeats it": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"id":"unauthorized","message":"%s is not a token\u001b[31m"}`, r.Header.Get("Authorization"))
		},
		"an answer that is not JSON": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) },
		"a connection that is cut": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"apps":[`)
		},
	} {
		s := source(t, handler, nil)
		_, err := s.Prepare(t.Context())
		if err == nil || strings.Contains(err.Error(), secret) || strings.ContainsRune(err.Error(), '\x1b') || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went where a redirect led", n)
	}
}

// Each error names what was wrong and what to do.
func TestErrorsOfPrepare(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	id := "4f6c71e2-1e90-4762-9fee-6cc4a0a9f2cf"
	byID := func(c *config.Config) { c.App = id }
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		change  func(*config.Config)
		input   string // at fault; "": none
		want    []string
	}{
		{"no valid token", answer(401, `{"id":"unauthorized","message":"Unable to authenticate you"}`), nil, "digitalocean-token", []string{"Unable to authenticate you", "app:read"}},
		{"a token without the scope", answer(403, `{"id":"forbidden","message":"You are not authorized"}`), byID, "digitalocean-token", []string{"may not read the app", "app:read"}},
		{"no such app", answer(200, `{"apps":[{"id":"1","spec":{"name":"blog"}},{"id":"2","spec":{"name":"a\u001b[2Jb"}}]}`), nil, "app", []string{`"shop"`, "blog", `a\x1b[2Jb`}},
		{"no app at all", answer(200, `{"apps":[]}`), nil, "app", []string{`"shop"`, "it sees none"}},
		{"no app of that id", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/apps" {
				answer(404, `{"id":"not_found","message":"not found"}`)(w, r)
				return
			}
			answer(200, `{"apps":[{"id":"1","spec":{"name":"blog"}}]}`)(w, r)
		}, byID, "app", []string{id, "blog"}},
		{"an API that is down", answer(500, `{"id":"server_error","message":"oops"}`), nil, "", []string{"status 500: oops", "try again"}},
		{"a page in its place", answer(502, `<html>Bad Gateway</html>`), nil, "", []string{"status 502", "try again"}},
	} {
		_, err := source(t, tt.handler, tt.change).Prepare(t.Context())
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		bad, _ := errors.AsType[*config.InputError](err)
		if (bad != nil) != (tt.input != "") || bad != nil && bad.Input != tt.input || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", tt.name, err, want)
			}
		}
	}
}

// An app is found on whichever page it is.
func TestAppOnALaterPage(t *testing.T) {
	pages := 0
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/apps" {
			fmt.Fprint(w, `{"deployments":[]}`)
			return
		}
		pages++
		if r.URL.Query().Get("page") == "1" {
			list := strings.Repeat(`{"id":"1","spec":{"name":"other"}},`, perPage)
			fmt.Fprintf(w, `{"apps":[%s],"links":{"pages":{"next":"http://x/v2/apps?page=2","last":"http://x/v2/apps?page=2"}}}`, strings.TrimSuffix(list, ","))
			return
		}
		fmt.Fprint(w, `{"apps":[{"id":"7","live_url":"https://shop.example","spec":{"name":"shop"}}],"links":{"pages":{"prev":"http://x/v2/apps?page=1"}}}`)
	}, nil)
	p, err := s.Prepare(t.Context())
	if err != nil || p.Platform.AppID != "7" || pages != 2 {
		t.Errorf("%+v after %d pages, %v", p, pages, err)
	}
}

// Told to stop, a source leaves at once, whatever the API does.
func TestRunEndsWithItsContext(t *testing.T) {
	for name, slow := range map[string]http.HandlerFunc{
		"nothing new": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"deployments":[]}`) },
		"no answer":   func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"errors":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		s := source(t, slow, nil)
		s.api.pace = realPace
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx, func(g sample.Signal) { t.Errorf("%s: told %+v", name, g) }) }()
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
	}
}
