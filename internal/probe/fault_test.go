package probe

import (
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A panic in a goroutine of any kind ends the run with an error.
func TestFault(t *testing.T) {
	for name, breaks := range map[string]func(l sample.Line) bool{
		"kept":      func(l sample.Line) bool { return l.Sample != nil && l.Sample.Lane == sample.Kept },
		"fresh":     func(l sample.Line) bool { return l.Sample != nil && l.Sample.Lane == sample.Fresh },
		"slow":      func(l sample.Line) bool { return l.Sample != nil && l.Sample.Lane == sample.Slow },
		"follow-up": func(l sample.Line) bool { return l.FollowUp != nil },
		"skips":     func(l sample.Line) bool { return l.Skip != nil },
	} {
		t.Run(name, func(t *testing.T) {
			given := settings{"url": answering(t, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), "rate": "100/s", "connections": "2",
				"slow-url": answering(t, okAnswer) + "/slow", "slow-interval": "50ms"}
			if name == "skips" {
				given["rate"], given["url"] = "1000/s", server(t, func(c *net.TCPConn) { hold(c) })
			}
			var calls atomic.Int64
			p, err := New(newConfig(t, given), "test", time.Now(), func(l sample.Line) {
				if calls.Add(1) > 1 && breaks(l) { // not at once
					panic("out of paper")
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			finished := make(chan error, 1)
			go func() { finished <- p.Run(t.Context()) }()
			checkFault(t, finished)
		})
	}
}

// What broke may have left a lock behind that every other goroutine waits for.
func TestFaultThatHoldsALock(t *testing.T) {
	var mu sync.Mutex
	var held atomic.Bool
	p, err := New(newConfig(t, settings{"url": answering(t, okAnswer), "rate": "200/s", "connections": "2"}), "test", time.Now(), func(sample.Line) {
		mu.Lock()
		held.Store(true)
		panic("out of paper")
	})
	if err != nil {
		t.Fatal(err)
	}
	finished := make(chan error, 1)
	go func() { finished <- p.Run(t.Context()) }()
	checkFault(t, finished)
	if !held.Load() {
		t.Fatal("nothing was recorded")
	}
	mu.Unlock() // the others go on, to the same end
}

// checkFault waits for the error of a Run that nobody told to end.
func checkFault(t *testing.T, finished <-chan error) {
	t.Helper()
	select {
	case err := <-finished:
		fault, ok := errors.AsType[*Fault](err)
		if !ok {
			t.Fatalf("error %v, want a fault", err)
		}
		if fault.Panic != "out of paper" || !strings.Contains(string(fault.Stack), "fault_test.go") {
			t.Errorf("fault of %v at\n%s", fault.Panic, fault.Stack)
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		if !strings.Contains(first, "out of paper") || !strings.Contains(first, "please report it") || !strings.Contains(err.Error(), "fault_test.go") {
			t.Errorf("error %q", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the run goes on")
	}
}
