package config_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
)

func TestSetRefuses(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct{ name, value, want string }{
		{"timeout", "10", `timeout: "10" is not a duration; write a number with its unit, like 30s, 2m or 500ms`},
		{"timeout", long, `timeout: "` + long[:80] + `"… is not a duration; write a number with its unit, like 30s, 2m or 500ms`},
		{"tail", "-5s", `tail: "-5s" is negative; write a duration of 0 or longer, like 30s`},
		{"max-duration", "900h", `max-duration: "900h" is too long; write at most 720h`},
		{"slow-seconds", "0", `slow-seconds: "0" is not a list of lengths; write seconds above 0 and up to 3600, like 20 or 5,10,20`},
		{"slow-seconds", "5,-1", `slow-seconds: "5,-1" is not a list of lengths; write seconds above 0 and up to 3600, like 20 or 5,10,20`},
		{"slow-seconds", "5,,6", `slow-seconds: "5,,6" is not a list of lengths; write seconds above 0 and up to 3600, like 20 or 5,10,20`},
		{"slow-seconds", "NaN", `slow-seconds: "NaN" is not a list of lengths; write seconds above 0 and up to 3600, like 20 or 5,10,20`},
		{"slow-seconds", "20s", `slow-seconds: "20s" is not a list of lengths; write seconds above 0 and up to 3600, like 20 or 5,10,20`},
		{"slow-seconds", strings.Repeat("1,", 30) + "1", `slow-seconds: got 31 lengths; write at most 20`},
		{"rate", "0", `rate: "0" is out of range; write 0.01/s to 50000/s, or max`},
		{"rate", "-3/s", `rate: "-3/s" is out of range; write 0.01/s to 50000/s, or max`},
		{"rate", "1e9", `rate: "1e9" is out of range; write 0.01/s to 50000/s, or max`},
		{"rate", "Inf", `rate: "Inf" is not a rate; write requests per second, like 100/s or 0.5/s, or max`},
		{"rate", "100/m", `rate: "100/m" is not a rate; write requests per second, like 100/s or 0.5/s, or max`},
		{"version-from", "x-version", `version-from: "x-version" names no place in an answer; write header:NAME, json:PATH, regex:EXPR or none`},
		{"version-from", "header:x version", `version-from: "header:x version" does not name a header; write one like header:x-version`},
		{"version-from", "header:", `version-from: "header:" does not name a header; write one like header:x-version`},
		{"version-from", "json:", `version-from: "json:" is not a path; write the keys with a dot between them, like json:build.version`},
		{"version-from", "json:a..b", `version-from: "json:a..b" is not a path; write the keys with a dot between them, like json:build.version`},
		{"instance-from", "regex:(", "instance-from: \"regex:(\" is not a regular expression (missing closing ): `(`); write one in Go's syntax"},
		{"instance-from", "regex:v\\d+", `instance-from: "regex:v\\d+" has no group; put what is to be taken in parentheses, like regex:version=(\w+)`},
		{"instance-from", "regex:(" + strings.Repeat("x", 1000) + ")", `instance-from: "regex:(` + strings.Repeat("x", 73) + `"… is 1002 bytes long; write at most 1000`},
		{"expect-status", "200-", `expect-status: "200-" is not a set of status codes; write codes from 100 to 599, like 200-399 or 200,204`},
		{"expect-status", "2xx", `expect-status: "2xx" is not a set of status codes; write codes from 100 to 599, like 200-399 or 200,204`},
		{"expect-status", "399-200", `expect-status: "399-200" is not a set of status codes; write codes from 100 to 599, like 200-399 or 200,204`},
		{"expect-status", "200,999", `expect-status: "200,999" is not a set of status codes; write codes from 100 to 599, like 200-399 or 200,204`},
		{"expect-body", "regex:[", "expect-body: \"regex:[\" is not a regular expression (missing closing ]: `[`); write one in Go's syntax, or a plain text"},
		{"headers", "Accept: x\nBearer s3cret", `headers: line 2 has no colon; write one header a line, like Authorization: Bearer TOKEN`},
		{"headers", "Bearer s3cret: x", `headers: line 1 does not begin with a header's name; write one header a line, like Authorization: Bearer TOKEN`},
		{"headers", ": s3cret", `headers: line 1 does not begin with a header's name; write one header a line, like Authorization: Bearer TOKEN`},
		{"headers", "A: s3cret\rB: c", `headers: line 1 has a control character in its value; write one header a line in plain text`},
		{"headers", "A: s3\x00cret", `headers: line 1 has a control character in its value; write one header a line in plain text`},
		{"headers", strings.Repeat("A: b\n", 101), `headers: got 101 headers; write at most 100`},
		{"connections", "many", `connections: "many" is not a whole number; write one like 20`},
		{"connections", "1.5", `connections: "1.5" is not a whole number; write one like 20`},
		{"allow-no-baseline", "yes", `allow-no-baseline: "yes" is not a switch; write one of true, True, TRUE, false, False, FALSE`},
		{"insecure-skip-verify", "1", `insecure-skip-verify: "1" is not a switch; write one of true, True, TRUE, false, False, FALSE`},
		{"colour", "red", `colour: there is no such input; see the list of inputs in the README`},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.value[:min(len(tt.value), 20)], func(t *testing.T) {
			c := config.Default()
			err := c.Set(tt.name, tt.value)
			var bad *config.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if bad.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", bad, tt.want)
			}
			if strings.Contains(bad.Error(), "s3cret") {
				t.Error("the message holds the secret")
			}
			if diff := cmp.Diff(config.Default(), c); diff != "" {
				t.Errorf("a refused value changed the configuration:\n%s", diff)
			}
		})
	}
}

func TestSetRoundTrips(t *testing.T) {
	tests := []struct {
		name, value string
		text        string // "" where it prints as it was given
		print       func(*config.Config) encoding.TextMarshaler
	}{
		{name: "timeout", value: "1m30s", print: func(c *config.Config) encoding.TextMarshaler { return c.Timeout }},
		{name: "timeout", value: " 90s ", text: "1m30s", print: func(c *config.Config) encoding.TextMarshaler { return c.Timeout }},
		{name: "slow-seconds", value: "5, 0.25,20", text: "5,0.25,20", print: func(c *config.Config) encoding.TextMarshaler { return c.SlowSeconds }},
		{name: "rate", value: "250", text: "250/s", print: func(c *config.Config) encoding.TextMarshaler { return c.Rate }},
		{name: "rate", value: "0.5/s", print: func(c *config.Config) encoding.TextMarshaler { return c.Rate }},
		{name: "rate", value: "max", print: func(c *config.Config) encoding.TextMarshaler { return c.Rate }},
		{name: "version-from", value: "header:X-Sha", print: func(c *config.Config) encoding.TextMarshaler { return c.VersionFrom }},
		{name: "version-from", value: "json:pods.0.name", print: func(c *config.Config) encoding.TextMarshaler { return c.VersionFrom }},
		{name: "version-from", value: `regex:"v": ?"(\w+:\d)"`, print: func(c *config.Config) encoding.TextMarshaler { return c.VersionFrom }},
		{name: "version-from", value: "none", print: func(c *config.Config) encoding.TextMarshaler { return c.VersionFrom }},
		{name: "headers", value: "A: b:c\r\n\n B :\td \nEmpty:", text: "A: b:c\nB: d\nEmpty: \n", print: func(c *config.Config) encoding.TextMarshaler { return c.Headers }},
		{name: "expect-status", value: "200-399", print: func(c *config.Config) encoding.TextMarshaler { return c.ExpectStatus }},
		{name: "expect-status", value: "200, 204,300-304", text: "200,204,300-304", print: func(c *config.Config) encoding.TextMarshaler { return c.ExpectStatus }},
		{name: "expect-body", value: " all well ", print: func(c *config.Config) encoding.TextMarshaler { return c.ExpectBody }},
		{name: "expect-body", value: "regex:^o+k$", print: func(c *config.Config) encoding.TextMarshaler { return c.ExpectBody }},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.value, func(t *testing.T) {
			c := config.Default()
			if err := c.Set(tt.name, tt.value); err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(config.Default(), c) && tt.value != "200-399" {
				t.Error("the value changed nothing")
			}
			text, err := tt.print(c).MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			want := tt.text
			if want == "" {
				want = tt.value
			}
			if string(text) != want {
				t.Errorf("printed %q, want %q", text, want)
			}
			again := config.Default()
			if err := again.Set(tt.name, string(text)); err != nil {
				t.Fatalf("what was printed does not parse: %v", err)
			}
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("round trip (-first +second):\n%s", diff)
			}
		})
	}
}

func TestJSONRestoresConfig(t *testing.T) {
	full := config.Default()
	set(t, full, map[string]string{
		"url": "https://h/", "slow-url": "https://h/{seconds}", "slow-seconds": "1,2.5", "version-from": `regex:v=(\d+)`, "instance-from": "none",
		"rate": "max", "expect-status": "200,204", "expect-body": "regex:ok|fine", "drain-window": "15s", "max-deploy-failures": "3",
		"allow-no-baseline": "true", "insecure-skip-verify": "true", "control-url": "https://c/", "expect-version": "", "id": "a",
	})
	for name, c := range map[string]*config.Config{"default": config.Default(), "full": full, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			var got config.Config
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			got.ReportDir = c.ReportDir // not part of the record
			if diff := cmp.Diff(c, &got); diff != "" {
				t.Errorf("restored (-before +after):\n%s\nfrom %s", diff, text)
			}
			if (got.VersionFrom.Regexp() == nil) != (c.VersionFrom.Regexp() == nil) {
				t.Error("the expression was not compiled again")
			}
		})
	}
	if !full.ExpectBody.Match([]byte("all fine")) || full.ExpectBody.Match([]byte("bad")) {
		t.Error("expect-body does not match by its expression")
	}
}

func TestJSONHoldsNoSecret(t *testing.T) {
	c := config.Default()
	set(t, c, map[string]string{"headers": "Authorization: s3cret", "body": "s3cret", "ca-cert": "s3cret", "report-dir": "s3cret"})
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "s3cret") {
		t.Errorf("the record holds a secret: %s", text)
	}
	if got := c.Headers.String(); got != "Authorization" {
		t.Errorf("headers print as %q, want their names alone", got)
	}
	if got := c.Headers.Get("authorization"); got != "s3cret" {
		t.Errorf("Get: %q", got)
	}
}

func TestTextPatternMatch(t *testing.T) {
	tests := []struct {
		pattern, body string
		want          bool
	}{
		{"", "", true},
		{"", "anything", true},
		{"ok", "all ok here", true},
		{"ok", "all OK here", false},
		{"o+k", "ok", false},
		{"regex:o+k", "oook", true},
		{"regex:^ok$", "not ok", false},
	}
	for _, tt := range tests {
		var p config.TextPattern
		if err := p.UnmarshalText([]byte(tt.pattern)); err != nil {
			t.Fatal(err)
		}
		if got := p.Match([]byte(tt.body)); got != tt.want {
			t.Errorf("%q on %q: got %v", tt.pattern, tt.body, got)
		}
	}
}

func TestFromInputsNamesEveryBadInput(t *testing.T) {
	bad := map[string]string{"rate": "x", "timeout": "x"}
	_, err := config.FromInputs(func(name string) string { return bad[name] })
	want := `rate: "x" is not a rate; write requests per second, like 100/s or 0.5/s, or max` + "\n" +
		`timeout: "x" is not a duration; write a number with its unit, like 30s, 2m or 500ms`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
