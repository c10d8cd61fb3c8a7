package box

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// hello connects once and tells how that went. What is accepted is closed.
func hello(t *testing.T, addr string) error {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
	if err == nil {
		c.Close() //nolint:errcheck // done with
	}
	return err
}

func TestGate(t *testing.T) {
	g, err := newGate(rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano()))))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := g.Accept()
			if err != nil {
				ended <- err
				return
			}
			c.Close() //nolint:errcheck // done with
		}
	}()
	if err := hello(t, g.addr); err != nil {
		t.Errorf("open: %v", err)
	}
	if err := g.away(func() {
		if err := hello(t, g.addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("away: %v, want it refused", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := hello(t, g.addr); err != nil {
		t.Errorf("back: %v", err)
	}
	if err := g.stall(t.Context(), func() {
		for range 2 {
			var late net.Error
			if err := hello(t, g.addr); !errors.As(err, &late) || !late.Timeout() {
				t.Errorf("stalled: %v, want a timeout", err)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := hello(t, g.addr); err != nil {
		t.Errorf("taking again: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Times in which nothing listens are in the books, with their owner.
func TestAbsenceIsInTheBooks(t *testing.T) {
	s := tiny(FrontDirect)
	s.Incidents = []Incident{{Kind: IncidentRefuse, Owner: "background", At: Moment{MarkStart, 0}, Until: Moment{MarkCutover, 0}}}
	b := startBox(t, s)
	dial(t, b.address()).get("/", "first")
	eventually(t, "nothing listens", func() bool { return errors.Is(hello(t, b.address()), syscall.ECONNREFUSED) })
	held := time.Now()
	b.marks.set(MarkCutover)
	eventually(t, "it listens again", func() bool { return hello(t, b.address()) == nil })
	eventually(t, "the time is over", func() bool { return b.Truth().Spans[0].To < time.Hour })
	span := b.Truth().Spans[0]
	if now := held.Sub(b.ledger.start); span.Owner != "background" || span.From > now || span.To < now {
		t.Errorf("%+v, want it the background's, and to hold %v", span, now)
	}
}

func TestControlHost(t *testing.T) {
	s := tiny(FrontEdge)
	s.Control = true
	s.Incidents = []Incident{{Kind: IncidentControl, At: Moment{MarkDeploy, 0}, Control: true}}
	b := startBox(t, s)
	ask := func() error {
		resp, err := http.Get(b.ControlURL())
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	if err := ask(); err != nil {
		t.Errorf("before: %v", err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	b.marks.set(MarkDeploy)
	if err := ask(); err == nil {
		t.Error("it answers while it is in trouble")
	}
}

func TestCertificates(t *testing.T) {
	for how, want := range map[string]string{
		"":          "",
		CertRenewed: "",
		CertOther:   "127.0.0.1",
		CertNotYet:  "not yet valid",
	} {
		s := tiny(FrontEdge)
		s.TLS = true
		if how != "" {
			s.Incidents = []Incident{{Kind: IncidentCertificate, How: how, At: Moment{MarkDeploy, 0}}}
		}
		b := startBox(t, s)
		b.marks.set(MarkDeploy)
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(b.Authority())) {
			t.Fatal("the authority is no PEM")
		}
		c, err := tls.Dial("tcp", strings.TrimPrefix(b.url, "https://"), &tls.Config{RootCAs: roots})
		switch {
		case want == "" && err == nil:
			c.Close() //nolint:errcheck // done with
		case want == "", err == nil, !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %q in it", how, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	s := tiny(FrontEdge)
	s.Named = true
	s.Incidents = []Incident{
		{Kind: IncidentNoName, Owner: "deploy", At: Moment{MarkDeploy, 0}, Until: Moment{MarkCutover, 0}},
		{Kind: IncidentNewAddress, At: Moment{MarkCutover, 0}},
	}
	b := startBox(t, s)
	look := func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		list, err := b.Resolver().LookupHost(ctx, FrontName)
		var no *net.DNSError
		if errors.As(err, &no) && no.IsNotFound {
			return "not found"
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct{ mark, want string }{{"", "127.0.0.1"}, {MarkDeploy, "not found"}, {MarkCutover, "127.0.0.2"}} {
		if c.mark != "" {
			b.marks.set(c.mark)
		}
		if got := look(); got != c.want {
			t.Errorf("after %q: %s, want %s", c.mark, got, c.want)
		}
	}
	_, port, err := net.SplitHostPort(b.address())
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.2"} {
		dial(t, net.JoinHostPort(addr, port)).get("/", "at "+addr)
	}
}

// A script's steps are taken in order.
func TestScript(t *testing.T) {
	s := tiny(FrontEdge)
	s.Rollout.Strategy = Script
	s.Rollout.Steps = []Step{
		{Do: StepPhase, Name: "BUILDING"},
		{Do: StepStart, Of: genNew, N: 2},
		{Do: StepRoute, Weights: map[string]int{genOld: 1, genNew: 1}},
		{Do: StepStart, Of: genOther, Version: "cccccccccc"},
		{Do: StepStop, Of: genOld},
		{Do: StepStop, Of: genNew, N: 1},
		{Do: StepRoute, Weights: map[string]int{genOther: 3, genOld: 1}},
		{Do: StepEnd, Outcome: sample.Failed, Name: "exit status 3"},
		{Do: StepWait, For: 10 * ms},
	}
	b := startBox(t, s)
	var signals []sample.Signal
	if err := b.Rollout().Run(t.Context(), func(g sample.Signal) { signals = append(signals, g) }); err != nil {
		t.Fatal(err)
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := signals[len(signals)-1]
	if len(signals) != 3 || signals[1].Name != "BUILDING" || last.Kind != sample.SignalEnd || last.Outcome != sample.Failed || last.Message != "exit status 3" {
		t.Errorf("signals %+v", signals)
	}
	if o, n, x := len(b.generation(genOld)), len(b.generation(genNew)), len(b.generation(genOther)); o != 0 || n != 1 || x != 1 {
		t.Errorf("%d of old live, %d of new, %d of the other; want 0, 1, 1", o, n, x)
	}
	if r := dial(t, b.address()).get("/", "a"); r.Header.Get("X-Version") != "cccccccccc" {
		t.Errorf("answered by %v", r.Header)
	}
	for _, mark := range []string{MarkDeploy, MarkCutover, MarkAlone, MarkStop, MarkOldEnd} {
		if _, known := b.marks.when(Moment{Mark: mark}); !known {
			t.Errorf("the mark %s did not come", mark)
		}
	}
}

func TestStepsAreValidated(t *testing.T) {
	for _, s := range []Step{
		{Do: "jump"}, {Do: StepStart}, {Do: StepStop, Of: "young"}, {Do: StepStart, Of: genOther},
		{Do: StepStart, Of: genNew, Version: "v3"}, {Do: StepRoute, Weights: map[string]int{"young": 1}},
	} {
		if s.validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

// What comes and goes without a deploy is not the deploy's.
func TestDropsOfAnotherOwner(t *testing.T) {
	s := tiny(FrontEdge)
	s.Rollout.Owner = "background"
	b := startBox(t, s)
	b.pool.set()
	dial(t, b.address()).get("/", "nowhere")
	if d := b.Truth().Drops; len(d) != 1 || d[0].Owner != "background" || d[0].ByRollout {
		t.Errorf("%+v, want one of the background's", d)
	}
}
