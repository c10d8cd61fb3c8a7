package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestBroken(t *testing.T) {
	const page = "<!doctype html><html><body>hello</body></html>"
	for _, c := range []struct {
		kind, body string
		want       bool
	}{
		{"application/json", `{"a":[1,2]}`, false},
		{"application/json", " 17\n", false},
		{"application/json", "\ufeff{}", false},
		{"Application/JSON ; charset=utf-8", `{"a":[1,2]`, true},
		{"application/json", `{"a":1}{"b":2}`, true},
		{"application/json", "", true},
		{"application/problem+json", `{"title":"x`, true},
		{"text/json", `[`, true},
		{"application/x-ndjson", `{"a":1}` + "\n" + `{"a"`, false}, // not one document
		{"text/html", page, false},
		{"text/html; charset=utf-8", page + "\r\n\t ", false},
		{"text/html", strings.ToUpper(page), false},
		{"text/html", page + "\n<!-- made in 3 ms --> <!-- by 7 -->\n", false},
		{"text/html", page + "\n<!-- made in", true},
		{"text/html", page[:len(page)-1], true},
		{"text/html", "-->", true},
		{"text/html", "</html>", false},
		{"text/html", "<p>part of a page</p>", true},
		{"text/html", "", true},
		{"text/plain", "{", false},
		{"", "<html>", false},
	} {
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.kind}}}
		if got := broken("GET", resp, []byte(c.body)); got != c.want {
			t.Errorf("%s %q: broken %v, want %v", c.kind, c.body, got, c.want)
		}
	}
}

// What is judged, and what is not, whatever it holds.
func TestBrokenIsRecorded(t *testing.T) {
	long := `"` + strings.Repeat("x", keptBody-2) // a byte short of 64 KiB, and of its end
	for _, c := range []struct {
		name, status, headers, body string
		given                       settings
		want                        bool
	}{
		{"cut, and the length agrees", "200 OK", "", `{"a":`, nil, true},
		{"whole", "200 OK", "", `{"a":1}`, nil, false},
		{"of an error", "500 Oops", "", `{"a":`, nil, true},
		{"the longest that is judged", "200 OK", "", long + "x", nil, true},
		{"the longest that is judged, whole", "200 OK", "", long + `"`, nil, false},
		{"longer", "200 OK", "", long + "xx", nil, false},
		{"compressed", "200 OK", "Content-Encoding: gzip\r\n", "\x1f\x8b", nil, false},
		{"compressed by nothing", "200 OK", "Content-Encoding: identity\r\n", "{", nil, true},
		{"HEAD", "200 OK", "", "", settings{"method": "HEAD"}, false},
		{"no content", "204 No Content", "", "", nil, false},
		{"not modified", "304 Not Modified", "", "", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := settings{"url": answering(t, fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", c.status, c.headers, len(c.body), c.body))}
			for name, value := range c.given {
				given[name] = value
			}
			p, _ := newProbe(t, given)
			if s := newRun(t, p).sendOnce(); s.Broken != c.want || s.Status == 0 {
				t.Errorf("broken %v, want %v: status %d, %d bytes, class %q (%s)", s.Broken, c.want, s.Status, s.Bytes, s.Class, s.Error)
			}
		})
	}
}

// A body that visibly ended early has a class for that.
func TestCutBodyIsNotCalledBroken(t *testing.T) {
	p, _ := newProbe(t, settings{"url": server(t, func(c *net.TCPConn) {
		requests(c, func(int, *http.Request) (string, bool) {
			return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", false
		})
	})})
	if s := newRun(t, p).sendOnce(); s.Broken || s.Class != sample.Truncated {
		t.Errorf("broken %v, class %q", s.Broken, s.Class)
	}
}

func TestUnsizedIsRecorded(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         bool
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", false},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true},
		{"until the close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := server(t, func(conn *net.TCPConn) {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					return
				}
				if _, err := io.WriteString(conn, c.answer); err != nil {
					t.Error(err)
				}
				conn.Close()
			})
			p, _ := newProbe(t, settings{"url": url})
			if s := newRun(t, p).sendOnce(); s.Unsized != c.want || s.Failed() {
				t.Errorf("unsized %v, want %v (class %q %s)", s.Unsized, c.want, s.Class, s.Error)
			}
		})
	}
}
