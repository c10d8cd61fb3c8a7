package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
)

// What Get writes is read back as the same config, by a probe in another process.
func TestGetIsReadBack(t *testing.T) {
	given := config.Default()
	set(t, given, map[string]string{
		"url": "https://h/p?a=1,2", "slow-seconds": "5,10.5", "slow-interval": "250ms", "version-from": "regex:v=(\\w+)", "instance-from": "none",
		"rate": "max", "headers": "Accept: a/b\nAuthorization: Bearer s3cret", "body": " {}\n", "expect-status": "200,300-304",
		"expect-body": "regex:o+k", "allow-no-baseline": "true", "drain-window": "15s", "max-deploy-failures": "2", "id": "web",
	})
	for name, want := range map[string]*config.Config{"defaults": config.Default(), "given": given} {
		got, err := config.FromInputs(want.Get)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := given.Get("no-such-input"); got != "" {
		t.Errorf("an input that is not there is %q", got)
	}
}
