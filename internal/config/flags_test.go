package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
)

// The inputs that make up Config and their defaults, as they are promised to
// users: other programs rely on both.
var promised = []struct{ name, def string }{
	{"id", ""},
	{"url", ""},
	{"slow-url", ""},
	{"slow-seconds", "20"},
	{"slow-interval", "1s"},
	{"version-from", "header:x-version"},
	{"instance-from", "header:x-instance"},
	{"expect-version", ""},
	{"connections", "20"},
	{"rate", "100/s"},
	{"baseline", "30s"},
	{"settle", "10s"},
	{"tail", "10s"},
	{"allow-no-baseline", "false"},
	{"cutover-timeout", "2m"},
	{"deploy-timeout", "30m"},
	{"max-duration", "60m"},
	{"method", "GET"},
	{"headers", ""},
	{"body", ""},
	{"expect-status", "200-399"},
	{"expect-body", ""},
	{"timeout", "10s"},
	{"ca-cert", ""},
	{"insecure-skip-verify", "false"},
	{"control-url", ""},
	{"drain-window", ""},
	{"max-deploy-failures", "0"},
	{"idle-race", "fail"},
	{"silent-retry", "warn"},
	{"on-inconclusive", "fail"},
	{"platform", "none"}, {"trigger", "none"}, {"repeat", "1"}, {"digitalocean-token", ""}, {"app", ""},
	{"github-token", ""}, {"comment", "auto"}, {"comment-key", ""},
	{"report-dir", "cutwatch-report"},
	{"history", ""},
}

// cli is how the commands hold Config.
type cli struct {
	Run struct {
		config.Config `embed:""`

		Command []string `arg:"" optional:""`
	} `cmd:""`
}

// parse parses args of the run command as main does. It leaves out kong's own
// call of Validate, so that what the flags make can be looked at by itself.
func parse(t *testing.T, args ...string) (*cli, error) {
	t.Helper()
	var c cli
	k, err := kong.New(&c, kong.Name("cutwatch"), kong.Exit(func(int) { t.Error("kong wants to exit") }))
	if err != nil {
		t.Fatal(err)
	}
	args, err = config.Args(args)
	if err != nil {
		return nil, err
	}
	_, err = k.Parse(append([]string{"run"}, args...))
	return &c, err
}

func TestFlagsAreThePromisedInputs(t *testing.T) {
	k, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range k.Model.Children[0].Flags {
		got = append(got, f.Name+"="+f.Default)
	}
	var want []string
	for _, p := range promised {
		def := p.def
		if def == "false" {
			def = "" // kong shows no default of a switch
		}
		want = append(want, p.name+"="+def)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags of the run command (-promised +got):\n%s", diff)
	}
}

func TestFlagsDefaultsAreDefault(t *testing.T) {
	got, err := parse(t, "--url=http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.URL = "http://127.0.0.1:1"
	if diff := cmp.Diff(want, &got.Run.Config); diff != "" {
		t.Errorf("the flags' defaults are not Default() (-Default +flags):\n%s", diff)
	}
	spelled, err := config.FromInputs(func(name string) string {
		for _, p := range promised {
			if p.name == name {
				return p.def
			}
		}
		t.Errorf("input %q is not promised", name)
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spelled, config.Default()); diff != "" {
		t.Errorf("Default() is not what is promised (-promised +Default):\n%s", diff)
	}
}

func TestFlagsTakeEveryType(t *testing.T) {
	got, err := parse(t,
		"--url", "https://h/p?a=1,2", "--slow-url=https://h/slow/{seconds}", "--slow-seconds", "5,10.5,20", "--slow-interval=250ms",
		"--version-from=json:build.version", "--instance-from=regex:pod=(\\w+),x", "--connections=3", "--rate", "max",
		"--allow-no-baseline", "--insecure-skip-verify=True",
		"--headers", "Accept: a/b, c/d\nX-One: 1,2\n", "--headers=X-Two: 2",
		"--expect-status=200,204,300-304", "--expect-body=regex:o+k", "--drain-window=15s", "--max-deploy-failures=2",
		"--", "sh", "-c", "deploy --rate= x")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	set(t, want, map[string]string{
		"url": "https://h/p?a=1,2", "slow-url": "https://h/slow/{seconds}", "slow-seconds": "5,10.5,20", "slow-interval": "250ms",
		"version-from": "json:build.version", "instance-from": "regex:pod=(\\w+),x", "connections": "3", "rate": "max",
		"allow-no-baseline": "TRUE", "insecure-skip-verify": "true",
		"headers":       "Accept: a/b, c/d\r\n\r\nX-One: 1,2\nX-Two:2",
		"expect-status": "200,204,300-304", "expect-body": "regex:o+k", "drain-window": "15s", "max-deploy-failures": "2",
	})
	if diff := cmp.Diff(want, &got.Run.Config); diff != "" {
		t.Errorf("flags and inputs differ (-inputs +flags):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"sh", "-c", "deploy --rate= x"}, got.Run.Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
}

func TestFlagsEmptyIsTheDefault(t *testing.T) {
	var args []string
	for _, p := range promised {
		switch {
		case p.name == "url":
			args = append(args, "--url=http://127.0.0.1:1")
		case p.def == "false":
			args = append(args, "--"+p.name+"=")
		case len(p.name)%2 == 0:
			args = append(args, "--"+p.name, "")
		default:
			args = append(args, "--"+p.name+"=")
		}
	}
	got, err := parse(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.URL = "http://127.0.0.1:1"
	if diff := cmp.Diff(want, &got.Run.Config); diff != "" {
		t.Errorf("empty flags (-Default +flags):\n%s", diff)
	}
}

func TestFlagsErrors(t *testing.T) {
	tests := []struct{ name, arg, want string }{
		{"a type's own error carries the flag", "--rate=fast",
			`--rate: "fast" is not a rate; write requests per second, like 100/s or 0.5/s, or max`},
		{"a switch", "--insecure-skip-verify=yes",
			`insecure-skip-verify: "yes" is not a switch; write one of true, True, TRUE, false, False, FALSE`},
		{"a check", "--connections=0", `run: connections: got 0; write a number from 1 to 10000`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(t, "--url=http://127.0.0.1:1", tt.arg)
			var bad *config.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if got := err.Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFlagsHelpFitsTheGrammar(t *testing.T) {
	var out strings.Builder
	k, err := kong.New(&cli{}, kong.Writers(&out, &out), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Parse([]string{"run", "--help"}); err == nil {
		t.Log("kong went on after --help, since its exit is replaced")
	}
	for _, want := range []string{"--slow-seconds=20 ", "--expect-status=200-399 ", "--headers=LINES ", "{seconds}"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not hold %q:\n%s", want, out.String())
		}
	}
}

func set(t *testing.T, c *config.Config, inputs map[string]string) {
	t.Helper()
	for name, value := range inputs {
		if err := c.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// A value below zero is refused as a value, and not taken for a flag.
func TestArgsKeepsNegativeValues(t *testing.T) {
	got, err := config.Args([]string{"run", "--repeat", "-1", "--tail", "-5s", "--", "x", "--repeat", "-1"})
	want := []string{"run", "--repeat=-1", "--tail=-5s", "--", "x", "--repeat", "-1"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("arguments (-want +got, %v):\n%s", err, diff)
	}
}
