package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// failure is what stopped a request, and where.
type failure struct {
	phase sample.Phase
	err   error
}

// aborted tells whether it was the prober that broke the request off, at the run's end.
func (f *failure) aborted(ctx context.Context) bool {
	return ctx.Err() != nil && (errors.Is(f.err, net.ErrClosed) || errors.Is(f.err, context.Canceled))
}

// local are the errors of the prober's own machine: no descriptors, memory,
// ports or addresses.
var local = []error{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE,
}

// noWay are the errors with which the prober's own kernel refuses to connect: no
// route, one that leads nowhere, a rule of its firewall.
var noWay = []error{syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EINVAL, syscall.EACCES, syscall.EPERM}

// classify names a failure that came as an error. answered: bytes of the answer
// had come; reached: a connection to this endpoint was made before.
//
// A timeout is told by its phase, save that of a connect, which has a class of
// its own. An answer that does not parse counts as one that ended early: what
// came is not an answer. "No route to host" is the prober's own trouble until
// the endpoint was once reached; from then on it is the host that has gone.
func classify(f *failure, answered, reached bool) sample.Class {
	switch {
	case f.isLocal(reached):
		return sample.Local
	case f.phase == sample.PhaseDNS:
		return sample.DNS
	case f.phase == sample.PhaseConnect && isTimeout(f.err):
		return sample.ConnectTimeout
	case f.phase == sample.PhaseConnect:
		return sample.ConnectRefused
	case isTimeout(f.err):
		return sample.Timeout
	case f.phase == sample.PhaseTLS:
		return sample.TLS
	case answered:
		return sample.Truncated
	case isTLS(f.err):
		return sample.TLS
	case endOfStream(f.err):
		return sample.EOF
	}
	return sample.Reset
}

func (f *failure) isLocal(reached bool) bool {
	if slices.ContainsFunc(local, func(e error) bool { return errors.Is(f.err, e) }) {
		return true
	}
	switch f.phase {
	case sample.PhaseDNS: // the resolver's errors carry their cause as text alone
		return strings.Contains(f.err.Error(), syscall.EMFILE.Error()) || strings.Contains(f.err.Error(), syscall.ENFILE.Error())
	case sample.PhaseConnect:
		return slices.ContainsFunc(noWay, func(e error) bool { return errors.Is(f.err, e) }) || errors.Is(f.err, syscall.EHOSTUNREACH) && !reached
	}
	return false
}

// isTimeout tells whether a deadline passed, ours or the kernel's.
func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// isTLS tells whether the peer, or this side, broke TLS off. A server that
// wants a certificate of ours says so only after the handshake.
func isTLS(err error) bool {
	var alert *net.OpError
	if errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") {
		return true
	}
	var record tls.RecordHeaderError
	return errors.As(err, &record)
}

// endOfStream tells whether the peer sent FIN.
func endOfStream(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
