package host

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
)

func TestCheckMode(t *testing.T) {
	for _, tt := range []struct{ in, want, problem string }{
		{"", Auto, ""}, {"auto", Auto, ""}, {"start", Start, ""}, {"finish", Finish, ""}, {"run", Run, ""}, {"ready", Ready, ""}, {"merge", Merge, ""},
		{"Start", "", `"Start" is no mode; write auto, start, finish, run, ready or merge`},
		{"a\n::error::b", "", `is no mode`},
	} {
		got, err := CheckMode(tt.in)
		if got != tt.want {
			t.Errorf("%q: mode %q, want %q", tt.in, got, tt.want)
		}
		if _, bad := errors.AsType[*config.InputError](err); bad != (tt.problem != "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%q: error %v, want %q", tt.in, err, tt.problem)
		}
	}
}

func TestInputsHaveEachNameOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range Inputs() {
		if seen[in.Name] || in.Help == "" {
			t.Errorf("input %q: twice, or without help", in.Name)
		}
		seen[in.Name] = true
	}
	for _, name := range []string{ModeInput, CommandInput, OutcomeInput, "url", "report-dir"} {
		if !seen[name] {
			t.Errorf("there is no input %q", name)
		}
	}
}

func TestCheckLoopback(t *testing.T) {
	gateway := netip.MustParseAddr("172.17.0.1")
	for _, tt := range []struct{ address, want string }{
		{"http://localhost:3000/a?token=x", "http://172.17.0.1:3000/a?token=***"},
		{"http://LOCALHOST./", "http://172.17.0.1/"},
		{"http://app.localhost/", "http://172.17.0.1/"},
		{"https://127.0.0.1/", "https://172.17.0.1/"},
		{"http://127.1.2.3:80/", "http://172.17.0.1:80/"},
		{"http://[::1]:8080/", "http://172.17.0.1:8080/"},
		{"http://[::ffff:127.0.0.1]/", "http://172.17.0.1/"},
		{"http://0.0.0.0:1/", "http://172.17.0.1:1/"},
		{"http://user:pw@localhost/", "http://172.17.0.1/"},
		{"http://172.17.0.1:3000/", ""}, {"https://example.com/", ""}, {"http://localhost.example.com/", ""}, {"", ""},
	} {
		cfg := config.Default()
		cfg.URL = tt.address
		err := CheckLoopback(cfg, gateway)
		if (err == nil) != (tt.want == "") {
			t.Errorf("%s: error %v", tt.address, err)
			continue
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "url: ") || !strings.Contains(err.Error(), "at "+tt.want+";") ||
			!strings.Contains(err.Error(), "NAME") || strings.Contains(err.Error(), "pw@")) {
			t.Errorf("%s: %v; want the address %s", tt.address, err, tt.want)
		}
	}
}

func TestCheckLoopbackNamesEveryInput(t *testing.T) {
	cfg := config.Default()
	cfg.URL, cfg.SlowURL, cfg.ControlURL = "http://localhost/", "http://h/", "http://127.0.0.1/"
	err := CheckLoopback(cfg, netip.Addr{})
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "control-url: ") || strings.Contains(err.Error(), "on the runner") {
		t.Errorf("error %v", err)
	}
}

func TestGateway(t *testing.T) {
	const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	for _, tt := range []struct{ table, want string }{
		{head + "eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\neth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", "172.17.0.1"},
		{head + "eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", ""},
		{head + "eth0\t00000000\tnonsense\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", ""},
		{"", ""},
	} {
		got := Gateway(tt.table)
		if tt.want == "" && got.IsValid() || tt.want != "" && got != netip.MustParseAddr(tt.want) {
			t.Errorf("gateway %v, want %q", got, tt.want)
		}
	}
}
