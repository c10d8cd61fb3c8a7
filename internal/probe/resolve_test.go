package probe

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func addrs(list ...string) []netip.Addr {
	out := make([]netip.Addr, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddr(s)
	}
	return out
}

// fakeDNS answers lookups from a zone that can be changed.
type fakeDNS struct {
	zone    []netip.Addr
	err     error
	lookups atomic.Int64
}

func (d *fakeDNS) resolver() *resolver {
	r := newResolver("service.test")
	r.lookup = func(_ context.Context, network, _ string) ([]netip.Addr, error) {
		d.lookups.Add(1)
		if d.err != nil {
			return nil, d.err
		}
		return slices.DeleteFunc(slices.Clone(d.zone), func(a netip.Addr) bool {
			return network == "ip4" && !a.Unmap().Is4() || network == "ip6" && a.Unmap().Is4()
		}), nil
	}
	return r
}

func next(t *testing.T, r *resolver) string {
	t.Helper()
	a, err := r.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a.String()
}

func TestResolverTakesAddressesInTurnForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDNS{zone: addrs("::ffff:10.0.0.1", "10.0.0.2")}
		r := d.resolver()
		seen := map[string]int{}
		for range 10 {
			seen[next(t, r)]++
		}
		if seen["10.0.0.1"] != 5 || seen["10.0.0.2"] != 5 || d.lookups.Load() != 1 {
			t.Errorf("seen %v with %d lookups", seen, d.lookups.Load())
		}
		d.zone = addrs("10.0.0.3")
		time.Sleep(1100 * time.Millisecond)
		if got := next(t, r); got != "10.0.0.3" {
			t.Errorf("after the record changed: %s", got)
		}
	})
}

func TestResolverKeepsToOneFamily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDNS{zone: addrs("fd00::1", "10.0.0.1")}
		r := d.resolver()
		if got := []string{next(t, r), next(t, r)}; !slices.Contains(got, "fd00::1") || !slices.Contains(got, "10.0.0.1") {
			t.Errorf("before one is known to work: %v", got)
		}
		r.settle(netip.MustParseAddr("10.0.0.1"))
		r.settle(netip.MustParseAddr("fd00::1")) // too late
		for range 3 {
			if got := next(t, r); got != "10.0.0.1" {
				t.Errorf("took %s", got)
			}
			time.Sleep(1100 * time.Millisecond)
		}
		d.zone = addrs("fd00::1")
		if a, err := r.next(t.Context()); err == nil {
			t.Errorf("took %s of the other family", a)
		}
	})
}

func TestResolverNews(t *testing.T) {
	d := &fakeDNS{zone: addrs("fd00::1", "::ffff:10.0.0.2", "10.0.0.1")}
	r := d.resolver()
	step := func(want ...string) {
		t.Helper()
		r.forget()
		if _, err := r.next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.news(); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	}
	if got := r.news(); got != nil {
		t.Errorf("told %v before anything was known", got)
	}
	step("10.0.0.1", "10.0.0.2", "fd00::1")
	step()
	// That one family is asked for from now on does not change the record.
	r.settle(netip.MustParseAddr("10.0.0.1"))
	step()
	d.zone = addrs("10.0.0.2")
	step("10.0.0.2")

	// A record that changed and changed back before a connection was made is no news.
	d.zone = addrs("10.0.0.9")
	r.forget()
	next(t, r)
	d.zone = addrs("10.0.0.2")
	step()

	d.zone = nil
	for i := range 100 {
		d.zone = append(d.zone, netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}))
	}
	r.forget()
	next(t, r)
	if n := len(r.news()); n != maxKnown {
		t.Errorf("told %d addresses of 100, want %d", n, maxKnown)
	}
}

func TestResolverFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDNS{err: errResolver}
		r := d.resolver()
		if _, err := r.next(t.Context()); !errors.Is(err, errResolver) {
			t.Errorf("error %v", err)
		}
		d.err, d.zone = nil, addrs("10.0.0.1")
		if got := next(t, r); got != "10.0.0.1" { // a failure is not remembered
			t.Errorf("after the resolver came back: %s", got)
		}
	})
}

// A lookup has a time of its own, shorter than that of most requests.
func TestResolverGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResolver("service.test")
		r.lookup = func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		start := time.Now()
		if _, err := r.next(t.Context()); !isTimeout(err) || time.Since(start) != lookupTimeout {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
	})
}

func TestLiteralIsNotLookedUp(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		if got := next(t, newResolver(host)); got != host {
			t.Errorf("%s became %s", host, got)
		}
	}
}
