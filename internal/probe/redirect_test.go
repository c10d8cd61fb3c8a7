package probe

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestLeadsToItself(t *testing.T) {
	for _, c := range []struct {
		asked, method string
		status        int
		to            string
		want          bool
	}{
		{"http://example.com/a?b=c", "GET", 302, "http://example.com/a?b=c", true},
		{"http://example.com/a?b=c", "GET", 301, "HTTP://EXAMPLE.com:80/a?b=c#top", true},
		{"http://example.com/a?b=c", "HEAD", 303, "/a?b=c", true},
		{"http://example.com/a?b=c", "GET", 307, "//example.com/a?b=c", true},
		{"http://example.com/a?b=c", "GET", 308, "?b=c", true},
		{"http://example.com/a", "GET", 302, "#top", true},
		{"http://example.com", "GET", 302, "/", true},
		{"https://example.com/x/y", "GET", 302, "../x/./y", true},
		{"https://example.com:443/", "GET", 302, "https://example.com", true},
		{"http://example.com/a", "POST", 307, "/a", true},
		{"http://example.com/a", "POST", 303, "/a", false}, // leads to a GET
		{"http://example.com/a", "POST", 302, "/a", false},

		{"http://example.com/a", "GET", 302, "https://example.com/a", false},
		{"http://example.com/a", "GET", 302, "/a/", false},
		{"http://example.com/a", "GET", 302, "/a?", false}, // another target on the wire
		{"http://example.com/a", "GET", 302, "/a?b=c", false},
		{"http://example.com/a", "GET", 302, "http://www.example.com/a", false},
		{"http://example.com/a", "GET", 302, "http://example.com:81/a", false},
		{"http://example.com/a", "GET", 302, "", false},
		{"http://example.com/a", "GET", 302, "http://example.com:x/%zz", false},
		{"http://example.com/a", "GET", 300, "/a", false},
		{"http://example.com/a", "GET", 304, "/a", false},
		{"http://example.com/a", "GET", 200, "/a", false},
	} {
		u, err := url.Parse(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		m := newMessage(u, c.method, nil, "")
		resp := &http.Response{StatusCode: c.status, Header: http.Header{"Location": {c.to}}}
		if got := m.leadsToItself(resp); got != c.want {
			t.Errorf("%s %s → %d %q: %v, want %v", c.method, c.asked, c.status, c.to, got, c.want)
		}
	}
}

// Where a Host header is given, the service knows itself by that.
func TestLeadsToItselfByItsGivenName(t *testing.T) {
	u, err := url.Parse("http://10.0.0.1/a")
	if err != nil {
		t.Fatal(err)
	}
	m := newMessage(u, "GET", config.Headers{{Name: "host", Value: "example.com"}}, "")
	for to, want := range map[string]bool{"http://example.com/a": true, "/a": true, "http://10.0.0.1/a": false} {
		if got := m.leadsToItself(&http.Response{StatusCode: 302, Header: http.Header{"Location": {to}}}); got != want {
			t.Errorf("%s: %v, want %v", to, got, want)
		}
	}
	if u.Host != "10.0.0.1" {
		t.Errorf("the URL that is dialled became %s", u)
	}
}

func TestRedirectsAreRecorded(t *testing.T) {
	const loop = "it redirects to itself"
	for _, c := range []struct {
		name, status, to string
		given            settings
		class            sample.Class
		err, location    string
	}{
		{"elsewhere", "302 Found", "/login?next=secret&lang=#secret", nil, sample.OK, "", "/login?next=***&lang="},
		{"to itself", "302 Found", "/here", nil, sample.Status, loop, "/here"},
		{"to itself, and no redirect is expected", "302 Found", "/here", settings{"expect-status": "200"}, sample.Status, loop, "/here"},
		{"elsewhere, and no redirect is expected", "301 Moved", "/there", settings{"expect-status": "200"}, sample.Status, "", "/there"},
		{"not a redirect", "201 Created", "/here", nil, sample.OK, "", ""},
		{"a long one", "302 Found", "/" + strings.Repeat("a", 400), nil, sample.OK, "", "/" + strings.Repeat("a", 299)},
		{"not text", "302 Found", "/\x80\xff", nil, sample.OK, "", "/\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := settings{"url": answering(t, fmt.Sprintf("HTTP/1.1 %s\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", c.status, c.to)) + "/here"}
			for name, value := range c.given {
				given[name] = value
			}
			p, _ := newProbe(t, given)
			s := newRun(t, p).sendOnce()
			if s.Class != c.class || s.Error != c.err || s.Location != c.location {
				t.Errorf("class %q, error %q, location %q; want %q, %q, %q", s.Class, s.Error, s.Location, c.class, c.err, c.location)
			}
			if c.err != "" && s.Phase != sample.PhaseResponse {
				t.Errorf("phase %q", s.Phase)
			}
		})
	}
}

// The control host may answer what it likes.
func TestControlMayRedirectToItself(t *testing.T) {
	control := answering(t, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
	p, rec := newProbe(t, settings{"url": "http://" + freePort(t), "control-url": control})
	newRun(t, p).sendOnce()
	p.follow.stop()
	p.follow.wait()
	for _, f := range rec.followUps() {
		if f.Kind == toControl && (f.Class != sample.OK || f.Status != 302) {
			t.Errorf("follow-up %+v", f)
		}
	}
	if n := len(rec.followUps()); n != 2 {
		t.Errorf("%d follow-ups, want 2", n)
	}
}
