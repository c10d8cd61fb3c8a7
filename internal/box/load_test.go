package box

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is a small client without second chances, written apart from the
// prober, that keeps its own book of what failed.
type load struct {
	addr string
	slow string // path of slow requests

	mu     sync.Mutex
	n      int
	failed map[string]failure // by id
}

type failure struct {
	port int
	why  string
}

// runLoad sends kept, fresh and slow requests until ctx is done, and returns
// once all are answered or failed.
func runLoad(ctx context.Context, b *Box) *load {
	addr := strings.TrimPrefix(b.url, "http://")
	slow := fmt.Sprintf("/slow?seconds=%g", b.scene.Probe.SlowSeconds)
	l := &load{addr: addr, slow: slow, failed: map[string]failure{}}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { l.kept(ctx, time.Duration(i)*10*time.Millisecond) })
	}
	every := func(d time.Duration, path string) {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				wg.Go(func() { l.once(path) })
			}
		}
	}
	wg.Go(func() { every(40*time.Millisecond, "/") })
	wg.Go(func() { every(50*time.Millisecond, l.slow) })
	wg.Wait()
	return l
}

// kept sends on one connection for as long as it lasts, then on another.
func (l *load) kept(ctx context.Context, phase time.Duration) {
	var c net.Conn
	var r *bufio.Reader
	drop := func() {
		if c != nil {
			c.Close() //nolint:errcheck // given up
		}
		c = nil
	}
	defer drop()
	for wait := phase; sleep(ctx, wait) == nil; wait = 60 * time.Millisecond {
		if c != nil && closedIdle(c, r) {
			drop()
		}
		id := l.next()
		if c == nil {
			var err error
			if c, err = net.Dial("tcp", l.addr); err != nil {
				l.fail(id, 0, err)
				continue
			}
			r = bufio.NewReader(c)
		}
		last, err := exchange(c, r, "/", id)
		if err != nil {
			l.fail(id, clientPort(c.LocalAddr().String()), err)
		}
		if last {
			drop()
		}
	}
}

// closedIdle sees a close of an idle connection.
func closedIdle(c net.Conn, r *bufio.Reader) bool {
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return true
	}
	_, err := r.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded) || c.SetReadDeadline(time.Time{}) != nil
}

func (l *load) once(path string) {
	id := l.next()
	c, err := net.Dial("tcp", l.addr)
	if err != nil {
		l.fail(id, 0, err)
		return
	}
	defer c.Close() //nolint:errcheck // done with it
	if _, err := exchange(c, bufio.NewReader(c), path, id); err != nil {
		l.fail(id, clientPort(c.LocalAddr().String()), err)
	}
}

// exchange sends a request and reads the answer whole; last tells that the
// connection is of no more use.
func exchange(c net.Conn, r *bufio.Reader, path, id string) (last bool, err error) {
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: box\r\nX-Request-Id: "+id+"\r\n\r\n"); err != nil {
		return true, err
	}
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return true, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return true, err
	}
	if resp.StatusCode != http.StatusOK {
		return resp.Close, fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.Close, nil
}

func (l *load) next() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return fmt.Sprintf("cw-load-%d", l.n)
}

func (l *load) fail(id string, port int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[id] = failure{port, err.Error()}
}

// agree checks the client's book against the front's.
func (l *load) agree(t *testing.T, truth Truth) {
	t.Helper()
	for _, d := range truth.Drops {
		if _, ok := l.failed[d.ID]; !ok {
			t.Errorf("the box says that %s was dropped (%s), its client that it was answered", d.ID, d.Kind)
		}
		delete(l.failed, d.ID)
	}
	blind := map[int]bool{}
	for _, b := range truth.Blind {
		blind[b.Port] = true
	}
	for id, f := range l.failed {
		if !blind[f.port] {
			t.Errorf("%s failed (%s), and the box does not know it", id, f.why)
		}
	}
	sum := truth.Answered + len(truth.Drops) + truth.Gone + truth.InFlight
	if truth.Requests != sum || truth.InFlight != 0 || truth.Gone != 0 {
		t.Errorf("%d requests = %d answered + %d dropped + %d gone + %d in flight", truth.Requests, truth.Answered, len(truth.Drops), truth.Gone, truth.InFlight)
	}
	if truth.Requests+len(l.failed) < l.n || len(truth.Repeated) > 0 {
		t.Errorf("%d requests sent, %d seen, %d repeated", l.n, truth.Requests, len(truth.Repeated))
	}
}
