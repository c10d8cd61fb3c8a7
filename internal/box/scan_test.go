package box

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scan feeds a text in pieces of a size and tells what the scanner saw.
func scan(text string, size int) []string {
	var seen []string
	s := scanner{end: func() { seen = append(seen, "end") }}
	s.head = func(head []byte) (int64, bool) {
		req, ok := requestHead(head)
		if !ok {
			return 0, false
		}
		seen = append(seen, fmt.Sprintf("%s %s", req.Method, requestID(req.Header)))
		return req.ContentLength, true
	}
	for len(text) > 0 {
		n := min(size, len(text))
		s.feed([]byte(text[:n]))
		text = text[n:]
	}
	if s.lost {
		seen = append(seen, "lost")
	}
	return seen
}

func TestScannerFollowsMessages(t *testing.T) {
	get := "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: 1\r\n\r\n"
	post := "POST / HTTP/1.1\r\nHost: a\r\nX-Cutwatch-Id: 2\r\nContent-Length: 5\r\n\r\nhello"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"one after the other", get + post + get, []string{"GET 1", "end", "POST 2", "end", "GET 1", "end"}},
		{"a body cut", post[:len(post)-1], []string{"POST 2"}},
		{"a head cut", get[:len(get)-1], nil},
		{"chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get, []string{"lost"}},
		{"garbage", "hello\r\n\r\n" + get, []string{"lost"}},
		{"a head without end", strings.Repeat("a", maxHead+2), []string{"lost"}},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 3, 1000, 1 << 20} {
			if diff := cmp.Diff(tt.want, scan(tt.text, size)); diff != "" {
				t.Errorf("%s, in pieces of %d: want (-), got (+):\n%s", tt.name, size, diff)
			}
		}
	}
}

func TestResponseHead(t *testing.T) {
	tests := []struct {
		head, method string
		length       int64
		ok           bool
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "GET", 7, true},
		{"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "HEAD", 0, true},
		{"HTTP/1.1 204 No Content\r\n\r\n", "GET", 0, true},
		{"HTTP/1.1 200 OK\r\n\r\n", "GET", 0, false}, // until the connection's end
		{"nonsense\r\n\r\n", "GET", 0, false},
	}
	for _, tt := range tests {
		resp, ok := responseHead([]byte(tt.head), tt.method)
		if ok != tt.ok || ok && resp.ContentLength != tt.length {
			t.Errorf("%s %q: ok %v, want %v of length %d", tt.method, tt.head, ok, tt.ok, tt.length)
		}
	}
}
