package box

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// maxSlow bounds what /slow can be asked for.
const maxSlow = 10 * time.Minute

// answer is what an app says.
type answer struct {
	status int
	kind   string // content type
	body   []byte
	cut    bool   // end the connection in the middle of the body
	fault  string // the fault that spoilt it, "" for none
}

// serve answers the requests of one connection, one after the other.
func (a *app) serve(c net.Conn) {
	defer func() {
		c.Close() //nolint:errcheck // nothing to do about it
		a.mu.Lock()
		a.conns--
		a.mu.Unlock()
		a.poke()
	}()
	r := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if last := a.handle(c, req); last {
			return
		}
	}
}

// handle answers one request and tells whether it was the connection's last.
func (a *app) handle(c net.Conn, req *http.Request) (last bool) {
	early := a.begin()
	defer a.end(early)
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return true
	}
	a.note(Took, req)
	ans := a.answer(req)
	last = req.Close || ans.cut || a.closing()
	a.note(Answering, req)
	if _, err := c.Write(a.encode(req, ans, last)); err != nil {
		return true
	}
	a.note(Answered, req)
	return last
}

// answer waits as long as the answer takes and returns it.
func (a *app) answer(req *http.Request) answer {
	if req.URL.Path == "/slow" {
		d, err := slowFor(req.URL.Query().Get("seconds"))
		if err != nil {
			return a.json(http.StatusBadRequest, map[string]any{"ok": false, "error": err.Error()})
		}
		time.Sleep(d)
		return a.json(http.StatusOK, map[string]any{"ok": true, "slept": d.Seconds()})
	}
	time.Sleep(a.latency())
	good := a.json(http.StatusOK, map[string]any{"ok": true})
	return a.spoil(good)
}

func slowFor(text string) (time.Duration, error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s < 0 || s > maxSlow.Seconds() {
		return 0, fmt.Errorf("seconds must be a number from 0 to %g", maxSlow.Seconds())
	}
	return time.Duration(s * float64(time.Second)), nil
}

// json is an answer that names who gives it.
func (a *app) json(status int, fields map[string]any) answer {
	fields["version"], fields["instance"] = a.cfg.Version, a.cfg.Instance
	body, err := json.Marshal(fields)
	if err != nil { // strings, numbers and booleans: it cannot
		panic(err)
	}
	kind := "application/json"
	if a.cfg.Text {
		kind = "text/plain; charset=utf-8"
	}
	return answer{status: status, kind: kind, body: append(body, '\n')}
}

// encode writes the answer in one piece, so that it leaves in one packet.
func (a *app) encode(req *http.Request, ans answer, last bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", ans.status, http.StatusText(ans.status))
	fmt.Fprintf(&b, "Date: %s\r\n", time.Now().UTC().Format(http.TimeFormat))
	fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", ans.kind, len(ans.body))
	fmt.Fprintf(&b, "X-Version: %s\r\nX-Instance: %s\r\n", a.cfg.Version, a.cfg.Instance)
	if ans.fault != "" {
		fmt.Fprintf(&b, "%s: %s\r\n", faultHeader, ans.fault)
	}
	if last {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	if req.Method == http.MethodHead {
		return b.Bytes()
	}
	if ans.cut {
		ans.body = ans.body[:len(ans.body)/2]
	}
	b.Write(ans.body)
	return b.Bytes()
}
