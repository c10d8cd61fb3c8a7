package probe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// broken tells whether a body is not whole by its own grammar: JSON that does
// not parse, HTML without its end. Some services always answer so (fragments of
// HTML, an empty body called JSON); whether it is unusual is the analysis's to
// tell. body is all of the body. What cannot be read here, or has no body by
// nature, is not judged: it is not broken.
func broken(method string, resp *http.Response, body []byte) bool {
	if method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified || resp.StatusCode < 200 {
		return false
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return false
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case kind == "text/html":
		return !endsHTML(body)
	case kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"):
		return !json.Valid(bytes.TrimPrefix(body, []byte("\ufeff")))
	}
	return false
}

var htmlEnd = []byte("</html>")

// endsHTML tells whether nothing but white space and whole comments stands
// behind the last </html>.
func endsHTML(body []byte) bool {
	for {
		body = bytes.TrimRight(body, " \t\r\n\f")
		if !bytes.HasSuffix(body, []byte("-->")) {
			break
		}
		begin := bytes.LastIndex(body, []byte("<!--"))
		if begin < 0 {
			return false
		}
		body = body[:begin]
	}
	n := len(body) - len(htmlEnd)
	return n >= 0 && bytes.EqualFold(body[n:], htmlEnd)
}
