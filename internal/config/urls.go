package config

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// secondsMark in slow-url stands for the length of each request.
const secondsMark = "{seconds}"

// SlowAddress is slow-url for a request of that length.
func (c *Config) SlowAddress(seconds float64) string {
	return strings.ReplaceAll(c.SlowURL, secondsMark, number(seconds))
}

func (c *Config) checkURL() *InputError {
	if c.URL == "" {
		if c.Platform == PlatformDigitalOcean {
			return nil // the app's own
		}
		return inputf("url", "got nothing; write what to probe, like https://example.com/health")
	}
	return checkAddress("url", c.URL)
}

func (c *Config) checkSlowURL() *InputError {
	if c.SlowURL == "" {
		return nil
	}
	if len(c.SlowSeconds) > 1 && !strings.Contains(c.SlowURL, secondsMark) {
		return inputf("slow-url", "%s has no %s, and slow-seconds has %d lengths; put it where the length belongs, like https://example.com/slow?seconds=%s, or give one length",
			quoteURL(c.SlowURL), secondsMark, len(c.SlowSeconds), secondsMark)
	}
	return checkAddress("slow-url", c.SlowAddress(1))
}

func (c *Config) checkControlURL() *InputError {
	if c.ControlURL == "" {
		return nil
	}
	return checkAddress("control-url", c.ControlURL)
}

// checkAddress checks one URL. Its errors show neither a password nor a query.
func checkAddress(input, address string) *InputError {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return inputf(input, "%s is not a URL; write one like https://example.com/health", quoteURL(address))
	case u.User != nil:
		return inputf(input, "%s holds a user name or password; give them in headers instead, like Authorization: Basic …", quoteURL(address))
	case u.Scheme != "http" && u.Scheme != "https":
		return inputf(input, "%s begins with neither http:// nor https://; write one that does, like https://example.com/health", quoteURL(address))
	case u.Hostname() == "":
		return inputf(input, "%s names no host; write one that does, like https://example.com/health", quoteURL(address))
	case !isASCII(u.Hostname()):
		return inputf(input, "%s names a host outside ASCII; write its xn-- form, like https://xn--bcher-kva.example/", quoteURL(address))
	case u.Port() != "" && !validPort(u.Port()):
		return inputf(input, "%s has a port that is not one from 1 to 65535; write another one, or none", quoteURL(address))
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func validPort(s string) bool {
	port, err := strconv.ParseUint(s, 10, 16)
	return err == nil && port > 0
}

// quoteURL quotes what was given as a URL without what may be secret in it:
// all that stands before an @ in its host's place, and its query.
func quoteURL(address string) string {
	rest, hidden := address, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, hidden = rest[:i], "?…"
	}
	scheme := ""
	if i := strings.Index(rest, "://"); i >= 0 {
		scheme, rest = rest[:i+3], rest[i+3:]
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…" + rest[i:]
	}
	return quote(scheme + rest + hidden)
}
