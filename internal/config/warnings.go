package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A baseline below these cannot carry a verdict; the verdict says so as well.
const (
	MinBaseline         = 3 * time.Second
	MinBaselineRequests = 100
)

// Warnings says, one sentence each, what a valid configuration will not be able
// to do. Nil: nothing to say.
func (c *Config) Warnings() []string {
	var out []string
	if w := c.baselineWarning(); w != "" && !c.AllowNoBaseline {
		out = append(out, w)
	}
	if c.Method != strings.ToUpper(c.Method) {
		out = append(out, fmt.Sprintf("method: %s is sent as it is written, and services know upper case only; write %s", quote(c.Method), quote(strings.ToUpper(c.Method))))
	}
	if host := hostOf(c.ControlURL); host != "" && host == hostOf(c.URL) {
		out = append(out, fmt.Sprintf("control-url: %s is the host of url as well, so that it fails with it; write a host that does not depend on the deploy", quote(host)))
	}
	return out
}

func (c *Config) baselineWarning() string {
	if time.Duration(c.Baseline) < MinBaseline {
		return fmt.Sprintf("baseline: %s is under %s, so that the verdict will be inconclusive (baseline-too-short); write a longer one, like 30s", quote(c.Baseline.String()), MinBaseline)
	}
	planned := (c.Rate.PerSecond + c.FreshRate()) * time.Duration(c.Baseline).Seconds()
	if !c.Rate.Max && planned < MinBaselineRequests {
		return fmt.Sprintf("baseline: %s at a rate of %s is %.0f requests, under the %d that a verdict needs (baseline-too-short); write a longer baseline or a higher rate",
			quote(c.Baseline.String()), c.Rate, planned, MinBaselineRequests)
	}
	return ""
}

// hostOf is the host of a URL in lower case; "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
