package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestClassify(t *testing.T) {
	system := func(op string, errno syscall.Errno) error {
		return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, errno)}
	}
	for _, c := range []struct {
		phase             sample.Phase
		err               error
		answered, reached bool
		want              sample.Class
	}{
		{sample.PhaseDNS, &net.DNSError{Err: "no such host", IsNotFound: true}, false, false, sample.DNS},
		{sample.PhaseDNS, &net.DNSError{Err: "i/o timeout", IsTimeout: true}, false, true, sample.DNS},
		{sample.PhaseDNS, system("dial", syscall.ENETUNREACH), false, false, sample.DNS},
		{sample.PhaseDNS, fmt.Errorf("lookup: %w", context.DeadlineExceeded), false, false, sample.DNS},
		{sample.PhaseDNS, &net.DNSError{Err: "dial udp: socket: too many open files"}, false, false, sample.Local},

		{sample.PhaseConnect, system("connect", syscall.ECONNREFUSED), false, false, sample.ConnectRefused},
		{sample.PhaseConnect, system("connect", syscall.ECONNRESET), false, true, sample.ConnectRefused},
		{sample.PhaseConnect, system("connect", syscall.ETIMEDOUT), false, true, sample.ConnectTimeout},
		{sample.PhaseConnect, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, false, true, sample.ConnectTimeout},
		{sample.PhaseConnect, system("connect", syscall.ENETUNREACH), false, true, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.ENETDOWN), false, true, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.EINVAL), false, true, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.EACCES), false, true, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.EPERM), false, true, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.EHOSTUNREACH), false, false, sample.Local},
		{sample.PhaseConnect, system("connect", syscall.EHOSTUNREACH), false, true, sample.ConnectRefused},
		{sample.PhaseConnect, system("connect", syscall.EADDRNOTAVAIL), false, true, sample.Local},
		{sample.PhaseConnect, system("bind", syscall.EADDRINUSE), false, true, sample.Local},
		{sample.PhaseConnect, system("socket", syscall.EMFILE), false, true, sample.Local},
		{sample.PhaseConnect, system("socket", syscall.ENFILE), false, true, sample.Local},
		{sample.PhaseConnect, system("socket", syscall.ENOBUFS), false, true, sample.Local},

		{sample.PhaseTLS, io.EOF, false, true, sample.TLS},
		{sample.PhaseTLS, system("read", syscall.ECONNRESET), false, true, sample.TLS},
		{sample.PhaseTLS, os.ErrDeadlineExceeded, false, true, sample.Timeout},

		{sample.PhaseWrite, system("write", syscall.EPIPE), false, true, sample.Reset},
		{sample.PhaseWrite, os.ErrDeadlineExceeded, false, true, sample.Timeout},
		{sample.PhaseWrite, system("write", syscall.ENOBUFS), false, true, sample.Local},
		{sample.PhaseWrite, system("write", syscall.EINVAL), false, true, sample.Reset},

		{sample.PhaseResponse, io.ErrUnexpectedEOF, false, true, sample.EOF},
		{sample.PhaseResponse, io.ErrUnexpectedEOF, true, true, sample.Truncated},
		{sample.PhaseResponse, system("read", syscall.ECONNRESET), false, true, sample.Reset},
		{sample.PhaseResponse, system("read", syscall.ECONNRESET), true, true, sample.Truncated},
		{sample.PhaseResponse, system("read", syscall.EHOSTUNREACH), false, true, sample.Reset},
		{sample.PhaseResponse, system("read", syscall.ETIMEDOUT), false, true, sample.Timeout},
		{sample.PhaseResponse, &net.OpError{Op: "remote error", Err: errors.New("tls: internal error")}, false, true, sample.TLS},
		{sample.PhaseResponse, errors.New("malformed HTTP response"), true, true, sample.Truncated},

		{sample.PhaseBody, io.ErrUnexpectedEOF, true, true, sample.Truncated},
		{sample.PhaseBody, os.ErrDeadlineExceeded, true, true, sample.Timeout},
	} {
		f := &failure{c.phase, c.err}
		if got := classify(f, c.answered, c.reached); got != c.want {
			t.Errorf("%s: %v (answered %v, reached %v) is %q, want %q", c.phase, c.err, c.answered, c.reached, got, c.want)
		}
	}
}

func TestEdge(t *testing.T) {
	for _, c := range []struct{ header, value, want string }{
		{"Server", "cloudflare", "cloudflare"},
		{"Server", "nginx/1.29.1", "nginx"},
		{"Server", "awselb/2.0", "aws-elb"},
		{"Server", "Google Frontend", "google"},
		{"Server", "istio-envoy", "envoy"},
		{"Cf-Ray", "8f1-FRA", "cloudflare"},
		{"X-Do-App-Origin", "5b4a", "app-platform"},
		{"Via", "1.1 vegur", "heroku"},
		{"Server", "ngin", ""},
		{"Server", "gunicorn", ""},
		{"X-Other", "nginx", ""},
	} {
		if got := edge(http.Header{c.header: {c.value}}); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.header, c.value, got, c.want)
		}
	}
	for _, m := range marks {
		if m.header != http.CanonicalHeaderKey(m.header) {
			t.Errorf("the mark %s is not in canonical form", m.header)
		}
	}
	both := http.Header{"Server": {"cloudflare"}, "X-Do-App-Origin": {"x"}}
	if got := edge(both); got != "app-platform" {
		t.Errorf("App Platform behind its own Cloudflare is %q", got)
	}
}

func TestCached(t *testing.T) {
	for _, c := range []struct {
		header, value string
		hit           bool
		age           int
	}{
		{"Cf-Cache-Status", "HIT", true, 0},
		{"Cf-Cache-Status", "stale", true, 0},
		{"Cf-Cache-Status", "DYNAMIC", false, 0},
		{"Cf-Cache-Status", "MISS", false, 0},
		{"X-Cache", "Hit from cloudfront", true, 0},
		{"X-Cache", "MISS, HIT", true, 0},
		{"X-Cache", "Miss from cloudfront", false, 0},
		{"Age", "17", false, 17},
		{"Age", "-1", false, 0},
		{"Age", "soon", false, 0},
	} {
		if hit, age := cached(http.Header{c.header: {c.value}}); hit != c.hit || age != c.age {
			t.Errorf("%s: %s gives hit %v, age %d", c.header, c.value, hit, age)
		}
	}
}

func TestMessage(t *testing.T) {
	for _, c := range []struct {
		name, url, method, body string
		headers                 config.Headers
		want                    string
	}{
		{"plain", "http://example.com", "GET", "", nil,
			"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: cutwatch\r\nAccept: */*\r\nX-Request-Id: id7\r\nX-Cutwatch-Id: id7\r\n\r\n"},
		{"port and query", "http://[::1]:8080/a b?q=x y&z=é#top", "HEAD", "", nil,
			"HEAD /a%20b?q=x%20y&z=%C3%A9 HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: cutwatch\r\nAccept: */*\r\nX-Request-Id: id7\r\nX-Cutwatch-Id: id7\r\n\r\n"},
		{"headers replace", "http://example.com/", "GET", "", config.Headers{{Name: "host", Value: "other"}, {Name: "Accept", Value: "text/html"}, {Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}},
			"GET / HTTP/1.1\r\nUser-Agent: cutwatch\r\nhost: other\r\nAccept: text/html\r\nX-A: 1\r\nX-A: 2\r\nX-Request-Id: id7\r\nX-Cutwatch-Id: id7\r\n\r\n"},
		{"body", "http://example.com/x", "POST", "a=b", nil,
			"POST /x HTTP/1.1\r\nHost: example.com\r\nUser-Agent: cutwatch\r\nAccept: */*\r\nContent-Length: 3\r\nX-Request-Id: id7\r\nX-Cutwatch-Id: id7\r\n\r\na=b"},
		{"no body where one is usual", "http://example.com/x", "PUT", "", nil,
			"PUT /x HTTP/1.1\r\nHost: example.com\r\nUser-Agent: cutwatch\r\nAccept: */*\r\nContent-Length: 0\r\nX-Request-Id: id7\r\nX-Cutwatch-Id: id7\r\n\r\n"},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		m := newMessage(u, c.method, c.headers, c.body)
		for range 2 { // the same memory serves again
			if got := string(m.appendTo(nil, "id7")); got != c.want {
				t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
			}
		}
		if strings.Count(c.want, "id7") != 2 {
			t.Errorf("%s: the id does not stand twice in what is wanted", c.name)
		}
	}
}
