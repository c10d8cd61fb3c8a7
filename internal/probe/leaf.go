package probe

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
)

// leafDigits is how many hexadecimal digits of a certificate's fingerprint are recorded.
const leafDigits = 16

// leaf is the beginning of the SHA-256 of the certificate that the peer showed,
// in hexadecimal; err is how the handshake ended. A certificate that was refused
// is told too: which one it was says most about why. "" where none was shown, or
// what was shown is none.
func leaf(c *tls.Conn, err error) string {
	shown := c.ConnectionState().PeerCertificates
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		shown = refused.UnverifiedCertificates
	}
	return fingerprint(shown)
}

func fingerprint(chain []*x509.Certificate) string {
	if len(chain) == 0 {
		return ""
	}
	sum := sha256.Sum256(chain[0].Raw)
	return hex.EncodeToString(sum[:])[:leafDigits]
}
