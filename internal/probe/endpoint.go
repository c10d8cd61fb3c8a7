package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// endpoint is one scheme, host and port to connect to.
type endpoint struct {
	name    string // host:port, for messages
	port    uint16
	names   *resolver
	tls     *tls.Config // nil: plain
	reached atomic.Bool // a connection to it was made in this run
}

// newEndpoint reads the endpoint of a URL that config has checked.
func newEndpoint(u *url.URL, cfg *config.Config) (*endpoint, error) {
	host := u.Hostname()
	for _, c := range host {
		if c >= 0x80 {
			return nil, fmt.Errorf("host %q is not in ASCII: write its xn-- form", host)
		}
	}
	encrypted := u.Scheme == "https"
	port := uint64(80)
	if encrypted {
		port = 443
	}
	if p := u.Port(); p != "" {
		var err error
		if port, err = strconv.ParseUint(p, 10, 16); err != nil {
			return nil, fmt.Errorf("port %q: write a number from 1 to 65535", p)
		}
	}
	e := &endpoint{name: net.JoinHostPort(host, strconv.FormatUint(port, 10)), port: uint16(port), names: newResolver(host)}
	if !encrypted {
		return e, nil
	}
	pool, err := cfg.CertPool()
	if err != nil {
		return nil, err
	}
	e.tls = &tls.Config{
		ServerName:         host,
		RootCAs:            pool,
		InsecureSkipVerify: cfg.InsecureSkipVerify,
		NextProtos:         []string{"http/1.1"},
	}
	return e, nil
}

// preflightTimeout is the time that one address gets to accept a connection.
const preflightTimeout = 5 * time.Second

// preflight tries the host's addresses in order until one accepts a connection,
// whose family is then the run's. Its error tells all that was tried.
func (e *endpoint) preflight(ctx context.Context) error {
	addrs, err := e.names.all(ctx)
	if err != nil {
		return fmt.Errorf("find the address of %s: %w", e.name, err)
	}
	var tried []string
	for _, addr := range addrs {
		c, err := dial(ctx, net.Dialer{Timeout: preflightTimeout}, netip.AddrPortFrom(addr, e.port))
		if err == nil {
			e.connected(addr)
			return c.Close()
		}
		tried = append(tried, err.Error())
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("nothing accepts a connection at %s, tried: %s", e.name, strings.Join(tried, "; "))
}

// dial makes a connection from an address and port that the kernel chooses.
func dial(ctx context.Context, d net.Dialer, target netip.AddrPort) (*net.TCPConn, error) {
	c, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, target)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		op.Source = nil // it would read as ":0->"
	}
	return c, err
}

// connected notes that addr accepted a connection.
func (e *endpoint) connected(addr netip.Addr) {
	e.reached.Store(true)
	e.names.settle(addr)
}
