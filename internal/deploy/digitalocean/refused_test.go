package digitalocean_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/box/appapi"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
)

// What is wrong with the token or the app is said before anything is sent to the
// app, in one sentence that names the cure and not the token.
func TestRefusedBeforeTheRun(t *testing.T) {
	tests := []struct {
		name, app, token string
		fault            *appapi.Fault
		input            string
		says             []string
	}{
		{"a token that is not taken", "shop", "dop_v1_wrong", nil, "digitalocean-token", []string{"app:read", "Unable to authenticate you"}},
		{"a token without the scope", "shop", token, &appapi.Fault{Status: http.StatusForbidden}, "digitalocean-token", []string{"app:read"}},
		{"an answer that repeats the token", "shop", token, &appapi.Fault{Status: http.StatusForbidden, Message: "no scope in " + token}, "digitalocean-token", []string{"app:read", "no scope in ***"}},
		{"another name", "shoop", token, nil, "app", []string{`"shoop"`, "shop, blog"}},
		{"another id", "11111111-2222-3333-4444-555555555555", token, nil, "app", []string{"shop, blog"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, scene{trigger: config.TriggerDeploy})
			w.cfg.App, w.cfg.DigitalOceanToken = tt.app, tt.token
			if tt.fault != nil {
				w.api.Break(*tt.fault)
			}
			source, err := digitalocean.New(w.cfg, w.getenv)
			if err != nil {
				t.Fatal(err)
			}
			source.Hurry(times)
			_, err = source.Prepare(t.Context())
			bad, ok := errors.AsType[*config.InputError](err)
			if !ok || bad.Input != tt.input {
				t.Fatalf("error %v, want one of the input %s", err, tt.input)
			}
			for _, text := range tt.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q, want %q in it", err, text)
				}
			}
			if strings.Contains(err.Error(), tt.token) {
				t.Errorf("the token is in %q", err)
			}
			if n := w.api.Posts(); n != 0 {
				t.Errorf("%d requests to deploy", n)
			}
		})
	}
}
