package probe

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
)

// Request headers that carry the request's id. Some proxies set the first
// anew, so both are sent.
const (
	requestIDHeader = "X-Request-Id"
	ownIDHeader     = "X-Cutwatch-Id"
)

// message is a request to one address as bytes, ready but for its id.
type message struct {
	prefix, between, suffix []byte
	shape                   *http.Request // what http.ReadResponse must know of it
	asked                   *url.URL      // as the service sees it
}

// newMessage writes the request. The headers given replace those that are sent
// by default; config has checked that they leave the framing and the ids alone.
func newMessage(u *url.URL, method string, headers config.Headers, body string) *message {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, requestTarget(u))
	for _, h := range []config.Header{{Name: "Host", Value: u.Host}, {Name: "User-Agent", Value: "cutwatch"}, {Name: "Accept", Value: "*/*"}} {
		given := func(other config.Header) bool { return strings.EqualFold(other.Name, h.Name) }
		if !slices.ContainsFunc(headers, given) {
			fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
		}
	}
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if body != "" || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	asked := *u
	for _, h := range headers {
		if strings.EqualFold(h.Name, "Host") {
			asked.Host = h.Value
		}
	}
	return &message{
		asked:   &asked,
		prefix:  []byte(b.String() + requestIDHeader + ": "),
		between: []byte("\r\n" + ownIDHeader + ": "),
		suffix:  []byte("\r\n\r\n" + body),
		shape:   &http.Request{Method: method},
	}
}

// appendTo appends the request with that id to b.
func (m *message) appendTo(b []byte, id string) []byte {
	b = append(append(b, m.prefix...), id...)
	b = append(append(b, m.between...), id...)
	return append(b, m.suffix...)
}

// requestTarget is the path and query as they go on the wire. net/url leaves a
// query as it was written; a space in it would end the target.
func requestTarget(u *url.URL) string {
	var b strings.Builder
	for _, c := range []byte(u.RequestURI()) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
