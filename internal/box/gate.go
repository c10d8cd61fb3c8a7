package box

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// gate is a listener that can go away for a while, and come back at the same
// address, or stay and take nothing.
type gate struct {
	addr string

	mu      sync.Mutex
	ln      *net.TCPListener // nil while nothing listens
	changed chan struct{}    // closed and made anew with every change
	stalled bool
	closed  bool
}

// The gate's port is none that the kernel gives to a connection on its way out:
// one of those could take it while nothing listens, or even connect to itself.
const (
	gateLow, gateHigh = 20000, 32000
	gateTries         = 50
)

// newGate listens on a port of 127.0.0.1.
func newGate(rng *rand.Rand) (*gate, error) {
	var err error
	for range gateTries {
		g := &gate{addr: fmt.Sprintf("127.0.0.1:%d", gateLow+rng.IntN(gateHigh-gateLow)), changed: make(chan struct{})}
		if g.ln, err = listen(g.addr); err == nil {
			return g, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, err
}

func listen(addr string) (*net.TCPListener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

// Backlogs of a gate that takes connections, and of one that does not.
const (
	roomy  = 1024
	narrow = 0
)

// Accept waits for a connection through every absence of the listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		g.mu.Lock()
		ln, changed, stalled, closed := g.ln, g.changed, g.stalled, g.closed
		g.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case ln == nil || stalled:
			<-changed
			continue
		}
		c, err := ln.Accept()
		if err == nil {
			return c, nil
		}
		g.mu.Lock()
		same := g.ln == ln && !g.stalled && !g.closed
		g.mu.Unlock()
		if same && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
	}
}

// Addr is where it listens.
func (g *gate) Addr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", g.addr)
	if err != nil { // it was listened on
		panic(err)
	}
	return addr
}

// Close ends it.
func (g *gate) Close() error {
	return g.change(func() error {
		g.closed = true
		if g.ln == nil {
			return nil
		}
		return g.ln.Close()
	})
}

func (g *gate) change(do func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return net.ErrClosed
	}
	close(g.changed)
	g.changed = make(chan struct{})
	return do()
}

// away stops listening until ctx is done or over returns.
func (g *gate) away(over func()) error {
	err := g.change(func() error {
		err := g.ln.Close()
		g.ln = nil
		return err
	})
	if err != nil {
		return err
	}
	over()
	return g.change(func() (err error) {
		g.ln, err = listen(g.addr)
		return err
	})
}

// stall takes no connection until over returns: the few that the kernel keeps
// for it are its own, so that the first packet of every other is dropped.
func (g *gate) stall(ctx context.Context, over func()) error {
	var fill []net.Conn
	err := g.change(func() error {
		g.stalled = true
		if err := errors.Join(g.ln.SetDeadline(time.Now()), g.backlog(narrow)); err != nil {
			return err
		}
		d := net.Dialer{Timeout: 100 * time.Millisecond}
		late := 0
		for range 8 {
			c, err := d.DialContext(ctx, "tcp", g.addr)
			switch {
			case err == nil:
				late, fill = 0, append(fill, c)
			case late == 1:
				return nil // it is full; one alone may be this machine's delay
			default:
				late++
			}
		}
		return errors.New("box: the gate took connections that nobody accepts")
	})
	defer func() {
		for _, c := range fill {
			c.Close() //nolint:errcheck // never used
		}
	}()
	if err != nil {
		return err
	}
	over()
	return g.change(func() error {
		g.stalled = false
		return errors.Join(g.backlog(roomy), g.ln.SetDeadline(time.Time{}))
	})
}

func (g *gate) backlog(n int) error {
	raw, err := g.ln.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { setBacklog(int(fd), n) })
}

// setBacklog changes a listening socket's room. It fails only on what is none.
func setBacklog(fd, n int) {
	if err := syscall.Listen(fd, n); err != nil {
		panic(fmt.Sprintf("box: listen: %v", err))
	}
}
