package probe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// newAuthority makes a certificate for ip that signs itself: the server's
// configuration, and the PEM text that a client needs to trust it.
func newAuthority(t testing.TB, ip string, until time.Time) (cfg *tls.Config, authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until, IPAddresses: []net.IP{net.ParseIP(ip)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cfg = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return cfg, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// tlsServer has serve play the peer on each connection, over TLS.
func tlsServer(t testing.TB, cfg *tls.Config, serve func(c *tls.Conn)) (url string) {
	plain := server(t, func(c *net.TCPConn) {
		if e := tls.Server(c, cfg); e.Handshake() == nil {
			serve(e)
		}
	})
	return "https" + strings.TrimPrefix(plain, "http")
}

func answerOK(c *tls.Conn) { requests(c, always(okAnswer)) }

func TestTLS(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour)
	cfg, authority := newAuthority(t, "127.0.0.1", tomorrow)
	_, another := newAuthority(t, "127.0.0.1", tomorrow)
	elsewhere, elsewhereAuthority := newAuthority(t, "127.0.0.9", tomorrow)
	expired, expiredAuthority := newAuthority(t, "127.0.0.1", time.Now().Add(-time.Hour))
	early, earlyAuthority := newAuthority(t, "127.0.0.1", time.Now().Add(48*time.Hour))
	asks := cfg.Clone()
	asks.ClientAuth = tls.RequireAnyClientCert
	asksFirst := asks.Clone()
	asksFirst.MaxVersion = tls.VersionTLS12
	url := tlsServer(t, cfg, answerOK)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(authority), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name  string
		given settings
		class sample.Class
		phase sample.Phase
		shown *tls.Config // whose certificate was shown; nil: none was
		says  string      // in the error
	}{
		{"own authority", settings{"url": url, "ca-cert": authority}, sample.OK, "", cfg, ""},
		{"own authority in a file", settings{"url": url, "ca-cert": file}, sample.OK, "", cfg, ""},
		{"not verified", settings{"url": url, "insecure-skip-verify": "true"}, sample.OK, "", cfg, ""},
		{"no authority", settings{"url": url}, sample.TLS, sample.PhaseTLS, cfg, "certificate signed by unknown authority"},
		{"another authority", settings{"url": url, "ca-cert": another}, sample.TLS, sample.PhaseTLS, cfg, "certificate signed by unknown authority"},
		{"another name", settings{"url": tlsServer(t, elsewhere, answerOK), "ca-cert": elsewhereAuthority}, sample.TLS, sample.PhaseTLS, elsewhere, "certificate is valid for 127.0.0.9, not 127.0.0.1"},
		{"expired", settings{"url": tlsServer(t, expired, answerOK), "ca-cert": expiredAuthority}, sample.TLS, sample.PhaseTLS, expired, "certificate has expired or is not yet valid: current time 2"},
		{"not yet valid", settings{"url": tlsServer(t, early, answerOK), "ca-cert": earlyAuthority}, sample.TLS, sample.PhaseTLS, early, "certificate has expired or is not yet valid: current time 2"},
		{"asks for a certificate of ours", settings{"url": tlsServer(t, asks, answerOK), "ca-cert": authority}, sample.TLS, sample.PhaseResponse, cfg, "certificate required"},
		{"asks for a certificate in the handshake", settings{"url": tlsServer(t, asksFirst, answerOK), "ca-cert": authority}, sample.TLS, sample.PhaseTLS, cfg, "tls: "},
		{"speaks no TLS", settings{"url": secure(server(t, func(c *net.TCPConn) {
			_, _ = io.WriteString(c, okAnswer)
			hold(c)
		}))}, sample.TLS, sample.PhaseTLS, nil, "does not look like a TLS handshake"},
		{"ends the handshake", settings{"url": secure(server(t, func(c *net.TCPConn) {
			_, _ = c.Read(make([]byte, 16<<10)) // its hello: what is left unread makes a close a reset
		}))}, sample.TLS, sample.PhaseTLS, nil, "EOF"},
		{"resets the handshake", settings{"url": secure(server(t, func(c *net.TCPConn) {
			if _, err := c.Read(make([]byte, 1)); err == nil { // its hello, so that it is connected
				reset(c)
			}
		}))}, sample.TLS, sample.PhaseTLS, nil, "connection reset by peer"},
		{"hangs in the handshake", settings{"url": secure(server(t, func(c *net.TCPConn) { hold(c) })), "timeout": "100ms"}, sample.Timeout, sample.PhaseTLS, nil, "i/o timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := newProbe(t, c.given)
			s := newRun(t, p).sendOnce()
			if s.Class != c.class || s.Phase != c.phase {
				t.Fatalf("class %q in phase %q (%s), want %q in %q", s.Class, s.Phase, s.Error, c.class, c.phase)
			}
			if s.Conn == 0 || s.Connected == 0 {
				t.Errorf("the connection that was made is not told: %+v", s)
			}
			if s.Class == sample.OK {
				inOrder(t, s.Started, s.Connected, s.TLSDone, s.Wrote, s.FirstByte, s.Ended)
			}
			if !strings.Contains(s.Error, c.says) || (s.Error == "") != (c.says == "") {
				t.Errorf("error %q, want %q in it", s.Error, c.says)
			}
			want := ""
			if c.shown != nil {
				want = fingerprintOf(c.shown)
			}
			if s.Leaf != want {
				t.Errorf("leaf %q, want %q", s.Leaf, want)
			}
		})
	}
}

// Too late and too early are told apart by the words alone.
func TestWhenACertificateIsNotValid(t *testing.T) {
	for offset, says := range map[time.Duration]string{-time.Hour: " is after ", 48 * time.Hour: " is before "} {
		cfg, authority := newAuthority(t, "127.0.0.1", time.Now().Add(offset))
		p, _ := newProbe(t, settings{"url": tlsServer(t, cfg, answerOK), "ca-cert": authority})
		if s := newRun(t, p).sendOnce(); !strings.Contains(s.Error, says) {
			t.Errorf("valid until %s from now: %q, want %q in it", offset, s.Error, says)
		}
	}
}

// fingerprintOf is what is recorded of the certificate that cfg shows.
func fingerprintOf(cfg *tls.Config) string {
	return fmt.Sprintf("%x", sha256.Sum256(cfg.Certificates[0].Certificate[0]))[:16]
}

// A certificate that is changed in mid-run is told by the first connection that
// meets it, also where it is refused; connections made before it go on.
func TestLeafChanges(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour)
	trusted, authority := newAuthority(t, "127.0.0.1", tomorrow)
	refused, _ := newAuthority(t, "127.0.0.1", tomorrow)
	var now atomic.Pointer[tls.Config]
	now.Store(trusted)
	url := tlsServer(t, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil }}, answerOK)
	p, rec := newProbe(t, settings{"url": url, "ca-cert": authority, "rate": "200/s", "connections": "2"})
	failed := func() (n int) {
		for _, s := range rec.samples(sample.Fresh) {
			if s.Failed() {
				n++
			}
		}
		return n
	}
	runUntil(t, p, func() bool {
		if len(rec.samples(sample.Fresh)) >= 5 {
			now.Store(refused)
		}
		return failed() >= 3
	})
	for _, s := range rec.samples("") {
		want, class := "", sample.OK
		if s.Before == 0 {
			want = fingerprintOf(trusted)
			if s.Failed() {
				want, class = fingerprintOf(refused), sample.TLS
			}
		}
		if s.Leaf != want || s.Class != class {
			t.Errorf("%s request %d, %d before it: leaf %q, want %q; class %q (%s)", s.Lane, s.N, s.Before, s.Leaf, want, s.Class, s.Error)
		}
	}
	if failed() == len(rec.samples(sample.Fresh)) {
		t.Error("no new connection met the first certificate")
	}
}

func secure(url string) string { return "https" + strings.TrimPrefix(url, "http") }

// inOrder checks that every time is set, and none before the one that it follows.
func inOrder(t *testing.T, times ...int64) {
	t.Helper()
	last := int64(0)
	for i, at := range times {
		if at <= 0 || at < last {
			t.Errorf("time %d of %v is out of order", i, times)
		}
		last = at
	}
}
