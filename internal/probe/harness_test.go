package probe

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// settings are inputs by name, as a user would write them.
type settings map[string]string

func newConfig(t testing.TB, given settings) *config.Config {
	t.Helper()
	cfg, err := config.FromInputs(func(name string) string { return given[name] })
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// record collects what a probe writes.
type record struct {
	mu    sync.Mutex
	lines []sample.Line
}

func (r *record) add(l sample.Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
}

func (r *record) all() []sample.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sample.Line(nil), r.lines...)
}

// samples returns those of a lane, of all lanes for "".
func (r *record) samples(lane sample.Lane) []*sample.Sample {
	var out []*sample.Sample
	for _, l := range r.all() {
		if l.Sample != nil && (lane == "" || l.Sample.Lane == lane) {
			out = append(out, l.Sample)
		}
	}
	return out
}

func (r *record) followUps() []*sample.FollowUp {
	var out []*sample.FollowUp
	for _, l := range r.all() {
		if l.FollowUp != nil {
			out = append(out, l.FollowUp)
		}
	}
	return out
}

func newProbe(t testing.TB, given settings) (*Probe, *record) {
	t.Helper()
	rec := &record{}
	p, err := New(newConfig(t, given), "test", time.Now(), rec.add)
	if err != nil {
		t.Fatal(err)
	}
	return p, rec
}

// newRun is a Run of which a test sends the requests by itself.
func newRun(t testing.TB, p *Probe) *run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		p.follow.stop()
		p.follow.wait()
	})
	return &run{Probe: p, ctx: ctx, requests: ctx, first: p.now()}
}

// sendOnce sends one request on a new connection and returns its sample.
func (r *run) sendOnce() *sample.Sample {
	s := &sample.Sample{Lane: sample.Fresh, Started: r.now()}
	s.Scheduled = s.Started
	r.once(s, r.fastJob())
	return s
}

// sendKept has a kept worker send one request.
func (w *keptWorker) sendKept() *sample.Sample {
	s := w.next()
	s.Started = w.run.now()
	s.Scheduled = s.Started
	w.record(s)
	return s
}

// newWorker is a kept worker of which a test sends the requests by itself.
func newWorker(t testing.TB, r *run) *keptWorker {
	w := &keptWorker{run: r}
	t.Cleanup(w.close)
	return w
}

// runUntil runs the probe until done returns true, or too long a time has passed.
func runUntil(t testing.TB, p *Probe, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- p.Run(ctx) }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Error("what the run was to wait for did not come")
			cancel()
			<-finished
			return
		}
	}
	cancel()
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
}

// server accepts connections on loopback and has serve play the peer on each;
// serve's connection is closed when it returns, and when the test ends.
func server(t testing.TB, serve func(c *net.TCPConn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// requests reads requests off a connection and answers each with respond's
// text as it is, until respond says that it was the last.
func requests(c net.Conn, respond func(n int, req *http.Request) (answer string, more bool)) {
	in := bufio.NewReader(c)
	for n, more := 0, true; more; n++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		var answer string
		answer, more = respond(n, req)
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// always answers every request with the same text.
func always(answer string) func(int, *http.Request) (string, bool) {
	return func(int, *http.Request) (string, bool) { return answer, true }
}

// answering is a server whose every request gets the answer.
func answering(t testing.TB, answer string) (url string) {
	return server(t, func(c *net.TCPConn) {
		requests(c, always(answer))
	})
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Version: v1\r\nX-Instance: i1\r\n\r\nok"

// hold keeps a connection open, silent, until the peer ends it or the test is over.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// reset ends a connection with RST.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// eventually polls until ok, and fails the test where that does not come.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("never came: " + what)
}

// freePort is an address of loopback at which nothing listens.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

var errResolver = errors.New("the resolver is down")
