package box

import (
	"bufio"
	"bytes"
	"net/http"
)

// maxHead bounds the head of a message that a scanner keeps.
const maxHead = 64 << 10

// scanner follows one direction of a raw HTTP/1.1 connection, fed as the bytes
// go by, and tells where messages begin and end. It knows bodies of a given
// length and none; from anything else on (chunks, garbage) it is lost, which
// ends no message: what cannot be seen whole was not delivered whole.
type scanner struct {
	head func(head []byte) (length int64, ok bool) // a head went by; the length of its body
	end  func()                                    // a message is whole

	buf  []byte
	left int64 // of the body
	lost bool
}

func (s *scanner) feed(p []byte) {
	for !s.lost && (len(p) > 0 || s.left > 0) {
		if s.left > 0 {
			n := min(int64(len(p)), s.left)
			s.left -= n
			p = p[n:]
			if s.left > 0 {
				return
			}
			s.end()
			continue
		}
		p = s.feedHead(p)
	}
}

// feedHead takes bytes up to the end of a head and returns the rest.
func (s *scanner) feedHead(p []byte) []byte {
	seen := max(0, len(s.buf)-3) // the blank line may straddle two reads
	before := len(s.buf)
	s.buf = append(s.buf, p...)
	i := bytes.Index(s.buf[seen:], []byte("\r\n\r\n"))
	if i < 0 {
		s.lost = len(s.buf) > maxHead
		return nil
	}
	size := seen + i + 4
	rest := p[size-before:]
	length, ok := s.head(s.buf[:size])
	s.buf = s.buf[:0]
	switch {
	case !ok:
		s.lost = true
	case length == 0:
		s.end()
	default:
		s.left = length
	}
	return rest
}

// requestHead reads a request's head.
func requestHead(head []byte) (*http.Request, bool) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err != nil || req.ContentLength < 0 {
		return nil, false
	}
	return req, true
}

// responseHead reads the head of an answer to a request of the method.
func responseHead(head []byte, method string) (*http.Response, bool) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: method})
	if err != nil {
		return nil, false
	}
	if method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		resp.ContentLength = 0
	}
	return resp, resp.ContentLength >= 0
}

// requestID is the id that a request carries, "" for none.
func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" {
		return id
	}
	return h.Get("X-Cutwatch-Id")
}
