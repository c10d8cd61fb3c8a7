package digitalocean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/clock"
	"github.com/cutwatch/cutwatch/internal/format"
)

// defaultURL is DigitalOcean's own API.
const defaultURL = "https://api.digitalocean.com/"

// maxAnswer bounds an answer of the API, in bytes: a list of 200 apps with
// their specs has a few megabytes.
const maxAnswer = 32 << 20

// baseURL is the API's address; given is what the environment says.
func baseURL(given string) (string, error) {
	if given == "" {
		return defaultURL, nil
	}
	u, err := url.Parse(given)
	wrong := ""
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		wrong = "is not the address of an API"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		wrong = "has more than a scheme and a host, which the API's client would ignore"
	case u.Scheme == "http" && !loopback(u.Hostname()):
		wrong = "would be sent the token without TLS"
	default:
		return u.Scheme + "://" + u.Host + "/", nil
	}
	return "", &config.InputError{Input: URLVariable, Problem: "the environment's value " + wrong + "; write one like https://api.digitalocean.com, or unset it"}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// client speaks to the API. It repeats a GET and never a POST.
type client struct {
	apps  godo.AppsService
	token string
	pace  pace
}

func newClient(base, token string, c *clock.Clock, p pace) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	api, err := godo.New(&http.Client{
		Transport: &bearer{token: token, next: transport, clock: c},
		// A redirect would take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, godo.SetBaseURL(base), godo.SetUserAgent("cutwatch"))
	if err != nil {
		return nil, &config.InputError{Input: URLVariable, Problem: "the API's client does not take it; write one like https://api.digitalocean.com, or unset it"}
	}
	return &client{apps: api.Apps, token: token, pace: p}, nil
}

// bearer adds the token to a request, and learns the API's clock by its answer.
type bearer struct {
	token string
	next  http.RoundTripper
	clock *clock.Clock
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+b.token)
	sent := time.Now()
	resp, err := b.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if o, err := clock.FromDate(resp.Header.Get("Date"), sent, time.Now()); err == nil { // else it tells nothing
		b.clock.Learn(o)
	}
	resp.Body = &bounded{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

// bounded is a body that ends after so many bytes.
type bounded struct {
	io.Reader
	io.Closer
}

// errNothing is an answer that is well-formed and lacks what was asked for.
var errNothing = errors.New("the answer holds nothing of what was asked for")

// get asks until there is an answer, one that stays as it is (a 404), or none
// for as long as patience. trouble, unless nil, is told of each attempt that
// failed, and with a nil error of the first that did not after some that did.
func get[T any](ctx context.Context, c *client, patience time.Duration, trouble func(error), ask func(context.Context) (T, *godo.Response, error)) (T, error) {
	since := time.Now()
	for attempt := 0; ; attempt++ {
		answer, err := attemptOnce(ctx, c, ask)
		if err == nil {
			if attempt > 0 && trouble != nil {
				trouble(nil)
			}
			return answer, nil
		}
		if ctx.Err() != nil {
			return answer, context.Cause(ctx)
		}
		wait, again := c.pace.again(err, attempt)
		if !again {
			return answer, err
		}
		if trouble != nil {
			trouble(err)
		}
		if time.Since(since)+wait > patience {
			return answer, fmt.Errorf("no answer in %s: %w", format.Duration(time.Since(since)), err)
		}
		if err := sleep(ctx, wait); err != nil {
			return answer, err
		}
	}
}

func attemptOnce[T any](ctx context.Context, c *client, ask func(context.Context) (T, *godo.Response, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.attempt)
	defer cancel()
	answer, _, err := ask(ctx)
	return answer, err
}

// sleep waits, or returns why ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// status is an error's HTTP status; 0: no answer came, or one that could not be
// read.
func status(err error) int {
	if e, ok := errors.AsType[*godo.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

// retryAfter is how long the API wants to be left alone; 0: it does not say.
// Only the limit of a minute has a Retry-After; that of an hour says when it
// is reset.
func retryAfter(err error) time.Duration {
	e, ok := errors.AsType[*godo.ErrorResponse](err)
	if !ok || e.Response == nil {
		return 0
	}
	h := e.Response.Header
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, at.Sub(now))
	}
	if reset, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64); err == nil && h.Get("RateLimit-Remaining") == "0" {
		return max(0, time.Unix(reset, 0).Sub(now))
	}
	return 0
}
