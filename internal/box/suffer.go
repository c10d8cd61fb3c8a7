package box

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// inPlace are the incidents that answer in an instance's place.
var inPlace = []string{IncidentStatus, IncidentReset, IncidentEOF, IncidentHang, IncidentReplace, IncidentRedirect, IncidentCache}

// client is one client's connection to the edge.
type client struct {
	made time.Time

	mu   sync.Mutex
	sent int
}

type clientKey struct{}

func withClient(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, clientKey{}, &client{made: time.Now()})
}

func clientOf(r *http.Request) *client { return r.Context().Value(clientKey{}).(*client) }

// ask counts a request and says of it what an incident asks.
func (c *client) ask(slow bool) asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	return asked{slow: slow, before: c.sent - 1, made: c.made}
}

// suffer answers a request as an incident has it.
func (e *edge) suffer(w http.ResponseWriter, r *http.Request, entry *entry, i *Incident) {
	switch i.Kind {
	case IncidentCache:
		e.fromCache(w, r, entry)
		return
	case IncidentReset, IncidentEOF:
		if i.Hang > 0 && sleep(r.Context(), time.Duration(i.Hang)) != nil {
			e.ledger.finish(entry, gone, "")
			return
		}
		e.ledger.suffer(entry, i)
		endConnection(w, i.Kind == IncidentReset)
		return
	}
	e.ledger.suffer(entry, i)
	switch i.Kind {
	case IncidentHang:
		<-r.Context().Done()
	case IncidentRedirect:
		e.sign(w.Header(), i, entry.inst)
		w.Header().Set("Location", r.URL.RequestURI())
		w.WriteHeader(http.StatusFound)
	case IncidentReplace:
		page(w, e.sign(w.Header(), i, entry.inst), http.StatusOK, i, maintenancePage)
	case IncidentStatus:
		status := i.Status
		text := edgeError{status: status}.page()
		if i.As == AsApp {
			text = fmt.Sprintf(`{"ok":false,"status":%d}`, status)
			w.Header().Set("Content-Type", "application/json")
		}
		page(w, e.sign(w.Header(), i, entry.inst), status, i, text)
	}
}

const maintenancePage = "<!DOCTYPE html>\n<html><head><title>Back soon</title></head><body><p>Down for maintenance.</p></body></html>\n"

// sign makes an answer seem to come from whom the incident says.
func (e *edge) sign(h http.Header, i *Incident, in *instance) http.Header {
	switch {
	case i.As == AsNobody:
		for _, name := range []string{"Server", "Cf-Ray", "Cf-Cache-Status", "X-Do-App-Origin"} {
			h.Del(name)
		}
	case i.As == AsApp && in != nil:
		h.Set("X-Version", in.version)
		h.Set("X-Instance", in.id)
	}
	for name, value := range i.Headers {
		h.Set(name, value)
	}
	return h
}

// page writes a whole answer. A client that has left needs none.
func page(w http.ResponseWriter, h http.Header, status int, i *Incident, text string) {
	if i.Body != "" {
		text = i.Body
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/html; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	io.WriteString(w, text) //nolint:errcheck // see above
}

// endConnection ends the client's connection without an answer.
func endConnection(w http.ResponseWriter, hard bool) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // the edge speaks HTTP/1.1 alone, and answers once
		panic(err)
	}
	if tcp, ok := c.(*net.TCPConn); ok && hard {
		reset(tcp)
		return
	}
	c.Close() //nolint:errcheck // the client may have left
}

// passHalf hands on the first half of an answer's body.
func (e *edge) passHalf(w http.ResponseWriter, resp *http.Response, entry *entry, cut *Incident) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		e.ledger.finish(entry, dropped, DropCut)
		panic(http.ErrAbortHandler)
	}
	if cut.How == CutSilent {
		w.Header().Del("Content-Length")
	}
	e.ledger.suffer(entry, cut)
	w.WriteHeader(resp.StatusCode)
	_, err := w.Write(body.Bytes()[:body.Len()/2])
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err != nil || cut.How == CutVisible {
		panic(http.ErrAbortHandler)
	}
}

// cache is one answer that the edge keeps.
type cache struct {
	mu     sync.Mutex
	stored time.Time
	head   http.Header
	body   []byte
	by     *instance
}

// fromCache answers from the cache. The first request fills it.
func (e *edge) fromCache(w http.ResponseWriter, r *http.Request, entry *entry) {
	c := &e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		in := entry.inst
		if in == nil {
			e.ledger.finish(entry, dropped, DropNoInstance)
			e.fail(w, noHealthyUpstream)
			return
		}
		resp, err := e.forward(r, in, entry)
		if err != nil {
			e.failed(w, r, entry)
			return
		}
		defer resp.Body.Close() //nolint:errcheck // read to its end
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			e.failed(w, r, entry)
			return
		}
		c.by, c.body, c.head, c.stored = in, body, resp.Header, time.Now()
	} else {
		w.Header().Set("Cf-Cache-Status", "HIT")
		w.Header().Set("Age", strconv.Itoa(int(time.Since(c.stored).Seconds())))
	}
	for name, values := range c.head {
		w.Header()[name] = values
	}
	e.ledger.finish(entry, answered, "")
	w.Write(c.body) //nolint:errcheck // a client that has left needs none
}
