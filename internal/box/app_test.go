package box

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// startApp starts an app of fast answers that ends with the test.
func startApp(t *testing.T, change func(*appConfig)) *instance {
	t.Helper()
	cfg := appConfig{
		Version: "v1", Instance: "web-1", OnTerm: TermExit,
		LatencyMin: 5 * time.Millisecond, Linger: 400 * time.Millisecond, Deadline: 10 * time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	in, err := startInstance(t.Context(), cfg, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.kill()
		<-in.exited
	})
	return in
}

// rawConn is a client's connection without any second chances.
type rawConn struct {
	t *testing.T
	*net.TCPConn
	r *bufio.Reader
}

func dial(t *testing.T, addr string) rawConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // often closed already
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return rawConn{t, c.(*net.TCPConn), bufio.NewReader(c)}
}

func (c rawConn) send(path, id string) {
	c.t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: box\r\nX-Request-Id: "+id+"\r\n\r\n"); err != nil {
		c.t.Fatalf("write of %s: %v", id, err)
	}
}

// reply is an answer read whole.
type reply struct {
	*http.Response
	body string
}

func (c rawConn) read() (reply, error) {
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return reply{resp, string(body)}, err
}

func (c rawConn) get(path, id string) reply {
	c.t.Helper()
	c.send(path, id)
	r, err := c.read()
	if err != nil {
		c.t.Fatalf("answer to %s: %v", id, err)
	}
	return r
}

func TestAppNamesItself(t *testing.T) {
	in := startApp(t, nil)
	c := dial(t, in.addr)
	for _, path := range []string{"/", "/slow?seconds=0.1"} {
		r := c.get(path, "a")
		var body struct {
			Version, Instance string
			OK                bool
			Slept             *float64
		}
		if err := json.Unmarshal([]byte(r.body), &body); err != nil {
			t.Fatalf("%s: body %q: %v", path, r.body, err)
		}
		if r.Header.Get("X-Version") != "v1" || r.Header.Get("X-Instance") != "web-1" || body.Version != "v1" || body.Instance != "web-1" || !body.OK {
			t.Errorf("%s: headers %v, body %q", path, r.Header, r.body)
		}
		if slow := body.Slept != nil && *body.Slept == 0.1; slow != (path != "/") {
			t.Errorf("%s: slept in %q", path, r.body)
		}
	}
	if r := c.get("/slow?seconds=x", "b"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("seconds=x: status %d, want 400", r.StatusCode)
	}
}

func TestSlowSendsNothingBefore(t *testing.T) {
	in := startApp(t, nil)
	c := dial(t, in.addr)
	begin := time.Now()
	c.send("/slow?seconds=0.5", "a")
	if _, err := c.r.Peek(1); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 500*time.Millisecond {
		t.Errorf("the first byte came after %v, want 500 ms or more", took)
	}
}

// inFlight has a request of 600 ms on its way, and waits until the app holds it.
func inFlight(t *testing.T, in *instance) rawConn {
	t.Helper()
	c := dial(t, in.addr)
	c.send("/slow?seconds=0.6", "slow")
	dial(t, in.addr).get("/", "marker") // the app has run since
	return c
}

func TestTermExit(t *testing.T) {
	in := startApp(t, nil)
	c := inFlight(t, in)
	in.terminate()
	if _, err := c.read(); err == nil {
		t.Error("the request in flight was answered")
	}
	<-in.exited
}

func TestTermIgnore(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm = TermIgnore })
	in.terminate()
	if r := dial(t, in.addr).get("/", "a"); r.StatusCode != http.StatusOK {
		t.Errorf("status %d after SIGTERM", r.StatusCode)
	}
	if in.gone() {
		t.Error("it ended")
	}
}

// Draining, an app that closes keep-alive says so with each answer, leaves an
// idle connection alone, and is gone soon after what it owed.
func TestGracefulClosingKeepAlive(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm, cfg.CloseKeepAlive = TermGraceful, true })
	busy, idle, slow := dial(t, in.addr), dial(t, in.addr), inFlight(t, in)
	busy.get("/", "a")
	idle.get("/", "b")
	in.notifyDrain()
	eventually(t, "an answer on a new connection says close", func() bool { return dial(t, in.addr).get("/", "c").Close })
	if r := busy.get("/", "d"); !r.Close {
		t.Error("an answer on a kept connection does not say close")
	}
	if _, err := busy.read(); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("after it the connection should be closed: %v", err)
	}
	in.terminate()
	eventually(t, "new connections are refused", func() bool {
		c, err := net.Dial("tcp", in.addr)
		if err != nil {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		return c.Close() != nil
	})
	if r := idle.get("/", "e"); !r.Close {
		t.Error("the idle connection's answer does not say close")
	}
	if r, err := slow.read(); err != nil || !r.Close {
		t.Errorf("the request in flight: %v, close %v", err, r.Response != nil && r.Close)
	}
	<-in.exited
}

// What the kernel has taken for a graceful app is its own, though it had no
// processor to look at it before SIGTERM.
func TestGracefulTakesWhatWaits(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm, cfg.CloseKeepAlive = TermGraceful, true })
	in.signal(syscall.SIGSTOP)
	var waiting []rawConn
	for range 20 {
		c := dial(t, in.addr)
		c.send("/", "a")
		waiting = append(waiting, c)
	}
	in.terminate()
	in.signal(syscall.SIGCONT)
	for i, c := range waiting {
		if _, err := c.read(); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	<-in.exited
}

// A kept connection that stays idle does not hold a graceful app for ever.
func TestGracefulLingers(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm, cfg.CloseKeepAlive = TermGraceful, true })
	idle := dial(t, in.addr)
	idle.get("/", "a")
	begin := time.Now()
	in.terminate()
	<-in.exited
	if took := time.Since(begin); took < 400*time.Millisecond || took > 5*time.Second {
		t.Errorf("it ended after %v, want about 400 ms", took)
	}
	if _, err := idle.read(); err == nil {
		t.Error("the idle connection was answered")
	}
}

// Without closing keep-alive, kept connections are served until the request
// that was in flight at SIGTERM is done, and then they are cut.
func TestGracefulKeepingConnections(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm = TermGraceful })
	kept, later := dial(t, in.addr), dial(t, in.addr)
	kept.get("/", "a")
	later.get("/", "b")
	slow := inFlight(t, in)
	in.notifyDrain()
	in.terminate()
	if r := kept.get("/", "c"); r.Close {
		t.Error("a kept connection was told to close")
	}
	later.send("/slow?seconds=5", "d")
	if _, err := slow.read(); err != nil {
		t.Errorf("the request in flight at SIGTERM: %v", err)
	}
	if _, err := later.read(); err == nil {
		t.Error("a request that began after SIGTERM outlived those before")
	}
	<-in.exited
}

func TestGracefulDeadline(t *testing.T) {
	in := startApp(t, func(cfg *appConfig) { cfg.OnTerm, cfg.Deadline = TermGraceful, 200*time.Millisecond })
	c := dial(t, in.addr)
	c.send("/slow?seconds=8", "a")
	dial(t, in.addr).get("/", "b")
	in.terminate()
	if _, err := c.read(); err == nil {
		t.Error("answered, past the deadline")
	}
	<-in.exited
}

func TestFaults(t *testing.T) {
	t.Run("status", func(t *testing.T) {
		in := startApp(t, func(cfg *appConfig) { cfg.Fault = Fault{Kind: FaultStatus, Status: 503} })
		if r := dial(t, in.addr).get("/", "a"); r.StatusCode != 503 || r.Header.Get("X-Version") != "v1" {
			t.Errorf("status %d, headers %v", r.StatusCode, r.Header)
		}
	})
	t.Run("truncate", func(t *testing.T) {
		in := startApp(t, func(cfg *appConfig) { cfg.Fault = Fault{Kind: FaultTruncate} })
		c := dial(t, in.addr)
		c.send("/", "a")
		if r, err := c.read(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("body %q: %v, want an unexpected EOF", r.body, err)
		}
	})
	t.Run("maintenance, for a while", func(t *testing.T) {
		in := startApp(t, func(cfg *appConfig) { cfg.Fault = Fault{Kind: FaultMaintenance, For: 1e9} })
		c := dial(t, in.addr)
		if r := c.get("/", "a"); r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/html" {
			t.Errorf("status %d, headers %v", r.StatusCode, r.Header)
		}
		eventually(t, "it answers again", func() bool { return c.get("/", "b").Header.Get("Content-Type") == "application/json" })
	})
	t.Run("latency", func(t *testing.T) {
		in := startApp(t, func(cfg *appConfig) { cfg.Fault = Fault{Kind: FaultLatency, Delay: 3e8} })
		begin := time.Now()
		dial(t, in.addr).get("/", "a")
		if took := time.Since(begin); took < 300*time.Millisecond {
			t.Errorf("answered after %v, want 300 ms or more", took)
		}
	})
}

func TestStartIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := startInstance(ctx, appConfig{Version: "v1", Instance: "web-1"}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
