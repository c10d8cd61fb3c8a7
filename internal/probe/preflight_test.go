package probe

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Preflight passes over an address that nothing listens at, and keeps to the
// family of the one that accepts.
func TestPreflight(t *testing.T) {
	u, err := url.Parse(answering(t, okAnswer))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := newProbe(t, settings{"url": "http://service.test:" + u.Port()})
	p.main.to.names.lookup = func(_ context.Context, network, _ string) ([]netip.Addr, error) {
		if network == "ip4" {
			return addrs("127.0.0.1"), nil
		}
		return addrs("::1", "127.0.0.1"), nil
	}
	if err := p.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, p)
	for range 3 {
		if s := r.sendOnce(); s.Class != sample.OK || !strings.HasPrefix(s.Remote, "127.0.0.1:") {
			t.Errorf("class %q at %s (%s)", s.Class, s.Remote, s.Error)
		}
	}
}

func TestPreflightTellsWhatWasTried(t *testing.T) {
	dead := freePort(t)
	p, _ := newProbe(t, settings{"url": "http://service.test:" + dead[strings.LastIndex(dead, ":")+1:], "slow-url": "http://" + dead + "/slow", "control-url": "http://control.test"})
	p.main.to.names.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return addrs("127.0.0.1", "127.0.0.2"), nil
	}
	p.control.to.names.lookup = func(context.Context, string, string) ([]netip.Addr, error) { return nil, errResolver }
	err := p.Preflight(t.Context())
	if err == nil {
		t.Fatal("nothing listens, and it is content")
	}
	if strings.Contains(err.Error(), "->") {
		t.Errorf("it tells a local address that there was none of: %v", err)
	}
	for _, part := range []string{"url: ", "127.0.0.1", "127.0.0.2", "refused", "slow-url: ", dead, "control-url: ", errResolver.Error()} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in the error: %v", part, err)
		}
	}
	// It can be used all the same.
	if s := newRun(t, p).sendOnce(); s.Class != sample.ConnectRefused {
		t.Errorf("class %q", s.Class)
	}
}

func TestNewRefuses(t *testing.T) {
	for input, address := range map[string]string{"url": "http://bücher.example", "slow-url": "http://a.example:99999999/"} {
		cfg := newConfig(t, settings{"url": "http://localhost", "slow-url": "http://localhost"})
		if input == "url" {
			cfg.URL = address
		} else {
			cfg.SlowURL = address
		}
		if _, err := New(cfg, "test", time.Now(), nil); err == nil || !strings.HasPrefix(err.Error(), input+": ") {
			t.Errorf("%s %s: error %v", input, address, err)
		}
	}
}
