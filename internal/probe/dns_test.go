package probe

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Response codes of DNS, and one of ours: no response at all.
const (
	noError  = 0
	servFail = 2
	nxDomain = 3
	silence  = -1
)

// dnsServer answers queries over UDP on loopback: for one name's addresses, or
// with a code for whatever is asked.
type dnsServer struct {
	conn *net.UDPConn

	mu    sync.Mutex
	code  int
	name  string // without the last dot
	addrs []netip.Addr
}

func newDNSServer(t *testing.T, name string) *dnsServer {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	d := &dnsServer{conn: conn, name: name}
	var serving sync.WaitGroup
	serving.Go(d.serve)
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return d
}

// set changes what is answered from now on.
func (d *dnsServer) set(code int, list ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code, d.addrs = code, addrs(list...)
}

// resolver asks this server and no other.
func (d *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", d.conn.LocalAddr().String())
	}}
}

func (d *dnsServer) serve() {
	var buf [1500]byte
	for {
		n, from, err := d.conn.ReadFromUDPAddrPort(buf[:])
		if err != nil {
			return // closed
		}
		if answer := d.answer(buf[:n]); answer != nil {
			_, _ = d.conn.WriteToUDPAddrPort(answer, from)
		}
	}
}

// answer makes the response to a query of one question; nil: none.
func (d *dnsServer) answer(query []byte) []byte {
	const head = 12
	var labels []string
	at := head
	for at < len(query) && query[at] != 0 {
		end := at + 1 + int(query[at])
		if end > len(query) {
			return nil
		}
		labels = append(labels, string(query[at+1:end]))
		at = end
	}
	at++
	if at+4 > len(query) {
		return nil
	}
	kind := binary.BigEndian.Uint16(query[at:])
	question := query[head : at+4]

	d.mu.Lock()
	defer d.mu.Unlock()
	code, list := d.code, d.addrs
	if code == silence {
		return nil
	}
	if code == noError && strings.Join(labels, ".") != d.name {
		code = nxDomain
	}
	if code != noError {
		list = nil
	}
	const typeA, typeAAAA = 1, 28
	list = slices.DeleteFunc(slices.Clone(list), func(a netip.Addr) bool { return a.Is4() != (kind == typeA) || kind != typeA && kind != typeAAAA })
	out := append([]byte(nil), query[:2]...)
	out = append(out, 0x81, 0x80|byte(code), 0, 1, 0, byte(len(list)), 0, 0, 0, 0)
	out = append(out, question...)
	for _, a := range list {
		out = append(out, 0xc0, head) // the name that was asked for
		out = binary.BigEndian.AppendUint16(out, kind)
		out = append(out, 0, 1, 0, 0, 0, 0) // Internet, to be forgotten at once
		out = binary.BigEndian.AppendUint16(out, uint16(a.BitLen()/8))
		out = append(out, a.AsSlice()...)
	}
	return out
}

// named is a probe of a service that is found by a DNS server of the test's.
func named(t *testing.T, url string, given settings) (*dnsServer, *Probe) {
	t.Helper()
	d := newDNSServer(t, "service.test")
	port := url[strings.LastIndex(url, ":"):]
	with := settings{"url": "http://service.test" + port}
	for name, value := range given {
		with[name] = value
	}
	p, _ := newProbe(t, with)
	p.Resolve(d.resolver())
	return d, p
}

// forget has the next request look its name up.
func (r *resolver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Time{}
}

func TestAddresses(t *testing.T) {
	d, p := named(t, answering(t, okAnswer), nil)
	d.set(noError, "127.0.0.1")
	if err := p.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, p)
	for i, step := range []struct {
		zone  []string
		class sample.Class
		want  []string // nil: not told again
	}{
		{[]string{"127.0.0.1"}, sample.OK, []string{"127.0.0.1"}},
		{[]string{"127.0.0.1"}, sample.OK, nil},
		{[]string{"127.0.0.3", "127.0.0.2"}, sample.ConnectRefused, []string{"127.0.0.2", "127.0.0.3"}},
		{[]string{"127.0.0.2", "127.0.0.3"}, sample.ConnectRefused, nil}, // in another order
		{[]string{"127.0.0.1", "127.0.0.1"}, sample.OK, []string{"127.0.0.1"}},
	} {
		d.set(noError, step.zone...)
		p.main.to.names.forget()
		s := r.sendOnce()
		if diff := cmp.Diff(step.want, s.Addrs); diff != "" || s.Class != step.class {
			t.Errorf("step %d: class %q (%s), addresses (-want +got):\n%s", i, s.Class, s.Error, diff)
		}
	}
}

// A connection that is used again tells none; a follow-up takes none away.
func TestAddressesAreToldBySamples(t *testing.T) {
	d, p := named(t, answering(t, okAnswer), nil)
	d.set(noError, "127.0.0.1")
	r := newRun(t, p)
	p.follow.look(t.Context(), 1, toService, p.fastJob())
	w := newWorker(t, r)
	if s := w.sendKept(); len(s.Addrs) != 1 {
		t.Errorf("first request: addresses %v (%s)", s.Addrs, s.Error)
	}
	d.set(noError, "127.0.0.1", "127.0.0.9")
	p.main.to.names.forget()
	if s := w.sendKept(); s.Addrs != nil || s.Before != 1 {
		t.Errorf("second request, %d before it: addresses %v", s.Before, s.Addrs)
	}
	if s := r.sendOnce(); len(s.Addrs) != 2 {
		t.Errorf("on a new connection: addresses %v", s.Addrs)
	}
}

func TestLiteralHasNoAddresses(t *testing.T) {
	p, _ := newProbe(t, settings{"url": answering(t, okAnswer)})
	p.Resolve(newDNSServer(t, "").resolver()) // not asked
	if s := newRun(t, p).sendOnce(); s.Addrs != nil || s.Class != sample.OK {
		t.Errorf("addresses %v, class %q (%s)", s.Addrs, s.Class, s.Error)
	}
}

func TestNamesFail(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		says string
	}{
		"no such name": {nxDomain, "no such host"},
		"no address":   {noError, "no such host"},
		"broken":       {servFail, "server misbehaving"},
		"silent":       {silence, "i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := named(t, "http://"+freePort(t), settings{"timeout": "200ms"})
			d.set(c.code)
			s := newRun(t, p).sendOnce()
			if diff := cmp.Diff(outcome{Class: sample.DNS, Phase: sample.PhaseDNS}, outcomeOf(s)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if !strings.Contains(s.Error, c.says) || s.Remote != "" || s.Addrs != nil {
				t.Errorf("error %q, want %q in it; remote %q, addresses %v", s.Error, c.says, s.Remote, s.Addrs)
			}
		})
	}
}

// The names of all addresses are looked up by the resolver given.
func TestResolve(t *testing.T) {
	d := newDNSServer(t, "service.test")
	url := answering(t, okAnswer)
	address := "http://service.test" + url[strings.LastIndex(url, ":"):]
	for input, given := range map[string]settings{
		"slow-url":    {"url": url, "slow-url": address + "/slow/{seconds}", "slow-seconds": "1,2"},
		"control-url": {"url": url, "control-url": address},
	} {
		p, _ := newProbe(t, given)
		p.Resolve(d.resolver())
		d.set(nxDomain)
		if err := p.Preflight(t.Context()); err == nil || !strings.HasPrefix(err.Error(), input+": ") {
			t.Errorf("%s, and there is no such name: error %v", input, err)
		}
		d.set(noError, "127.0.0.1")
		if err := p.Preflight(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
