package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// client sends single requests and records what became of them.
type client struct {
	cfg   *config.Config
	start time.Time // the run's
	conns atomic.Int64
	hider
}

// now is the time since the run's start.
func (c *client) now() int64 { return int64(time.Since(c.start)) }

// job is one request to be sent.
type job struct {
	to      *endpoint
	msg     *message
	id      string
	addr    netip.Addr // the address to use; the zero value: the next of the endpoint's
	timeout time.Duration
	status  config.StatusSet   // that are good; nil: any
	body    config.TextPattern // that must be found
}

// do sends one request, on k or on a new connection where k is nil, and fills s
// from it; s.Started is set. It returns the connection where that can carry
// another request, else nil; then it is closed. When ctx is done, new
// connections are broken off, and so is whatever uses those that were made
// under it.
func (c *client) do(ctx context.Context, k *conn, s *sample.Sample, j *job, m *scratch) *conn {
	m.body = m.body[:0]
	deadline := c.start.Add(time.Duration(s.Started) + j.timeout)
	var resp *http.Response
	var f *failure
	if k == nil {
		k, f = c.open(ctx, s, j, deadline)
	} else {
		s.Before, s.Idle = k.requests, s.Started-k.answered
		if err := k.raw.SetDeadline(deadline); err != nil {
			f = &failure{sample.PhaseWrite, err}
		}
	}
	if k != nil {
		s.Conn, s.Remote, s.LocalPort = k.id, k.remote, k.localPort
	}
	if f == nil {
		resp, f = c.exchange(k, s, j, m)
	}
	s.Ended = c.now()
	c.judge(ctx, s, j, resp, f, m.body)
	if k == nil {
		return nil
	}
	if s.Failed() {
		s.RTT = k.rtt()
	}
	if f != nil || s.Close {
		k.close()
		return nil
	}
	k.answered = s.Ended
	return k
}

// open makes a connection to one address. Both results are set where TCP
// connected and TLS failed.
func (c *client) open(ctx context.Context, s *sample.Sample, j *job, deadline time.Time) (*conn, *failure) {
	dialing, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	addr := j.addr
	if !addr.IsValid() {
		var err error
		if addr, err = j.to.names.next(dialing); err != nil {
			return nil, &failure{sample.PhaseDNS, err}
		}
		if s.Lane != "" { // a follow-up is not recorded as a sample, and must not take the news with it
			s.Addrs = j.to.names.news()
		}
	}
	target := netip.AddrPortFrom(addr, j.to.port)
	s.Remote = target.String()
	raw, err := dial(dialing, net.Dialer{KeepAlive: -1}, target) // no packets but the requests'
	if err != nil {
		return nil, &failure{sample.PhaseConnect, err}
	}
	s.Connected = c.now()
	j.to.connected(addr)
	k, err := newConn(ctx, raw, c.conns.Add(1), c.now)
	if err == nil {
		err = raw.SetDeadline(deadline)
	}
	if err != nil || j.to.tls == nil {
		return k, failed(sample.PhaseConnect, err)
	}
	encrypted := tls.Client(raw, j.to.tls)
	err = encrypted.Handshake()
	s.Leaf = leaf(encrypted, err)
	if err != nil {
		return k, &failure{sample.PhaseTLS, err}
	}
	s.TLSDone = c.now()
	k.over(encrypted)
	return k, nil
}

// failed is the failure of a phase, nil where err is.
func failed(phase sample.Phase, err error) *failure {
	if err == nil {
		return nil
	}
	return &failure{phase, err}
}

// exchange writes the request and reads the answer whole. Where the answer
// broke off in its body, both results are set.
func (c *client) exchange(k *conn, s *sample.Sample, j *job, m *scratch) (*http.Response, *failure) {
	m.request = j.msg.appendTo(m.request[:0], j.id)
	if err := k.send(m.request); err != nil {
		return nil, &failure{sample.PhaseWrite, err}
	}
	s.Wrote = c.now()
	resp, err := k.head(j.msg.shape)
	s.FirstByte = k.in.first
	if err != nil {
		return nil, &failure{sample.PhaseResponse, err}
	}
	s.Proto, s.Status = resp.Proto, resp.StatusCode
	s.Close = resp.Close || resp.StatusCode == http.StatusSwitchingProtocols
	// The body is not closed: at its end that does nothing, and after an error
	// it would read on.
	s.Bytes, s.BodyHash, err = m.readBody(resp.Body)
	if err != nil {
		err = k.in.because(err)
	}
	return resp, failed(sample.PhaseBody, err)
}
