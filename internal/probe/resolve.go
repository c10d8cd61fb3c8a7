package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	nameTTL       = time.Second     // how long an answer is used, so that a flip of the record is seen
	lookupTimeout = 5 * time.Second // of one lookup
	maxKnown      = 64              // addresses of one host that are recorded
)

// resolver finds the addresses of one host. New connections take them in turn.
// A failed lookup is not remembered.
type resolver struct {
	host    string
	literal bool
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)

	mu      sync.Mutex
	network string // "ip" until an address accepted a connection; then "ip4" or "ip6"
	addrs   []netip.Addr
	until   time.Time // addrs is good until then
	turn    int

	known []netip.Addr // the last answer, sorted, at most maxKnown
	told  []netip.Addr // known as it was last recorded
}

// newResolver returns the resolver of a host name or IP literal; a literal is never looked up.
func newResolver(host string) *resolver {
	r := &resolver{host: host, network: "ip"}
	if addr, err := netip.ParseAddr(host); err == nil {
		r.literal = true
		r.lookup = func(context.Context, string, string) ([]netip.Addr, error) { return []netip.Addr{addr}, nil }
	}
	r.ask(net.DefaultResolver)
	return r
}

// ask has a name looked up by the resolver given.
func (r *resolver) ask(with *net.Resolver) {
	if !r.literal {
		r.lookup = with.LookupNetIP
	}
}

// next returns the address for a new connection.
func (r *resolver) next(ctx context.Context) (netip.Addr, error) {
	addrs, err := r.all(ctx)
	if err != nil {
		return netip.Addr{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	return addrs[r.turn%len(addrs)], nil
}

// all returns the host's addresses of the run's family, at least one.
func (r *resolver) all(ctx context.Context) ([]netip.Addr, error) {
	r.mu.Lock()
	network, addrs, fresh := r.network, r.addrs, time.Now().Before(r.until)
	r.mu.Unlock()
	if fresh {
		return addrs, nil
	}
	// Without the lock, so that one that gives up leaves the others alone; the
	// net package makes one lookup of those that run at once.
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := r.lookup(ctx, network, r.host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("lookup %s: no address of the network %q", r.host, network)
	}
	addrs = slices.Clone(addrs)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap() // the "ip" network gives IPv4 in IPv6's form
	}
	r.keep(network, addrs)
	return addrs, nil
}

// keep remembers an answer, unless the family was settled while it was under way.
func (r *resolver) keep(network string, addrs []netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if network != r.network {
		return
	}
	r.addrs, r.until = addrs, time.Now().Add(nameTTL)
	if r.literal {
		return
	}
	sorted := slices.Clone(addrs)
	slices.SortFunc(sorted, netip.Addr.Compare)
	sorted = slices.Compact(sorted)
	r.known = sorted[:min(len(sorted), maxKnown)]
}

// news is the host's addresses, sorted, where they are others than when it was
// last asked; else nil. It is nil for an IP literal.
func (r *resolver) news() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Equal(r.known, r.told) {
		return nil
	}
	r.told = r.known
	out := make([]string, len(r.told))
	for i, a := range r.told {
		out[i] = a.String()
	}
	return out
}

// settle makes the family of addr the run's: one that the prober has a way to.
// Only the first address counts.
func (r *resolver) settle(addr netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.network != "ip" {
		return
	}
	r.network = "ip6"
	if addr.Is4() {
		r.network = "ip4"
	}
	family := func(list []netip.Addr) []netip.Addr {
		// A new slice: the old one may be in a caller's hands.
		return slices.DeleteFunc(slices.Clone(list), func(a netip.Addr) bool { return a.Is4() != addr.Is4() })
	}
	// That the other family is not asked for any more is no news.
	r.addrs, r.known, r.told = family(r.addrs), family(r.known), family(r.told)
	if len(r.addrs) == 0 {
		r.until = time.Time{}
	}
}
