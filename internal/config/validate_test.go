package config_test

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
)

// valid is the defaults with a url and the given inputs.
func valid(t *testing.T, inputs map[string]string) *config.Config {
	t.Helper()
	c := config.Default()
	c.URL = "https://example.test/health"
	set(t, c, inputs)
	return c
}

func TestValidateRefuses(t *testing.T) {
	const slow = "https://example.test/slow"
	tests := []struct {
		name   string
		inputs map[string]string
		change func(*config.Config) // what no input can spell
		want   string
	}{
		{"no url", map[string]string{"url": ""}, nil,
			`url: got nothing; write what to probe, like https://example.com/health`},
		{"no host", map[string]string{"url": "https:///health"}, nil,
			`url: "https:///health" names no host; write one that does, like https://example.com/health`},
		{"no scheme", map[string]string{"url": "example.test/health"}, nil,
			`url: "example.test/health" begins with neither http:// nor https://; write one that does, like https://example.com/health`},
		{"a scheme of another kind", map[string]string{"url": "ftp://example.test/?k=s3cret"}, nil,
			`url: "ftp://example.test/?…" begins with neither http:// nor https://; write one that does, like https://example.com/health`},
		{"not a url", map[string]string{"url": "http://exa mple/%zz"}, nil,
			`url: "http://exa mple/%zz" is not a URL; write one like https://example.com/health`},
		{"a broken url with a password", map[string]string{"url": "http://me:s3cret@h:x/%zz?s3cret"}, nil,
			`url: "http://…@h:x/%zz?…" is not a URL; write one like https://example.com/health`},
		{"userinfo", map[string]string{"url": "https://me:s3cret@example.test/"}, nil,
			`url: "https://…@example.test/" holds a user name or password; give them in headers instead, like Authorization: Basic …`},
		{"a host outside ASCII", map[string]string{"url": "https://bücher.example/?k=s3cret"}, nil,
			`url: "https://bücher.example/?…" names a host outside ASCII; write its xn-- form, like https://xn--bcher-kva.example/`},
		{"a host outside ASCII, escaped", map[string]string{"slow-url": "https://b%C3%BCcher.example/"}, nil,
			`slow-url: "https://b%C3%BCcher.example/" names a host outside ASCII; write its xn-- form, like https://xn--bcher-kva.example/`},
		{"a port", map[string]string{"url": "https://example.test:70000/"}, nil,
			`url: "https://example.test:70000/" has a port that is not one from 1 to 65535; write another one, or none`},
		{"id", map[string]string{"id": "a/b"}, nil,
			`id: "a/b" holds "/"; write letters, digits, '.', '_' and '-' only`},
		{"a long id", map[string]string{"id": strings.Repeat("a", 65)}, nil,
			`id: got 65 characters; write at most 64`},
		{"slow-url without its mark", map[string]string{"slow-url": slow, "slow-seconds": "5,10"}, nil,
			`slow-url: "https://example.test/slow" has no {seconds}, and slow-seconds has 2 lengths; put it where the length belongs, like https://example.com/slow?seconds={seconds}, or give one length`},
		{"slow-url is no url", map[string]string{"slow-url": "/slow"}, nil,
			`slow-url: "/slow" begins with neither http:// nor https://; write one that does, like https://example.com/health`},
		{"no slow-seconds", map[string]string{"slow-url": slow}, func(c *config.Config) { c.SlowSeconds = nil },
			`slow-seconds: got none; write the length of slow requests in seconds, like 20 or 5,10,20`},
		{"negative slow-seconds", map[string]string{"slow-url": slow}, func(c *config.Config) { c.SlowSeconds = config.Seconds{-1} },
			`slow-seconds: "-1" is out of range; write seconds above 0 and up to 3600, like 20`},
		{"slow-interval", map[string]string{"slow-url": slow, "slow-interval": "0s"}, nil,
			`slow-interval: got 0s; write a duration above 0, like 1s`},
		{"too many slow requests open", map[string]string{"slow-url": slow, "slow-interval": "1ms"}, nil,
			`slow-interval: "1ms" would hold 20000 slow requests open at a time; write a longer one, so that it is at most 5000`},
		{"version-from by hand", nil, func(c *config.Config) { c.VersionFrom = config.Extractor{Kind: "regex", Expr: "("} },
			"version-from: \"regex:(\" is not a regular expression (missing closing ): `(`); write one in Go's syntax"},
		{"instance-from by hand", nil, func(c *config.Config) { c.InstanceFrom = config.Extractor{} },
			`instance-from: got nothing; write header:NAME, json:PATH, regex:EXPR or none`},
		{"expect-version unseen", map[string]string{"version-from": "none", "expect-version": "v2"}, nil,
			`expect-version: "v2" cannot be seen with version-from none; say in version-from where an answer names its version`},
		{"connections", map[string]string{"connections": "0"}, nil,
			`connections: got 0; write a number from 1 to 10000`},
		{"connections beyond reason", map[string]string{"connections": "10001"}, nil,
			`connections: got 10001; write a number from 1 to 10000`},
		{"rate by hand", nil, func(c *config.Config) { c.Rate = config.Rate{} },
			`rate: "0/s" is out of range; write 0.01/s to 50000/s, or max`},
		{"cutover-timeout", map[string]string{"cutover-timeout": "0s"}, nil,
			`cutover-timeout: got 0s; write a duration above 0, like 2m`},
		{"deploy-timeout", map[string]string{"deploy-timeout": "0"}, nil,
			`deploy-timeout: got 0s; write a duration above 0, like 30m`},
		{"max-duration", map[string]string{"max-duration": "0s"}, nil,
			`max-duration: got 0s; write a duration above 0, like 60m`},
		{"max-duration within the baseline", map[string]string{"max-duration": "30s"}, nil,
			`max-duration: "30s" ends before the baseline of 30s is in; write a longer one, like 60m`},
		{"method", map[string]string{"method": "GET /x"}, nil,
			`method: "GET /x" is not a method; write one word, like GET or POST`},
		{"no method", nil, func(c *config.Config) { c.Method = "" },
			`method: "" is not a method; write one word, like GET or POST`},
		{"tunnel", map[string]string{"method": "CONNECT"}, nil,
			`method: "CONNECT" would open a tunnel; write another one, like GET or POST`},
		{"headers of ours", map[string]string{"headers": "X-Request-ID: s3cret"}, nil,
			`headers: "X-Request-ID" is set by Cutwatch itself; leave it out`},
		{"headers by hand", nil, func(c *config.Config) { c.Headers = config.Headers{{Name: "A", Value: "s3cret\r\nB: c"}} },
			`headers: header 1 has a control character in its value; write one header a line in plain text`},
		{"header's name by hand", nil, func(c *config.Config) { c.Headers = config.Headers{{Name: "A b", Value: "c"}} },
			`headers: header 1 has no valid name; write one header a line, like Authorization: Bearer TOKEN`},
		{"no expect-status", nil, func(c *config.Config) { c.ExpectStatus = nil },
			`expect-status: got none; write the codes that are good, like 200-399 or 200,204`},
		{"timeout", map[string]string{"timeout": "0s"}, nil,
			`timeout: got 0s; write a duration above 0, like 10s`},
		{"ca-cert is no file", map[string]string{"ca-cert": "/no/such.pem"}, nil,
			`ca-cert: "/no/such.pem" is neither a file that can be read nor PEM text (no such file or directory); write a path, or the text from -----BEGIN CERTIFICATE----- on`},
		{"ca-cert is no certificate", map[string]string{"ca-cert": "-----BEGIN s3cret"}, nil,
			`ca-cert: got no certificate; write a file of PEM blocks, or the text from -----BEGIN CERTIFICATE----- on`},
		{"control-url", map[string]string{"control-url": "http://"}, nil,
			`control-url: "http://" names no host; write one that does, like https://example.com/health`},
		{"max-deploy-failures", map[string]string{"max-deploy-failures": "-1"}, nil,
			`max-deploy-failures: got -1; write a number of 0 or more`},
		{"idle-race", map[string]string{"idle-race": "ignore"}, nil, `idle-race: got "ignore"; write fail or warn`},
		{"silent-retry", map[string]string{"silent-retry": "Fail"}, nil, `silent-retry: got "Fail"; write fail or warn`},
		{"on-inconclusive", map[string]string{"on-inconclusive": "pass"}, nil, `on-inconclusive: got "pass"; write fail or warn`},
		{"a negative duration by hand", nil, func(c *config.Config) { c.Tail = -1 },
			`tail: "-1ns" is out of range; write a duration from 0s to 720h`},
		{"two at once", map[string]string{"url": "", "connections": "-2"}, nil,
			"url: got nothing; write what to probe, like https://example.com/health\nconnections: got -2; write a number from 1 to 10000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := valid(t, tt.inputs)
			if tt.change != nil {
				tt.change(c)
			}
			err := c.Validate()
			var bad *config.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Error("the message holds the secret")
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	block := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, inputs := range map[string]map[string]string{
		"url alone":             nil,
		"an address":            {"url": "http://[::1]:8080"},
		"one slow length":       {"slow-url": "https://example.test/slow"},
		"slow lengths in path":  {"slow-url": "https://example.test/slow/{seconds}?a=b", "slow-seconds": "5,10"},
		"no slow url, no check": {"slow-interval": "0s"},
		"none":                  {"version-from": "none", "instance-from": "none"},
		"short times":           {"baseline": "0s", "settle": "0s", "tail": "0s"},
		"host header":           {"headers": "Host: other.test"},
		"ca-cert text":          {"ca-cert": block},
		"ca-cert file":          {"ca-cert": file},
		"max":                   {"rate": "max"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := valid(t, inputs).Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCertPool(t *testing.T) {
	pool, err := config.Default().CertPool()
	if err != nil || pool != nil {
		t.Errorf("without ca-cert: %v, %v; want nil, nil", pool, err)
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name   string
		inputs map[string]string
		want   []string
	}{
		{"none", nil, nil},
		{"short baseline", map[string]string{"baseline": "2s"},
			[]string{`baseline: "2s" is under 3s, so that the verdict will be inconclusive (baseline-too-short); write a longer one, like 30s`}},
		{"thin baseline", map[string]string{"rate": "3"},
			[]string{`baseline: "30s" at a rate of 3/s is 99 requests, under the 100 that a verdict needs (baseline-too-short); write a longer baseline or a higher rate`}},
		{"a closed loop plans nothing", map[string]string{"rate": "max", "baseline": "3s"}, nil},
		{"a first deploy has none", map[string]string{"allow-no-baseline": "true", "baseline": "0s"}, nil},
		{"method", map[string]string{"method": "get"},
			[]string{`method: "get" is sent as it is written, and services know upper case only; write "GET"`}},
		{"control", map[string]string{"control-url": "http://EXAMPLE.test:81/"},
			[]string{`control-url: "example.test" is the host of url as well, so that it fails with it; write a host that does not depend on the deploy`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := valid(t, tt.inputs)
			if err := c.Validate(); err != nil {
				t.Errorf("a warning's case must be valid: %v", err)
			}
			if diff := cmp.Diff(tt.want, c.Warnings()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrepareReportDir(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "a", "b")
	for range 2 { // made, and there already
		if err := config.PrepareReportDir(deep); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(deep)
	if err != nil || len(left) != 0 {
		t.Errorf("the proof left %v behind (%v)", left, err)
	}
	for dir, want := range map[string]string{
		"":                       `report-dir: got nothing; write a folder, like cutwatch-report`,
		filepath.Join(file, "x"): `report-dir: "` + file + `/x" cannot be made (not a directory); write a folder that can`,
		"/proc/self":             `report-dir: "/proc/self" cannot be written to (no such file or directory); write a folder that can`,
	} {
		err := config.PrepareReportDir(dir)
		var bad *config.InputError
		if !errors.As(err, &bad) || bad.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", dir, err, want)
		}
	}
}

func TestSlowAddress(t *testing.T) {
	c := config.Config{SlowURL: "http://h/{seconds}?s={seconds}"}
	if got, want := c.SlowAddress(2.5), "http://h/2.5?s=2.5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRates(t *testing.T) {
	c := config.Default()
	if c.FreshRate() != 10 || c.Fast() != 10*time.Second {
		t.Errorf("fresh rate %v, timeout %v", c.FreshRate(), c.Fast())
	}
}
