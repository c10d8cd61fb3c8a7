package box

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// listen opens the front's door, by which incidents the scene has, and sets the
// address to probe.
func (b *Box) listen() (net.Listener, error) {
	var ln net.Listener
	var err error
	absences := append(b.incidents.ofKind(IncidentRefuse), b.incidents.ofKind(IncidentNoAccept)...)
	switch {
	case len(absences) > 0:
		ln, err = b.listenAtTimes(absences)
	case b.scene.Named:
		ln, err = join()
	default:
		ln, err = net.Listen("tcp", cmp.Or(b.scene.Listen, "127.0.0.1:0"))
	}
	if err != nil {
		return nil, err
	}
	b.url = "http://" + ln.Addr().String()
	unseen := append(b.incidents.ofKind(IncidentCertificate), b.incidents.ofKind(IncidentNoName)...)
	for _, i := range unseen {
		b.plan(i, func(over func()) error {
			over()
			return nil
		})
	}
	if b.scene.Named {
		if b.names, err = newNames(b.incidents); err != nil {
			return nil, errors.Join(err, ln.Close())
		}
		_, port, err := net.SplitHostPort(ln.Addr().String())
		if err != nil {
			return nil, errors.Join(err, ln.Close())
		}
		b.url = "http://" + net.JoinHostPort(FrontName, port)
	}
	if !b.scene.TLS {
		return ln, nil
	}
	if b.tls, err = newCertificates(b.incidents); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	b.url = "https://" + ln.Addr().String()
	return b.tls.listen(ln), nil
}

// listenAtTimes listens but for the times of absences.
func (b *Box) listenAtTimes(absences []*Incident) (net.Listener, error) {
	g, err := newGate(rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 8)))
	if err != nil {
		return nil, err
	}
	for _, i := range absences {
		b.plan(i, func(over func()) error { return b.shut(g, i, over) })
	}
	return g, nil
}

// Resolver knows the front's name; nil where it has none.
func (b *Box) Resolver() *net.Resolver {
	if b.names == nil {
		return nil
	}
	return b.names.resolver()
}

// plan has an incident done at its time, that requests cannot be recorded in. do
// gets what returns at its end.
func (b *Box) plan(i *Incident, do func(over func()) error) {
	b.plans.Go(func() {
		if b.marks.wait(b.ctx, i.At) != nil {
			return
		}
		if i.Owner != "" {
			defer b.ledger.lose(i.Owner)()
		}
		err := do(func() { b.incidents.over(b.ctx, i) }) //nolint:errcheck // the box's end ends it as well
		if err != nil && !errors.Is(err, net.ErrClosed) && b.ctx.Err() == nil {
			panic(fmt.Sprintf("box: incident %s: %v", i.Kind, err))
		}
	})
}

func (b *Box) shut(g *gate, i *Incident, over func()) error {
	if i.Kind == IncidentRefuse {
		return g.away(over)
	}
	return g.stall(b.ctx, over)
}

// control is a host that does not depend on the box's front.
type control struct {
	server *http.Server
	url    string
	ended  chan error
}

func newControl(x *incidents) (*control, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	troubled := func(i *Incident) bool { return i.Control }
	c := &control{url: "http://" + ln.Addr().String() + "/", ended: make(chan error, 1)}
	c.server = &http.Server{ReadHeaderTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if x.first(troubled) != nil {
			endConnection(w, true)
			return
		}
		io.WriteString(w, "fine\n") //nolint:errcheck // a client that has left needs none
	})}
	go func() { c.ended <- c.server.Serve(ln) }()
	return c, nil
}

func (c *control) close() error {
	err := c.server.Close()
	if end := <-c.ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// ControlURL is the control host's; "" where the scene has none.
func (b *Box) ControlURL() string {
	if b.control == nil {
		return ""
	}
	return b.control.url
}

// Authority is the certificate authority to trust, in PEM; "" where the front
// speaks no TLS.
func (b *Box) Authority() string {
	if b.tls == nil {
		return ""
	}
	return b.tls.authority
}

// DeployNow runs the rollout without telling anybody, once the first request
// came and so long after: what a platform does by itself.
func (b *Box) DeployNow(ctx context.Context, after time.Duration) error {
	if err := b.marks.wait(ctx, Moment{MarkStart, after}); err != nil {
		return err
	}
	return b.Rollout().Run(ctx, func(sample.Signal) {})
}
