package box

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// certificates are those that the edge shows, from an authority of its own.
type certificates struct {
	incidents *incidents
	authority string // PEM
	ca        *x509.Certificate
	key       *ecdsa.PrivateKey // the authority's, and everybody's
	usual     *tls.Certificate
	others    map[string]*tls.Certificate // by the incident's How
}

func newCertificates(x *incidents) (*certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &certificates{incidents: x, key: key, others: map[string]*tls.Certificate{}}
	now := time.Now()
	c.ca = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "box authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c.ca, c.ca, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	c.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	if c.usual, err = c.issue(2, "127.0.0.1", now.Add(-time.Hour)); err != nil {
		return nil, err
	}
	for how, of := range map[string]struct {
		name string
		from time.Time
	}{
		CertRenewed: {"127.0.0.1", now.Add(-time.Minute)},
		CertOther:   {"ingress.local", now.Add(-time.Minute)},
		CertNotYet:  {"127.0.0.1", now.Add(24 * time.Hour)},
	} {
		if c.others[how], err = c.issue(int64(3+len(c.others)), of.name, of.from); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *certificates) issue(serial int64, name string, from time.Time) (*tls.Certificate, error) {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: from.Add(40 * time.Hour),
	}
	if ip := net.ParseIP(name); ip != nil {
		leaf.IPAddresses = []net.IP{ip}
	} else {
		leaf.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, c.ca, &c.key.PublicKey, c.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: c.key}, nil
}

// listen has TLS spoken on every connection, with the certificate of the hour.
func (c *certificates) listen(ln net.Listener) net.Listener {
	return tls.NewListener(ln, &tls.Config{
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			i := c.incidents.first(func(i *Incident) bool { return i.Kind == IncidentCertificate })
			if i == nil {
				return c.usual, nil
			}
			return c.others[i.How], nil
		},
	})
}
