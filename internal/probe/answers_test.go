package probe

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// outcome is what the tests of single requests look at.
type outcome struct {
	Class  sample.Class
	Phase  sample.Phase
	Status int
	Bytes  int64
	By     string
}

func outcomeOf(s *sample.Sample) outcome { return outcome{s.Class, s.Phase, s.Status, s.Bytes, s.By} }

// Every way in which one request on a new connection can end.
func TestOutcomes(t *testing.T) {
	const plain = "HTTP/1.1 200 OK\r\nX-Version: v1\r\n"
	for _, c := range []struct {
		name   string
		answer string             // sent as it is, then the connection is held open
		then   func(*net.TCPConn) // instead of holding it open
		given  settings
		want   outcome
	}{
		{name: "good", answer: okAnswer, want: outcome{"", "", 200, 2, "app"}},
		{name: "chunked", answer: plain + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", want: outcome{"", "", 200, 5, "app"}},
		{name: "until the close", answer: plain + "\r\nabc", then: finish, want: outcome{"", "", 200, 3, "app"}},
		{name: "interim answers first", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + okAnswer, want: outcome{"", "", 200, 2, "app"}},
		{name: "no body to HEAD", answer: plain + "Content-Length: 500\r\n\r\n", given: settings{"method": "HEAD"}, want: outcome{"", "", 200, 0, "app"}},
		{name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", want: outcome{"", "", 204, 0, "unknown"}},
		{name: "a redirect is an answer", answer: "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", want: outcome{"", "", 302, 0, "unknown"}},

		{name: "FIN, no answer", then: finish, want: outcome{sample.EOF, sample.PhaseResponse, 0, 0, ""}},
		{name: "RST, no answer", then: reset, want: outcome{sample.Reset, sample.PhaseResponse, 0, 0, ""}},
		{name: "silence", given: settings{"timeout": "100ms"}, want: outcome{sample.Timeout, sample.PhaseResponse, 0, 0, ""}},

		{name: "FIN in the status line", answer: "HTTP/1.1 20", then: finish, want: outcome{sample.Truncated, sample.PhaseResponse, 0, 0, ""}},
		{name: "FIN in the head", answer: plain + "X-A: b", then: finish, want: outcome{sample.Truncated, sample.PhaseResponse, 0, 0, ""}},
		{name: "FIN after an interim answer", answer: "HTTP/1.1 100 Continue\r\n\r\n", then: finish, want: outcome{sample.Truncated, sample.PhaseResponse, 0, 0, ""}},
		{name: "silence in the head", answer: plain, given: settings{"timeout": "100ms"}, want: outcome{sample.Timeout, sample.PhaseResponse, 0, 0, ""}},
		{name: "not HTTP", answer: "SSH-2.0-OpenSSH\r\n", want: outcome{sample.Truncated, sample.PhaseResponse, 0, 0, ""}},
		{name: "endless head", answer: plain + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 1100), want: outcome{sample.Truncated, sample.PhaseResponse, 0, 0, ""}},

		{name: "FIN in the body", answer: plain + "Content-Length: 10\r\n\r\nabc", then: finish, want: outcome{sample.Truncated, sample.PhaseBody, 200, 3, "app"}},
		{name: "RST in the body", answer: plain + "Content-Length: 10\r\n\r\n", then: reset, want: outcome{sample.Truncated, sample.PhaseBody, 200, 0, "app"}},
		{name: "no last chunk", answer: plain + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", then: finish, want: outcome{sample.Truncated, sample.PhaseBody, 200, 3, "app"}},
		{name: "silence in the body", answer: plain + "Content-Length: 10\r\n\r\nabc", given: settings{"timeout": "100ms"}, want: outcome{sample.Timeout, sample.PhaseBody, 200, 3, "app"}},

		{name: "status of the app", answer: "HTTP/1.1 500 Oops\r\nX-Instance: i7\r\nContent-Length: 1\r\n\r\nx", want: outcome{sample.Status, sample.PhaseResponse, 500, 1, "app"}},
		{name: "status of an edge", answer: "HTTP/1.1 503 Service Unavailable\r\nServer: nginx/1.29\r\nContent-Length: 0\r\n\r\n", want: outcome{sample.Status, sample.PhaseResponse, 503, 0, "edge"}},
		{name: "status of somebody", answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", want: outcome{sample.Status, sample.PhaseResponse, 404, 0, "unknown"}},
		{name: "status, and its body is cut", answer: "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<html>", then: finish, want: outcome{sample.Status, sample.PhaseResponse, 502, 6, "edge"}},
		{name: "switches protocols", answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n", want: outcome{sample.Status, sample.PhaseResponse, 101, 0, "unknown"}},
		{name: "another set of good ones", answer: okAnswer, given: settings{"expect-status": "204"}, want: outcome{sample.Status, sample.PhaseResponse, 200, 2, "app"}},
		{name: "expected text missing", answer: okAnswer, given: settings{"expect-body": "welcome"}, want: outcome{sample.Body, sample.PhaseBody, 200, 2, "app"}},
		{name: "expected text there", answer: okAnswer, given: settings{"expect-body": "regex:^ok$"}, want: outcome{"", "", 200, 2, "app"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := server(t, func(c2 *net.TCPConn) {
				requests(c2, func(int, *http.Request) (string, bool) { return c.answer, false })
				if c.then != nil {
					c.then(c2)
				}
				hold(c2)
			})
			given := settings{"url": url}
			for name, value := range c.given {
				given[name] = value
			}
			p, rec := newProbe(t, given)
			s := newRun(t, p).sendOnce()
			if diff := cmp.Diff(c.want, outcomeOf(s)); diff != "" {
				t.Fatalf("outcome (-want +got):\n%s\nerror: %s", diff, s.Error)
			}
			if got := rec.samples(""); len(got) != 1 || got[0] != s {
				t.Errorf("recorded %d samples", len(got))
			}
			inOrder(t, s.Started, s.Connected, s.Wrote, s.Ended)
			if s.FirstByte != 0 {
				inOrder(t, s.Wrote, s.FirstByte, s.Ended)
			} else if c.answer != "" {
				t.Error("an answer without a first byte")
			}
		})
	}
}

func finish(c *net.TCPConn) { _ = c.CloseWrite() }

func TestEvidenceOfAFailure(t *testing.T) {
	p, _ := newProbe(t, settings{"url": answering(t, "HTTP/1.1 504 Gateway Time-out\r\nServer: cloudflare\r\nCf-Ray: 8f-FRA\r\nX-Do-Orig-Status: 503\r\n"+
		"Retry-After: 5\r\nSet-Cookie: secret\r\nX-RateLimit-Remaining: 0\r\nRateLimit-Policy: 10;w=1\r\nX-Rate-Limit-Reset: 9\r\nCf-Mitigated: challenge\r\nCache-Status: edge; hit\r\nLocation: /a?b=secret#secret\r\nX-Envoy-Flags: "+strings.Repeat("u", 400)+"\r\nContent-Length: 400\r\n\r\n"+
		"a\x1b[31m\xff"+strings.Repeat("é", 197)+"b")})
	s := newRun(t, p).sendOnce()
	want := map[string]string{
		"server": "cloudflare", "cf-ray": "8f-FRA", "x-do-orig-status": "503", "retry-after": "5",
		"x-ratelimit-remaining": "0", "ratelimit-policy": "10;w=1", "x-rate-limit-reset": "9", "cf-mitigated": "challenge",
		"cache-status": "edge; hit", "location": "/a?b=***", "x-envoy-flags": strings.Repeat("u", 300), "content-length": "400",
	}
	if diff := cmp.Diff(want, s.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(s.Excerpt, "a\uFFFD[31m\uFFFDéé") || len(s.Excerpt) > 300 {
		t.Errorf("excerpt %q of %d bytes", s.Excerpt, len(s.Excerpt))
	}
	if s.By != sample.ByEdge || s.Edge != "cloudflare" || s.RTT <= 0 && runtime.GOOS == "linux" {
		t.Errorf("by %q, edge %q, round trip %d", s.By, s.Edge, s.RTT)
	}
}

func TestLongBody(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 20<<10) // 320 KiB
	p, _ := newProbe(t, settings{"url": answering(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))})
	s := newRun(t, p).sendOnce()
	h := fnv.New64a()
	_, _ = io.WriteString(h, body)
	if s.Class != sample.OK || s.Bytes != int64(len(body)) || s.BodyHash != h.Sum64() {
		t.Errorf("class %q, %d bytes, hash %x; want %d bytes, %x", s.Class, s.Bytes, s.BodyHash, len(body), h.Sum64())
	}
}

func TestNoConnection(t *testing.T) {
	refused := "http://" + freePort(t)
	for _, c := range []struct {
		name   string
		lookup func(context.Context, string, string) ([]netip.Addr, error)
		want   outcome
	}{
		{"refused", nil, outcome{Class: sample.ConnectRefused, Phase: sample.PhaseConnect}},
		{"resolver fails", func(context.Context, string, string) ([]netip.Addr, error) { return nil, errResolver }, outcome{Class: sample.DNS, Phase: sample.PhaseDNS}},
		{"resolver hangs", func(ctx context.Context, _, _ string) ([]netip.Addr, error) { <-ctx.Done(); return nil, ctx.Err() }, outcome{Class: sample.DNS, Phase: sample.PhaseDNS}},
		{"no address", func(context.Context, string, string) ([]netip.Addr, error) { return nil, nil }, outcome{Class: sample.DNS, Phase: sample.PhaseDNS}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := newProbe(t, settings{"url": refused, "timeout": "200ms"})
			if c.lookup != nil {
				p.main.to.names.lookup = c.lookup
			}
			s := newRun(t, p).sendOnce()
			if diff := cmp.Diff(c.want, outcomeOf(s)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s\nerror: %s", diff, s.Error)
			}
			if c.lookup == nil && s.Error != "dial tcp "+strings.TrimPrefix(refused, "http://")+": connect: connection refused" {
				t.Errorf("error %q", s.Error)
			}
			if s.Conn != 0 || s.Connected != 0 || s.Error == "" {
				t.Errorf("sample of no connection: %+v", s)
			}
		})
	}
}

// A peer that gives up in the middle of a large request, or never reads it.
func TestWriteFails(t *testing.T) {
	for _, c := range []struct {
		name, timeout string
		serve         func(*net.TCPConn, <-chan struct{})
		want          outcome
	}{
		{"reset", "20s", func(c *net.TCPConn, _ <-chan struct{}) {
			if _, err := io.ReadFull(c, make([]byte, 1000)); err == nil {
				reset(c)
			}
		}, outcome{Class: sample.Reset, Phase: sample.PhaseWrite}},
		{"never read", "1s", func(_ *net.TCPConn, over <-chan struct{}) { <-over }, outcome{Class: sample.Timeout, Phase: sample.PhaseWrite}},
	} {
		t.Run(c.name, func(t *testing.T) {
			over := make(chan struct{})
			url := server(t, func(k *net.TCPConn) { c.serve(k, over) })
			p, _ := newProbe(t, settings{"url": url, "method": "POST", "body": strings.Repeat("x", 8<<20), "timeout": c.timeout})
			s := newRun(t, p).sendOnce()
			close(over)
			if diff := cmp.Diff(c.want, outcomeOf(s)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s\nerror: %s", diff, s.Error)
			}
			if s.Wrote != 0 {
				t.Error("told as written")
			}
		})
	}
}
