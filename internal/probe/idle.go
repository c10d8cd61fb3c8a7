package probe

import (
	"crypto/tls"
	"time"
)

// gone tells, before a request is written, whether the peer has ended this idle
// connection: by FIN or RST, by a close_notify of TLS, or by saying something
// that nobody asked for (a 408, say). What crosses the write is not seen, and
// is the analysis's to tell (an idle race).
func (k *conn) gone() bool {
	if k.in.err != nil || k.buf.Buffered() > 0 {
		return true
	}
	ended, waiting := k.glance()
	if ended || !waiting {
		return ended
	}
	if _, encrypted := k.stream.(*tls.Conn); !encrypted {
		return true // data out of turn
	}
	// Records of TLS need not be data: session tickets come at any time.
	return k.readable()
}

// readable tells whether a read would return at once, with data or the stream's end.
func (k *conn) readable() bool {
	if err := k.raw.SetReadDeadline(soon()); err != nil {
		return true
	}
	k.in.begin()
	if _, err := k.buf.Peek(1); err == nil || !isTimeout(err) {
		return true
	}
	return k.raw.SetReadDeadline(time.Time{}) != nil
}
