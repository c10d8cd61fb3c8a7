package probe

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A close that comes while the connection is idle, and is there before the next
// write, is a reconnect in the same slot and never a failure.
func TestIdleCloseIsSeenBeforeTheWrite(t *testing.T) {
	cfg, authority := newAuthority(t, "127.0.0.1", time.Now().Add(time.Hour))
	for _, c := range []struct {
		name      string
		encrypted bool
		end       func(raw *net.TCPConn, e *tls.Conn) // what the idle connection gets
	}{
		{"FIN", false, func(raw *net.TCPConn, _ *tls.Conn) { _ = raw.CloseWrite() }},
		{"RST", false, func(raw *net.TCPConn, _ *tls.Conn) { reset(raw) }},
		{"unasked 408", false, func(raw *net.TCPConn, _ *tls.Conn) {
			_, _ = io.WriteString(raw, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
		}},
		{"close_notify", true, func(_ *net.TCPConn, e *tls.Conn) { _ = e.CloseWrite() }},
		{"FIN under TLS", true, func(raw *net.TCPConn, _ *tls.Conn) { _ = raw.CloseWrite() }},
		{"RST under TLS", true, func(raw *net.TCPConn, _ *tls.Conn) { reset(raw) }},
		{"unasked data under TLS", true, func(_ *net.TCPConn, e *tls.Conn) { _, _ = io.WriteString(e, "x") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			idle := make(chan func(), 10) // ends the connection that was just answered
			serve := func(raw *net.TCPConn, e *tls.Conn, stream net.Conn) {
				requests(stream, func(int, *http.Request) (string, bool) {
					idle <- func() { c.end(raw, e) }
					return okAnswer, true
				})
				hold(raw)
			}
			given := settings{}
			if c.encrypted {
				given["ca-cert"] = authority
				given["url"] = secure(server(t, func(raw *net.TCPConn) {
					e := tls.Server(raw, cfg)
					serve(raw, e, e)
				}))
			} else {
				given["url"] = server(t, func(raw *net.TCPConn) { serve(raw, nil, raw) })
			}
			p, _ := newProbe(t, given)
			w := newWorker(t, newRun(t, p))
			first := w.sendKept()
			if first.Class != sample.OK || first.Reconnect != "" || w.conn == nil {
				t.Fatalf("first request: %+v", first)
			}
			if w.conn.gone() {
				t.Fatal("a connection that nobody ended is taken for gone")
			}
			(<-idle)()
			eventually(t, "the end of the idle connection", w.conn.gone)
			second := w.sendKept()
			if second.Class != sample.OK || second.Reconnect != "idle-close" || second.Before != 0 || second.Conn == first.Conn {
				t.Errorf("second request: %+v", second)
			}
			third := w.sendKept()
			if third.Class != sample.OK || third.Reconnect != "" || third.Before != 1 || third.Conn != second.Conn || third.Idle <= 0 || third.Connected != 0 {
				t.Errorf("third request: %+v", third)
			}
		})
	}
}

// Records of TLS that carry no data are no reason to give a connection up.
func TestSessionTicketsAreNotTheEnd(t *testing.T) {
	cfg, authority := newAuthority(t, "127.0.0.1", time.Now().Add(time.Hour))
	p, _ := newProbe(t, settings{"url": tlsServer(t, cfg, answerOK), "ca-cert": authority})
	p.main.to.tls.ClientSessionCache = tls.NewLRUClientSessionCache(1) // else Go's server sends none
	r := newRun(t, p)
	s := &sample.Sample{Started: r.now()}
	j := r.fastJob()
	k, f := r.open(t.Context(), s, &j, time.Now().Add(10*time.Second))
	if f != nil {
		t.Fatal(f.err)
	}
	defer k.close()
	// TLS 1.3 sends its tickets after the handshake, before any data.
	eventually(t, "the session ticket", func() bool { ended, waiting := k.glance(); return waiting && !ended })
	if k.gone() {
		t.Error("a connection with a session ticket waiting is taken for gone")
	}
	if ended, waiting := k.glance(); ended || waiting {
		t.Errorf("after the ticket was read: ended %v, waiting %v", ended, waiting)
	}
}

// The deadline of the last request does not hide the state of the connection.
func TestIdleBeyondTheDeadline(t *testing.T) {
	p, _ := newProbe(t, settings{"url": answering(t, okAnswer)})
	w := newWorker(t, newRun(t, p))
	w.sendKept()
	if err := w.conn.raw.SetDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if w.conn.gone() {
		t.Error("taken for gone")
	}
	if s := w.sendKept(); s.Class != sample.OK || s.Before != 1 {
		t.Errorf("next request: %+v", s)
	}
}

// Why the next request of a worker needs a new connection.
func TestReconnects(t *testing.T) {
	for _, c := range []struct {
		name, first, reconnect string
		failed, announced      bool
	}{
		{"kept", okAnswer, "", false, false},
		{"kept after a bad status", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "", true, false},
		{"announced", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "connection-close", false, true},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "connection-close", false, true},
		{"HTTP/1.0 that keeps", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", "", false, false},
		{"failure", "garbage\r\n", "failure", true, false},
		{"cut, though announced", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nx", "failure", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := make(chan string, 2)
			answer <- c.first
			answer <- okAnswer
			p, _ := newProbe(t, settings{"url": server(t, func(k *net.TCPConn) {
				requests(k, func(_ int, req *http.Request) (string, bool) {
					if strings.HasSuffix(req.Header.Get(ownIDHeader), serviceMark) {
						return okAnswer, true
					}
					a := <-answer
					return a, a != c.first || c.reconnect == ""
				})
			})})
			w := newWorker(t, newRun(t, p))
			first := w.sendKept()
			if first.Failed() != c.failed || first.Close != c.announced {
				t.Errorf("first request: class %q, close %v (%s)", first.Class, first.Close, first.Error)
			}
			second := w.sendKept()
			if second.Class != sample.OK || second.Reconnect != c.reconnect || (second.Before == 0) != (c.reconnect != "") {
				t.Errorf("second request: %+v", second)
			}
		})
	}
}

// Where the socket cannot be looked at, a short read tells the same.
func TestReadable(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*net.TCPConn)
		gone bool
	}{
		"quiet": {func(*net.TCPConn) {}, false},
		"FIN":   {finish, true},
		"RST":   {reset, true},
		"data":  {func(c *net.TCPConn) { _, _ = io.WriteString(c, "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			idle := make(chan *net.TCPConn, 1)
			p, _ := newProbe(t, settings{"url": server(t, func(c *net.TCPConn) {
				requests(c, func(n int, _ *http.Request) (string, bool) {
					if n == 0 {
						idle <- c
					}
					return okAnswer, true
				})
				hold(c)
			})})
			w := newWorker(t, newRun(t, p))
			w.sendKept()
			if w.conn.readable() {
				t.Fatal("readable before anything came")
			}
			c.end(<-idle)
			if c.gone {
				eventually(t, "the end", w.conn.readable)
				return
			}
			if s := w.sendKept(); s.Class != sample.OK || s.Before != 1 {
				t.Errorf("the next request: %+v", s)
			}
		})
	}
}
