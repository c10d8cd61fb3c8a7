package box

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"time"
)

// edge is a front like App Platform's: the client's connections end here, and
// every request gets an upstream connection of its own, so that nothing below
// can repeat it. An instance's end is answered for it.
type edge struct {
	pool      *pool
	ledger    *ledger
	incidents *incidents
	marks     *marks
	noise     float64
	retry     bool
	unsized   bool
	origin    string // uuid of the app
	cache     cache

	mu  sync.Mutex
	rng *rand.Rand

	transport *http.Transport
	server    *http.Server
}

func newEdge(s Scene, p *pool, l *ledger, x *incidents) *edge {
	e := &edge{
		pool:      p,
		ledger:    l,
		incidents: x,
		marks:     x.marks,
		noise:     s.Noise,
		retry:     s.Retry,
		unsized:   s.Unsized,
		rng:       rand.New(rand.NewPCG(uint64(s.Seed), 3)),
		transport: &http.Transport{
			DisableKeepAlives:  true, // a new connection is never retried
			DisableCompression: true,
			DialContext:        (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		},
	}
	e.origin = uuid(e.rng)
	e.server = &http.Server{
		Handler: e, ReadHeaderTimeout: 30 * time.Second,
		ConnContext: withClient,
		ErrorLog:    log.New(io.Discard, "", 0), // handshakes that the scene means to fail
	}
	return e
}

func (e *edge) serve(ln net.Listener) error { return e.server.Serve(ln) }

func (e *edge) close() error { return e.server.Close() }

// ServeHTTP sends the request on to an instance and its answer back.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.marks.set(MarkStart)
	q := clientOf(r).ask(isSlow(r.URL.Path))
	entry := e.ledger.arrive(requestID(r.Header), clientPort(r.RemoteAddr), q.slow, nil)
	e.brand(w.Header())
	if i := e.incidents.strike(q, IncidentHold); i != nil && e.incidents.over(r.Context(), i) != nil {
		e.ledger.finish(entry, gone, "")
		return
	}
	q.inst = e.pool.pick(r.URL.Path)
	e.ledger.sendTo(entry, q.inst)
	if e.chance(e.noise) {
		e.ledger.finish(entry, dropped, DropNoise)
		e.fail(w, edgeError{status: http.StatusBadGateway})
		return
	}
	if i := e.incidents.strike(q, IncidentDelay); i != nil && sleep(r.Context(), time.Duration(i.Delay)) != nil {
		e.ledger.finish(entry, gone, "")
		return
	}
	if i := e.incidents.strike(q, inPlace...); i != nil {
		e.suffer(w, r, entry, i)
		return
	}
	if q.inst == nil {
		e.ledger.finish(entry, dropped, DropNoInstance)
		e.fail(w, noHealthyUpstream)
		return
	}
	resp, err := e.forward(r, q.inst, entry)
	if err != nil && e.retry && r.Context().Err() == nil {
		resp, err = e.again(r, entry, q.inst)
	}
	if err != nil {
		e.failed(w, r, entry)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or cut anyway
	e.passOn(w, r, resp, entry, e.incidents.strike(q, IncidentTruncate))
}

// again sends a request that one instance lost to another, as a proxy does that
// repeats what is safe to repeat, or what it takes for it.
func (e *edge) again(r *http.Request, entry *entry, lost *instance) (*http.Response, error) {
	for range 10 {
		in := e.pool.pick(r.URL.Path)
		if in != nil && in != lost {
			e.ledger.sendTo(entry, in)
			return e.forward(r, in, entry)
		}
	}
	return nil, errors.New("there is no other instance")
}

// forward sends the request once, on a connection of its own.
func (e *edge) forward(r *http.Request, in *instance, entry *entry) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { e.ledger.reach(entry) },
	})
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host = "http", in.addr
	out.Header.Del("Connection")
	return e.transport.RoundTrip(out)
}

// failed answers for an instance that did not.
func (e *edge) failed(w http.ResponseWriter, r *http.Request, entry *entry) {
	switch {
	case r.Context().Err() != nil:
		e.ledger.finish(entry, gone, "")
	case e.ledger.hasReached(entry):
		e.ledger.finish(entry, dropped, DropCut)
		e.fail(w, upstreamReset)
	default:
		e.ledger.finish(entry, dropped, DropRefused)
		e.fail(w, connectFailure)
	}
}

// passOn hands the app's answer on as it comes; cut, where it is not nil, ends
// it in the middle.
func (e *edge) passOn(w http.ResponseWriter, r *http.Request, resp *http.Response, entry *entry, cut *Incident) {
	if r.Context().Err() != nil {
		e.ledger.finish(entry, gone, "")
		return
	}
	for name, values := range resp.Header {
		if name != "Connection" && !(e.unsized && name == "Content-Length") {
			w.Header()[name] = values
		}
	}
	if cut != nil {
		e.passHalf(w, resp, entry, cut)
		return
	}
	w.WriteHeader(resp.StatusCode)
	_, err := io.Copy(w, resp.Body)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	fault := resp.Header.Get(faultHeader)
	switch {
	case fault != "":
		e.ledger.finish(entry, dropped, DropFault)
	case err != nil:
		e.ledger.finish(entry, dropped, DropCut)
	default:
		e.ledger.finish(entry, answered, "")
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the client must see that the body is not whole
	}
}

// brand adds what every answer of this edge carries.
func (e *edge) brand(h http.Header) {
	e.mu.Lock()
	ray := e.rng.Uint64()
	e.mu.Unlock()
	h.Set("Server", "cloudflare")
	h.Set("Cf-Ray", fmt.Sprintf("%016x-FRA", ray))
	h.Set("Cf-Cache-Status", "DYNAMIC")
	h.Set("X-Do-App-Origin", e.origin)
}

func (e *edge) fail(w http.ResponseWriter, f edgeError) {
	if f.failureCode != "" {
		w.Header().Set("X-Do-Orig-Status", strconv.Itoa(f.origStatus))
		w.Header().Set("X-Do-Failure-Code", f.failureCode)
	}
	page := f.page()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(f.status)
	if _, err := io.WriteString(w, page); err != nil {
		return // recorded as dropped already
	}
}

func (e *edge) chance(p float64) bool {
	if p == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rng.Float64() < p
}

func isSlow(path string) bool { return strings.HasPrefix(path, "/slow") }

// clientPort is the port of "address:port", 0 where it has none.
func clientPort(address string) int {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return port
}
