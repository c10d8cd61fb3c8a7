package probe

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

// maxHead bounds the head of an answer, in bytes.
const maxHead = 1 << 20

var errHeadTooLong = errors.New("the head of the answer is longer than 1 MiB")

// conn is one HTTP/1.1 connection. One goroutine owns it at a time.
type conn struct {
	id        int64 // unique in the run
	raw       *net.TCPConn
	stream    net.Conn // raw, or TLS over it
	in        answerReader
	buf       *bufio.Reader // over in
	sys       syscall.RawConn
	remote    string // address:port
	localPort int
	unhook    func() bool // takes the abort at the run's end off
	requests  int         // sent on it so far
	answered  int64       // when the last answer was in
}

// newConn wraps a connection that was just made, and owns it even where it
// fails. When ctx is done the connection is closed, which ends a read, a write
// or a handshake.
func newConn(ctx context.Context, raw *net.TCPConn, id int64, now func() int64) (*conn, error) {
	k := &conn{id: id, raw: raw, remote: raw.RemoteAddr().String()}
	k.unhook = context.AfterFunc(ctx, func() { _ = raw.Close() })
	if local, ok := raw.LocalAddr().(*net.TCPAddr); ok {
		k.localPort = local.Port
	}
	k.in.now = now
	k.over(raw)
	var err error
	k.sys, err = raw.SyscallConn()
	return k, err
}

// over makes stream what is written to and read from.
func (k *conn) over(stream net.Conn) {
	k.stream, k.in.src = stream, stream
	k.buf = bufio.NewReader(&k.in)
}

// close gives a connection up, without the farewell of TLS: the peer may be
// gone, and a blocked write would hold the owner up.
func (k *conn) close() {
	k.unhook()
	_ = k.raw.Close() // nothing follows from an error
}

// leave closes a connection that is in order.
func (k *conn) leave() {
	k.unhook()
	_ = k.stream.Close() // nothing follows from an error
}

// send writes one request whole.
func (k *conn) send(request []byte) error {
	k.in.begin()
	k.requests++
	_, err := k.stream.Write(request)
	return err
}

// head reads the head of the answer; interim answers (1xx) are passed over.
func (k *conn) head(shape *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(k.buf, shape)
		if err != nil {
			return nil, k.in.because(err)
		}
		interim := resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols
		if !interim {
			k.in.left = math.MaxInt64
			return resp, nil
		}
	}
}

// answerReader is the receiving side of a connection. It notes when the first
// bytes of an answer came, bounds its head, and remembers the stream's end.
type answerReader struct {
	src   io.Reader
	now   func() int64
	first int64 // since begin; 0: nothing came
	left  int64 // bytes that may still be read
	err   error // what ended the stream, nil so far
	last  error // of the last read: parsers tell of half a line and not of why it is half
}

// begin prepares for the answer to a new request.
func (r *answerReader) begin() { r.first, r.left, r.last = 0, maxHead, nil }

func (r *answerReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errHeadTooLong
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	if n > 0 && r.first == 0 {
		r.first = r.now()
	}
	r.left -= int64(n)
	r.last = err
	if err != nil && !isTimeout(err) {
		r.err = err
	}
	return n, err
}

// because is the reason for an error of reading an answer: where the read was
// broken off, by a deadline or by ourselves, that and not what a parser made of
// the half that had come.
func (r *answerReader) because(err error) error {
	if r.last != nil && (isTimeout(r.last) || errors.Is(r.last, net.ErrClosed)) {
		return r.last
	}
	return err
}

// keptBody is how much of a body is kept to take ids from and to look for the
// expected text in, in bytes. What stands behind it is counted and hashed only.
const keptBody = 64 << 10

// scratch is the memory of one request after the other.
type scratch struct {
	request []byte
	body    []byte // the first keptBody bytes of the last answer's body
	buf     [16 << 10]byte
}

// readBody reads a body to its end and returns its length and FNV-1a 64 hash.
func (s *scratch) readBody(body io.Reader) (length int64, hash uint64, err error) {
	const offset, prime = 14695981039346656037, 1099511628211
	hash = offset
	for {
		n, err := body.Read(s.buf[:])
		for _, c := range s.buf[:n] {
			hash = (hash ^ uint64(c)) * prime
		}
		length += int64(n)
		s.body = append(s.body, s.buf[:min(n, keptBody-len(s.body))]...)
		if err == io.EOF {
			return length, hash, nil
		}
		if err != nil {
			return length, hash, err
		}
	}
}

// soon is a deadline that lets a read see what is there already. One in the
// past would fail before it looked.
func soon() time.Time { return time.Now().Add(time.Millisecond) }
