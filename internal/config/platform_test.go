package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestValidateThePlatform(t *testing.T) {
	follow := map[string]string{"platform": "digitalocean", "app": "web", "digitalocean-token": "dop_v1_abc", "url": ""}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for _, m := range []map[string]string{follow, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	for _, tt := range []struct {
		name, input, problem string // "": valid
		given                map[string]string
	}{
		{"the app's own url", "", "", follow},
		{"a trigger", "", "", with(map[string]string{"trigger": "restart", "repeat": "3"})},
		{"github", "", "", map[string]string{"platform": "github", "github-token": "ghs_abc", "app": "production", "url": "http://h/"}},
		{"no platform of that name", "platform", "none, digitalocean or github", map[string]string{"platform": "heroku", "url": "http://h/"}},
		{"github without a url", "url", "got nothing", map[string]string{"platform": "github", "github-token": "x"}},
		{"no token", "digitalocean-token", "app:read", with(map[string]string{"digitalocean-token": ""})},
		{"a token with a line break", "digitalocean-token", "a blank", with(map[string]string{"digitalocean-token": "dop_v1_abc\n"})},
		{"github without a token", "github-token", "deployments: read", map[string]string{"platform": "github", "url": "http://h/"}},
		{"no app", "app", "id or name", with(map[string]string{"app": ""})},
		{"an app without a platform", "app", "without a platform", map[string]string{"app": "web", "url": "http://h/"}},
		{"no trigger of that name", "trigger", "rebuild or restart", with(map[string]string{"trigger": "redeploy"})},
		{"a trigger without a platform", "trigger", "platform: digitalocean", map[string]string{"trigger": "deploy", "url": "http://h/"}},
		{"no deploy", "repeat", "from 1 to 50", with(map[string]string{"repeat": "0"})},
		{"a comment now and then", "comment", "on-failure or never", map[string]string{"comment": "sometimes", "url": "http://h/"}},
		{"a key of two lines", "comment-key", "one line", map[string]string{"comment-key": "a\nb", "url": "http://h/"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := FromInputs(func(name string) string { return tt.given[name] })
			if err != nil {
				t.Fatal(err)
			}
			err = c.Validate()
			bad, isBad := errors.AsType[*InputError](err)
			switch {
			case tt.input == "" && err != nil:
				t.Errorf("got %v, want it valid", err)
			case tt.input != "" && (!isBad || bad.Input != tt.input || !strings.Contains(bad.Problem, tt.problem)):
				t.Errorf("got %v, want a problem of %s with %q", err, tt.input, tt.problem)
			case err != nil && strings.Contains(err.Error(), "dop_v1"):
				t.Errorf("%v shows the token", err)
			}
		})
	}
}

func TestTokensAreNotRecorded(t *testing.T) {
	c := Default()
	c.DigitalOceanToken, c.GitHubToken = "dop_v1_secret", "ghs_secret"
	got, err := json.Marshal(c.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "secret") {
		t.Errorf("the recorded config shows a token: %s", got)
	}
}
