package main

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
)

// Where no platform is asked, the run itself takes the signal.
func TestFollowsNothingWithoutAPlatform(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(deploy.Interrupt{Signal: syscall.SIGTERM})
	if p, err := follow(ctx, config.Default(), nil, nil); p != nil || err != nil {
		t.Errorf("got %v and %v, want neither a platform nor an error", p, err)
	}
}

// A signal while the platform is asked, before anything was measured, is no fault
// of Cutwatch's, and nothing is said of what the API answered.
func TestInterruptedBeforeAnythingIsSent(t *testing.T) {
	for _, platform := range [][]string{
		{"--platform", "digitalocean", "--digitalocean-token", "t", "--app", "shop", "--trigger", "deploy"},
		{"--platform", "github", "--github-token", "t"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(deploy.Interrupt{Signal: syscall.SIGTERM})
		env := map[string]string{
			"DIGITALOCEAN_API_URL": "http://127.0.0.1:1", "DIGITALOCEAN_ACCESS_TOKEN": "t",
			"GITHUB_API_URL": "http://127.0.0.1:1", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": strings.Repeat("0", 40),
		}
		var stderr bytes.Buffer
		args := append([]string{"run", "--url", "http://127.0.0.1:1/", "--report-dir", t.TempDir()}, platform...)
		code := realMain(ctx, args, streams{strings.NewReader(""), &stderr, &stderr}, func(name string) string { return env[name] })
		if want := "cutwatch: got SIGTERM while the platform was asked; nothing was sent and nothing deployed\n"; code != 3 || stderr.String() != want {
			t.Errorf("%v: exit code %d, want 3; said %q, want %q", platform, code, stderr.String(), want)
		}
	}
}
