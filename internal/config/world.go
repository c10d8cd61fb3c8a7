package config

import (
	"crypto/x509"
	"os"
	"strings"
)

// CertPool is the system's certificate authorities with those of ca-cert added;
// nil where ca-cert is not given, so that the system's are used.
func (c *Config) CertPool() (*x509.CertPool, error) {
	if c.CACert == "" {
		return nil, nil
	}
	pem := []byte(c.CACert)
	if !strings.Contains(c.CACert, "-----BEGIN") {
		var err error
		if pem, err = os.ReadFile(c.CACert); err != nil {
			return nil, inputf("ca-cert", "%s is neither a file that can be read nor PEM text (%s); write a path, or the text from -----BEGIN CERTIFICATE----- on",
				quote(c.CACert), fileProblem(err))
		}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // no system authorities here: ours alone
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, inputf("ca-cert", "got no certificate; write a file of PEM blocks, or the text from -----BEGIN CERTIFICATE----- on")
	}
	return pool, nil
}

// PrepareReportDir makes the folder, with those above it, and proves that a
// file can be written into it. Its error is an [InputError] of report-dir.
func PrepareReportDir(dir string) error {
	if dir == "" {
		return inputf("report-dir", "got nothing; write a folder, like cutwatch-report")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return inputf("report-dir", "%s cannot be made (%s); write a folder that can", quote(dir), fileProblem(err))
	}
	if err := proveWritable(dir); err != nil {
		return inputf("report-dir", "%s cannot be written to (%s); write a folder that can", quote(dir), fileProblem(err))
	}
	return nil
}

func proveWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".cutwatch-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if removeErr := os.Remove(f.Name()); err == nil {
		err = removeErr
	}
	return err
}

// fileProblem is the operating system's word without the path, which the message has already.
func fileProblem(err error) string {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err.Error()
		}
		err = inner.Unwrap()
	}
}
