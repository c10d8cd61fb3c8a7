package box

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	firstHeadWait = 2 * time.Second  // for the request of a connection that is about to be reset: a busy client may be slow to send it
	slurpWait     = time.Millisecond // for requests that crossed an upstream's reset
	halfOpenWait  = 5 * time.Second  // for the client to close after the upstream did
)

// direct is a front like a Kubernetes Service: it chooses an endpoint for
// every new connection, from a list that lags behind the truth, and copies
// bytes. It only looks on at the requests that go by.
type direct struct {
	pool      *pool
	ledger    *ledger
	incidents *incidents
	noise     float64

	mu     sync.Mutex
	rng    *rand.Rand
	closed bool
	ln     net.Listener
	conns  map[net.Conn]struct{}
	wg     sync.WaitGroup
}

func newDirect(s Scene, p *pool, l *ledger, x *incidents) *direct {
	return &direct{
		pool:      p,
		ledger:    l,
		incidents: x,
		noise:     s.Noise,
		rng:       rand.New(rand.NewPCG(uint64(s.Seed), 4)),
		conns:     map[net.Conn]struct{}{},
	}
}

func (d *direct) serve(ln net.Listener) error {
	d.mu.Lock()
	d.ln = ln
	d.mu.Unlock()
	for {
		c, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		if !d.track(c) {
			return net.ErrClosed
		}
		go func() {
			defer d.untrack(c)
			d.connect(c.(*net.TCPConn))
		}()
	}
}

// close ends every connection and waits until nothing of the front runs.
func (d *direct) close() error {
	d.mu.Lock()
	d.closed = true
	var errs []error
	if d.ln != nil {
		errs = append(errs, d.ln.Close())
	}
	for c := range d.conns {
		errs = append(errs, c.Close())
	}
	d.mu.Unlock()
	d.wg.Wait()
	err := errors.Join(errs...)
	if errors.Is(err, net.ErrClosed) {
		return nil // it was just closing by itself
	}
	return err
}

// track holds a connection for close; it is false once the front is closed.
func (d *direct) track(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		c.Close() //nolint:errcheck // unused
		return false
	}
	d.conns[c] = struct{}{}
	d.wg.Add(1)
	return true
}

func (d *direct) untrack(c net.Conn) {
	c.Close() //nolint:errcheck // often closed already
	d.mu.Lock()
	delete(d.conns, c)
	d.mu.Unlock()
	d.wg.Done()
}

// connect finds an endpoint for a client's connection and copies.
func (d *direct) connect(client *net.TCPConn) {
	in := d.pool.pick("")
	if in == nil {
		d.refuse(client, nil, DropNoInstance)
		return
	}
	up, err := net.DialTimeout("tcp", in.addr, 2*time.Second)
	if err != nil {
		d.refuse(client, in, DropRefused)
		return
	}
	if !d.track(up) {
		return
	}
	defer d.untrack(up)
	d.incidents.marks.set(MarkStart)
	newLink(d, client, up.(*net.TCPConn), in).run()
}

// refuse resets a connection that has nowhere to go, once the request that it
// was made for is known: a real Service would have refused the connection
// itself, which a process in front of it cannot.
func (d *direct) refuse(client *net.TCPConn, in *instance, kind string) {
	port := clientPort(client.RemoteAddr().String())
	known := false
	requests := scanner{end: func() {}, head: func(head []byte) (int64, bool) {
		req, ok := requestHead(head)
		if !ok {
			return 0, false
		}
		known = true
		d.ledger.finish(d.ledger.arrive(requestID(req.Header), port, isSlow(req.URL.Path), in), dropped, kind)
		return req.ContentLength, true
	}}
	deadline(client, firstHeadWait)
	buf := make([]byte, 4096)
	for !known && !requests.lost {
		n, err := client.Read(buf)
		requests.feed(buf[:n])
		if err != nil {
			break
		}
	}
	if !known {
		d.ledger.resetUnread(port)
	}
	reset(client)
}

func (d *direct) noisy() bool {
	if d.noise == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64() < d.noise
}

// reset closes a connection with RST. A connection that is closed already is as good.
func reset(c *net.TCPConn) {
	if err := c.SetLinger(0); err != nil {
		return
	}
	c.Close() //nolint:errcheck // see above
}

// deadline bounds reads from now on. It fails only on a closed connection,
// whose next read fails by itself.
func deadline(c *net.TCPConn, d time.Duration) {
	c.SetReadDeadline(time.Now().Add(d)) //nolint:errcheck // see above
}
