package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecrets(t *testing.T) {
	cfg := Default()
	cfg.Headers = Headers{
		{Name: "Authorization", Value: "Bearer t0ken-value"}, {Name: "Accept", Value: "application/json"},
		{Name: "X-Api-Key", Value: "k3y-value"}, {Name: "X-Short", Value: "abc"}, {Name: "X-Words", Value: "one two three"},
	}
	cfg.URL = "https://user:p4ssword@h/?token=in-the-url&page=1234"
	cfg.SlowURL = "https://h/slow?SIGNATURE=abc%2Fdef&seconds={seconds}"
	cfg.DigitalOceanToken, cfg.GitHubToken = "dop_v1_t0ken", "ghs_t0ken"
	got := cfg.Secrets()
	slices.Sort(got)
	want := []string{"Bearer t0ken-value", "abc%2Fdef", "dop_v1_t0ken", "ghs_t0ken", "in-the-url", "k3y-value", "one two three", "p4ssword", "t0ken-value"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}
