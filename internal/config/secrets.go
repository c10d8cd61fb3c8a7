package config

import (
	"net/url"
	"slices"
	"strings"
)

// plainHeaders are those whose values are no secrets: hiding them would hide
// ordinary words all over the log.
var plainHeaders = []string{
	"accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-type",
	"host", "origin", "pragma", "referer", "user-agent",
}

// minSecret is the shortest text that is hidden, in bytes.
const minSecret = 4

// Secrets are the texts that must be neither seen in a log nor recorded, though a
// service may send them back: the values of the headers, and their parts
// ("Bearer TOKEN": TOKEN too), the tokens, and the values in the URLs' queries.
// The longest comes first, so that a part does not hide it badly.
func (c *Config) Secrets() []string {
	var out []string
	add := func(s string) {
		if len(s) >= minSecret && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, h := range c.Headers {
		if slices.Contains(plainHeaders, strings.ToLower(h.Name)) {
			continue
		}
		add(h.Value)
		if words := strings.Fields(h.Value); len(words) == 2 {
			add(words[1]) // a scheme and its credentials
		}
	}
	add(c.DigitalOceanToken)
	add(c.GitHubToken)
	for _, address := range []string{c.URL, c.SlowURL, c.ControlURL} {
		for _, s := range querySecrets(address) {
			add(s)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// secretNames are parts of the names of query parameters that hold secrets.
var secretNames = []string{"token", "key", "secret", "password", "passwd", "auth", "signature", "sig", "credential"}

// querySecrets are the password of a URL and the values in its query that go by
// a secret's name, as they are written there.
func querySecrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var out []string
	if password, ok := u.User.Password(); ok {
		out = append(out, password)
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		for _, s := range secretNames {
			if value != "" && strings.Contains(strings.ToLower(name), s) {
				out = append(out, value)
				break
			}
		}
	}
	return out
}
