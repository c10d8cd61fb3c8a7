package probe

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// half answers with the beginning of an answer and is silent from then on.
func half(t *testing.T, text string) (url string) {
	return server(t, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Error(err)
		}
		hold(c)
	})
}

var halves = map[string]string{
	"in a line of the head": "HTTP/1.1 200 OK\r\nX-Ver",
	"in the status line":    "HTTP/1.",
	"at a line's end":       "HTTP/1.1 200 OK\r\n",
	"in the body":           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal",
	"in a chunk":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha",
	"in a chunk's length":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
}

// Half an answer and then nothing is a timeout, whatever a parser makes of the half.
func TestHalfAnAnswerTimesOut(t *testing.T) {
	for name, text := range halves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newProbe(t, settings{"url": half(t, text), "timeout": "200ms"})
			if s := newRun(t, p).sendOnce(); s.Class != sample.Timeout {
				t.Errorf("class %q (%s), want a timeout", s.Class, s.Error)
			}
		})
	}
}

// A request that the run's end breaks off is unfinished, however far its answer had come.
func TestBrokenOffInHalfAnAnswerIsUnfinished(t *testing.T) {
	for name, text := range halves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newProbe(t, settings{"url": half(t, text), "timeout": "20s"})
			r := newRun(t, p)
			requests, abort := context.WithCancel(context.Background())
			defer abort()
			r.requests = requests
			time.AfterFunc(100*time.Millisecond, abort)
			if s := r.sendOnce(); !s.Unfinished || s.Failed() {
				t.Errorf("unfinished %v, class %q (%s), want it unfinished", s.Unfinished, s.Class, s.Error)
			}
		})
	}
}
