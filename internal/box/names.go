package box

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
)

// names is a name server for one name, whose incidents are that it knows no
// such name, and that the name moves to another address.
type names struct {
	incidents *incidents
	conn      *net.UDPConn
	done      chan struct{}
}

// FrontName is the front's name where the scene has one.
const FrontName = "app.box.test"

var (
	firstAddr = netip.MustParseAddr("127.0.0.1")
	movedAddr = netip.MustParseAddr("127.0.0.2")
)

func newNames(x *incidents) (*names, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	n := &names{incidents: x, conn: conn, done: make(chan struct{})}
	go n.serve()
	return n, nil
}

func (n *names) close() error {
	err := n.conn.Close()
	<-n.done
	return err
}

func (n *names) serve() {
	defer close(n.done)
	buf := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return // closed
		}
		if reply := n.answer(buf[:size]); reply != nil {
			n.conn.WriteToUDPAddrPort(reply, from) //nolint:errcheck // a resolver that hears nothing asks again
		}
	}
}

// Of the DNS protocol, RFC 1035.
const (
	dnsHeader    = 12
	dnsAnswer    = 0x8400 // a response, with authority
	dnsNoName    = 3
	dnsTypeA     = 1
	dnsClassIN   = 1
	dnsToName    = 0xc000 | dnsHeader // a pointer to the question's name
	dnsAfterName = 4                  // type and class
)

// answer is the reply to a query; nil to what is none.
func (n *names) answer(query []byte) []byte {
	if len(query) < dnsHeader {
		return nil
	}
	end := bytes.IndexByte(query[dnsHeader:], 0)
	if end < 0 || len(query) < dnsHeader+end+1+dnsAfterName {
		return nil
	}
	question := query[dnsHeader : dnsHeader+end+1+dnsAfterName]
	kind := binary.BigEndian.Uint16(question[end+1:])
	under := func(kind string) bool {
		return n.incidents.first(func(i *Incident) bool { return i.Kind == kind }) != nil
	}
	flags, count := uint16(dnsAnswer), uint16(0)
	known := bytes.EqualFold(question[:end+1], []byte("\x03app\x03box\x04test\x00"))
	switch {
	case !known || under(IncidentNoName):
		flags |= dnsNoName
	case kind == dnsTypeA:
		count = 1
	}
	out := binary.BigEndian.AppendUint16(nil, binary.BigEndian.Uint16(query))
	for _, v := range []uint16{flags, 1, count, 0, 0} {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	out = append(out, question...)
	if count == 0 {
		return out
	}
	addr := firstAddr
	if under(IncidentNewAddress) {
		addr = movedAddr
	}
	for _, v := range []uint16{dnsToName, dnsTypeA, dnsClassIN, 0, 0, 4} { // it may be kept for 0 s
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return append(out, addr.AsSlice()...)
}

// resolver asks this server alone.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", n.conn.LocalAddr().String())
	}}
}

// joined is two listeners as one.
type joined struct {
	listeners []net.Listener
	conns     chan net.Conn
	ended     chan struct{} // closed with the first of them
	once      sync.Once
}

// join listens on one port of both of the front's addresses.
func join() (net.Listener, error) {
	first, err := net.Listen("tcp", netip.AddrPortFrom(firstAddr, 0).String())
	if err != nil {
		return nil, err
	}
	port := uint16(first.Addr().(*net.TCPAddr).Port)
	second, err := net.Listen("tcp", netip.AddrPortFrom(movedAddr, port).String())
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	j := &joined{listeners: []net.Listener{first, second}, conns: make(chan net.Conn), ended: make(chan struct{})}
	for _, ln := range j.listeners {
		go j.accept(ln)
	}
	return j, nil
}

func (j *joined) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			j.once.Do(func() { close(j.ended) })
			return
		}
		select {
		case j.conns <- c:
		case <-j.ended:
			c.Close() //nolint:errcheck // nobody takes it any more
			return
		}
	}
}

// Accept waits for a connection to either.
func (j *joined) Accept() (net.Conn, error) {
	select {
	case c := <-j.conns:
		return c, nil
	case <-j.ended:
		return nil, net.ErrClosed
	}
}

// Close ends both.
func (j *joined) Close() error {
	return errors.Join(j.listeners[0].Close(), j.listeners[1].Close())
}

// Addr is the first one's.
func (j *joined) Addr() net.Addr { return j.listeners[0].Addr() }
