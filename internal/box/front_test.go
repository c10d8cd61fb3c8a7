package box

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tiny is a scene with short lengths and one instance.
func tiny(frontName string) Scene {
	return Scene{
		Name: "tiny", Seed: 1, Front: frontName, Instances: 1,
		OldVersion: "aaaaaaaaaa", NewVersion: "bbbbbbbbbb",
		App: App{LatencyMin: 5 * ms, OnTerm: TermExit, Linger: 300 * ms},
		Rollout: Rollout{
			Strategy: Switch, Overlap: 200 * ms, Drain: 200 * ms, Grace: 5000 * ms, End: EndLate,
		},
		Probe: Probe{Baseline: 1000 * ms, SlowSeconds: 5, Rate: 1, Connections: 1},
	}
}

func startBox(t *testing.T, s Scene) *Box {
	t.Helper()
	b, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func (b *Box) address() string { return strings.TrimPrefix(b.url, "http://") }

// onInstance has a slow request in flight on an instance.
func onInstance(t *testing.T, b *Box, id string) rawConn {
	t.Helper()
	c := dial(t, b.address())
	c.send("/slow?seconds=5", id)
	eventually(t, id+" is on its instance", func() bool {
		b.ledger.mu.Lock()
		defer b.ledger.mu.Unlock()
		for _, e := range b.ledger.entries {
			if e.id == id {
				return e.reached
			}
		}
		return false
	})
	return c
}

// drops is the truth's drops as "id kind".
func drops(t Truth) []string {
	var list []string
	for _, d := range t.Drops {
		list = append(list, d.ID+" "+d.Kind)
	}
	return list
}

func wantDrops(t *testing.T, b *Box, want ...string) {
	t.Helper()
	if got := drops(b.Truth()); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("drops %q, want %q", got, want)
	}
}

func TestFrontsPassAnswersOn(t *testing.T) {
	for _, name := range []string{FrontEdge, FrontDirect} {
		t.Run(name, func(t *testing.T) {
			b := startBox(t, tiny(name))
			c := dial(t, b.address())
			for i := range 3 {
				r := c.get("/", fmt.Sprint("id", i))
				if r.StatusCode != 200 || r.Close || r.Header.Get("X-Version") != "aaaaaaaaaa" || !strings.Contains(r.body, `"ok":true`) {
					t.Errorf("answer %d: %v %q", i, r.Header, r.body)
				}
				if cf := r.Header.Get("Server") == "cloudflare" && r.Header.Get("Cf-Ray") != "" && len(r.Header.Get("X-Do-App-Origin")) == 36; cf != (name == FrontEdge) {
					t.Errorf("headers %v", r.Header)
				}
			}
			eventually(t, "the books are closed", func() bool { return b.Truth().InFlight == 0 })
			truth := b.Truth()
			if truth.Requests != 3 || truth.Answered != 3 || truth.By["id1"].Version != "aaaaaaaaaa" {
				t.Errorf("%d requests, %d answered, id1 by %+v", truth.Requests, truth.Answered, truth.By["id1"])
			}
		})
	}
}

func TestEdgeAnswersForAnInstance(t *testing.T) {
	b := startBox(t, tiny(FrontEdge))
	c := onInstance(t, b, "inflight")
	old := b.current()[0]
	begin := time.Now()
	old.terminate()
	check := func(r reply, err error, code, detail string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != http.StatusGatewayTimeout || r.Header.Get("X-Do-Failure-Code") != code || r.Header.Get("X-Do-Orig-Status") != "503" ||
			r.Header.Get("Server") != "cloudflare" || r.Header.Get("X-Version") != "" {
			t.Errorf("status %d, headers %v", r.StatusCode, r.Header)
		}
		if !strings.Contains(r.body, "error code: 504") || !strings.Contains(r.body, detail) {
			t.Errorf("page %q", r.body)
		}
	}
	r, err := c.read()
	check(r, err, "UC", "DETAIL upstream_reset_before_response_started{connection_termination} (503 UC)")
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("answered %v after the end, want at once", took)
	}
	<-old.exited
	c.send("/", "refused") // the client's connection lives on
	r, err = c.read()
	check(r, err, "UF", "(503 UF)")
	b.pool.set()
	c.send("/", "nowhere")
	r, err = c.read()
	check(r, err, "UH", "DETAIL no_healthy_upstream (503 UH)")
	wantDrops(t, b, "inflight cut", "refused refused", "nowhere no-instance")
}

func TestDirectEndsWithItsInstance(t *testing.T) {
	b := startBox(t, tiny(FrontDirect))
	c, idle := onInstance(t, b, "inflight"), dial(t, b.address())
	idle.get("/", "answered")
	old := b.current()[0]
	old.terminate()
	if _, err := c.read(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("in flight: %v, want the connection's end", err)
	}
	if _, err := idle.r.Peek(1); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection: %v, want EOF", err)
	}
	idle.send("/", "crossed") // what a client does that has not seen the end
	eventually(t, "the crossed request is in the books", func() bool { return b.Truth().Requests == 3 })

	refused := dial(t, b.address())
	refused.send("/", "refused")
	if _, err := refused.read(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("refused: %v, want a reset", err)
	}
	silent := dial(t, b.address())
	if _, err := silent.read(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("refused without a request: %v, want a reset", err)
	}
	wantDrops(t, b, "inflight cut", "crossed crossed", "refused refused")
	truth := b.Truth()
	if len(truth.Blind) != 1 || truth.Blind[0].Port != clientPort(silent.LocalAddr().String()) {
		t.Errorf("ended unread: %+v, want port %v alone", truth.Blind, silent.LocalAddr())
	}
}

func TestClientThatLeavesIsNoDrop(t *testing.T) {
	for _, name := range []string{FrontEdge, FrontDirect} {
		t.Run(name, func(t *testing.T) {
			b := startBox(t, tiny(name))
			c := onInstance(t, b, "left")
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the front knows", func() bool { return b.Truth().Gone == 1 })
			wantDrops(t, b)
		})
	}
}

func TestNoiseIsNotTheRollouts(t *testing.T) {
	for _, name := range []string{FrontEdge, FrontDirect} {
		t.Run(name, func(t *testing.T) {
			s := tiny(name)
			s.Noise = 0.3
			b := startBox(t, s)
			failed := 0
			for i := range 60 {
				c := dial(t, b.address())
				c.send("/", fmt.Sprint("id", i))
				if r, err := c.read(); err != nil || r.StatusCode != 200 {
					failed++
				}
			}
			truth := b.Truth()
			if failed == 0 || failed == 60 || len(truth.Drops) != failed || truth.RolloutDrops() != 0 {
				t.Errorf("%d failed, %d in the books, %d of them the rollout's", failed, len(truth.Drops), truth.RolloutDrops())
			}
		})
	}
}

// What the app itself spoils is in the books as a fault.
func TestFaultsAreInTheBooks(t *testing.T) {
	for _, name := range []string{FrontEdge, FrontDirect} {
		for _, kind := range []string{FaultStatus, FaultTruncate, FaultMaintenance} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := tiny(name)
				s.App.OldFault = Fault{Kind: kind}
				b := startBox(t, s)
				c := dial(t, b.address())
				c.send("/", "a")
				if r, err := c.read(); (err != nil) != (kind == FaultTruncate) {
					t.Errorf("answer %q: %v", r.body, err)
				}
				eventually(t, "the books are closed", func() bool { return b.Truth().InFlight == 0 })
				wantDrops(t, b, "a fault")
				if truth := b.Truth(); truth.RolloutDrops() != 0 {
					t.Error("old's fault is called the rollout's")
				}
			})
		}
	}
}
