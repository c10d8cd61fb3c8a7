package host

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
)

// CheckLoopback refuses addresses on the loopback of a container that has a
// network of its own: nothing but the probe is there. gateway is the address of
// the container's default gateway, which is the machine that it runs on; the
// zero Addr where it is not known. Its error joins one [config.InputError] for
// each address.
func CheckLoopback(cfg *config.Config, gateway netip.Addr) error {
	var errs []error
	for _, in := range []struct{ name, address string }{
		{"url", cfg.URL}, {"slow-url", cfg.SlowURL}, {"control-url", cfg.ControlURL},
	} {
		if onLoopback(in.address) {
			errs = append(errs, &config.InputError{Input: in.name, Problem: loopbackProblem(in.address, gateway)})
		}
	}
	return errors.Join(errs...)
}

func loopbackProblem(address string, gateway netip.Addr) string {
	u, err := url.Parse(address)
	if err != nil {
		return err.Error() // it was parsed before
	}
	out := fmt.Sprintf("%s is the loopback of the action's own container, where nothing listens", format.Quote(config.MaskQuery(u.Redacted()), 120))
	at := func(host string) string {
		v := *u
		v.User, v.Host = nil, host
		if port := u.Port(); port != "" {
			v.Host = net.JoinHostPort(host, port)
		} else if strings.Contains(host, ":") {
			v.Host = "[" + host + "]"
		}
		return format.Clean(config.MaskQuery(v.String()), 160)
	}
	if gateway.IsValid() {
		out += fmt.Sprintf("; what listens on the runner is at %s", at(gateway.String()))
	}
	return out + fmt.Sprintf("; a service container of the job is at its name, like %s", at("NAME"))
}

// onLoopback tells whether an address is one of the machine itself.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsUnspecified()
}

// Gateway is the default gateway of a routing table in the form of
// /proc/net/route; the zero Addr where there is none.
func Gateway(table string) netip.Addr {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		raw, err := hex.DecodeString(f[2])
		if err != nil || len(raw) != 4 {
			continue
		}
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], binary.BigEndian.Uint32(raw)) // printed as a number of the machine's own order
		if gateway := netip.AddrFrom4(b); !gateway.IsUnspecified() {
			return gateway
		}
	}
	return netip.Addr{}
}
