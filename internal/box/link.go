package box

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// link is one client connection and the upstream connection that it goes on to.
type link struct {
	front      *direct
	client, up *net.TCPConn
	inst       *instance
	port       int

	made                time.Time
	sent                int // requests; only the client's side counts them
	requests, responses scanner

	delivering sync.Mutex // held from the write of a piece of an answer until it is in the books

	mu      sync.Mutex
	ended   bool      // by either side: what comes now was not answered
	left    bool      // it was the client
	pending []pending // requests that are not answered, in order
	fault   string    // of the answer that is under way
	struck  *Incident // by the last request; nil: none
}

type pending struct {
	entry  *entry
	method string
}

func newLink(d *direct, client, up *net.TCPConn, in *instance) *link {
	l := &link{front: d, client: client, up: up, inst: in, port: clientPort(client.RemoteAddr().String()), made: time.Now()}
	l.requests = scanner{head: l.requestSeen, end: func() {}}
	l.responses = scanner{head: l.responseSeen, end: l.responseWhole}
	return l
}

// run copies both ways until both sides are done.
func (l *link) run() {
	clientDone := make(chan struct{})
	go func() {
		defer close(clientDone)
		l.fromClient()
	}()
	err := l.fromUpstream()
	if l.end(false) {
		l.passEnd(err, clientDone)
	}
	<-clientDone
}

// passEnd ends the client's connection the way that the upstream's ended. It
// reads on for a while, to know the requests that crossed.
func (l *link) passEnd(err error, clientDone <-chan struct{}) {
	if errors.Is(err, io.EOF) {
		deadline(l.client, halfOpenWait)
		if l.client.CloseWrite() == nil {
			return
		}
	}
	deadline(l.client, slurpWait)
	<-clientDone
	l.front.ledger.resetUnread(l.port)
	reset(l.client)
}

func (l *link) fromClient() {
	buf := make([]byte, 16<<10)
	for {
		n, err := l.client.Read(buf)
		l.requests.feed(buf[:n])
		if n > 0 && l.front.noisy() && l.lose() {
			return
		}
		if i := l.incident(); i != nil {
			l.suffer(i)
			return
		}
		if n > 0 && !l.over() {
			// A failure shows on the other side, which ends the link.
			l.up.Write(buf[:n]) //nolint:errcheck // see above
		}
		if err != nil {
			l.delivering.Lock() // a client may leave with the answer's last byte
			first := l.end(true)
			l.delivering.Unlock()
			if first {
				l.up.Close() //nolint:errcheck // nobody waits for it
			}
			return
		}
	}
}

// fromUpstream returns how the upstream's connection ended.
func (l *link) fromUpstream() error {
	buf := make([]byte, 16<<10)
	for {
		n, err := l.up.Read(buf)
		if n > 0 {
			if werr := l.deliver(buf[:n]); werr != nil {
				l.end(true)
				return werr
			}
		}
		if err != nil {
			return err
		}
	}
}

func (l *link) deliver(p []byte) error {
	l.delivering.Lock()
	defer l.delivering.Unlock()
	_, err := l.client.Write(p)
	if err == nil {
		l.responses.feed(p)
	}
	return err
}

// end closes the books of the link, once: what is pending was cut where the
// upstream ended it, and is gone where the client left. It tells whether this
// call was the one.
func (l *link) end(left bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.ended, l.left = true, left
	for _, p := range l.pending {
		if left {
			l.front.ledger.finish(p.entry, gone, "")
		} else if l.fault != "" {
			l.front.ledger.finish(p.entry, dropped, DropFault)
		} else {
			l.front.ledger.finish(p.entry, dropped, DropCut)
		}
	}
	l.pending = nil
	return true
}

func (l *link) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// lose drops the request that just came, as a front's own trouble would. It is
// false where the link is over.
func (l *link) lose() bool {
	l.mu.Lock()
	if l.ended || len(l.pending) == 0 {
		l.mu.Unlock()
		return false
	}
	for _, p := range l.pending {
		l.front.ledger.finish(p.entry, dropped, DropNoise)
	}
	l.mu.Unlock()
	l.end(false)
	reset(l.client)
	l.up.Close() //nolint:errcheck // given up
	return true
}

func (l *link) incident() *Incident {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.struck
}

// suffer ends the link as the incident has it that struck its last request.
func (l *link) suffer(i *Incident) {
	defer l.up.Close() //nolint:errcheck // given up
	l.end(false)
	switch i.Kind {
	case IncidentReset:
		reset(l.client)
	case IncidentEOF:
		l.waitForClient(time.Duration(i.Hang))
		l.client.Close() //nolint:errcheck // the client may have left
	case IncidentHang:
		l.waitForClient(time.Hour)
	}
}

// waitForClient waits until the client leaves, or so long.
func (l *link) waitForClient(d time.Duration) {
	if d == 0 {
		return
	}
	deadline(l.client, d)
	io.Copy(io.Discard, l.client) //nolint:errcheck // its end, or the deadline, is what is waited for
}

func (l *link) requestSeen(head []byte) (int64, bool) {
	req, ok := requestHead(head)
	if !ok {
		return 0, false
	}
	e := l.front.ledger.arrive(requestID(req.Header), l.port, isSlow(req.URL.Path), l.inst)
	q := asked{slow: isSlow(req.URL.Path), before: l.sent, made: l.made, inst: l.inst}
	l.sent++
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.left:
		l.front.ledger.finish(e, gone, "")
	case l.ended:
		l.front.ledger.finish(e, dropped, DropCrossed)
	default:
		if l.struck = l.front.incidents.strike(q, IncidentReset, IncidentEOF, IncidentHang); l.struck != nil {
			l.front.ledger.suffer(e, l.struck)
			return req.ContentLength, true
		}
		l.front.ledger.reach(e)
		l.pending = append(l.pending, pending{e, req.Method})
	}
	return req.ContentLength, true
}

func (l *link) responseSeen(head []byte) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	method := http.MethodGet
	if len(l.pending) > 0 {
		method = l.pending[0].method
	}
	resp, ok := responseHead(head, method)
	if !ok {
		return 0, false
	}
	l.fault = resp.Header.Get(faultHeader)
	return resp.ContentLength, true
}

func (l *link) responseWhole() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return
	}
	e := l.pending[0].entry
	l.pending = l.pending[1:]
	if l.fault != "" {
		l.front.ledger.finish(e, dropped, DropFault)
	} else {
		l.front.ledger.finish(e, answered, "")
	}
	l.fault = ""
}
