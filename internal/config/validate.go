package config

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Bounds of what one prober holds open at a time.
const (
	maxConnections = 10_000
	maxSlowOpen    = 5_000
	maxID          = 64
)

// Validate checks everything that can be checked before something is sent. Its
// error joins one [InputError] for each input that is wrong, in the order of
// the inputs; nil means that the run can begin. It reads the file of ca-cert,
// and touches nothing else.
func (c *Config) Validate() error {
	var errs []error
	for _, check := range []func() *InputError{
		c.checkID, c.checkURL,
		c.checkSlowURL, c.checkSlowSeconds, c.checkSlowInterval, c.checkSlowOpen,
		c.checkVersionFrom, c.checkInstanceFrom, c.checkExpectVersion,
		c.checkConnections, c.checkRate,
		c.checkCutoverTimeout, c.checkDeployTimeout, c.checkMaxDuration,
		c.checkMethod, c.checkHeaders, c.checkExpectStatus, c.checkTimeout, c.checkCACert, c.checkControlURL,
		c.checkMaxDeployFailures, c.checkIdleRace, c.checkSilentRetry, c.checkOnInconclusive,
		c.checkPlatform, c.checkTrigger, c.checkRepeat, c.checkDigitalOceanToken, c.checkApp, c.checkGitHubToken, c.checkComment, c.checkCommentKey,
	} {
		if err := check(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, d := range c.durations() {
		if d.value < 0 || time.Duration(d.value) > maxDuration {
			errs = append(errs, inputf(d.name, "%s is out of range; write a duration from 0s to 720h", quote(d.value.String())))
		}
	}
	return errors.Join(errs...)
}

type namedDuration struct {
	name  string
	value Duration
}

func (c *Config) durations() []namedDuration {
	return []namedDuration{
		{"slow-interval", c.SlowInterval}, {"baseline", c.Baseline}, {"settle", c.Settle}, {"tail", c.Tail},
		{"cutover-timeout", c.CutoverTimeout}, {"deploy-timeout", c.DeployTimeout}, {"max-duration", c.MaxDuration},
		{"timeout", c.Timeout}, {"drain-window", c.DrainWindow},
	}
}

func (c *Config) checkID() *InputError {
	for _, r := range c.ID {
		if !(r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return inputf("id", "%s holds %s; write letters, digits, '.', '_' and '-' only", quote(c.ID), quote(string(r)))
		}
	}
	if len(c.ID) > maxID {
		return inputf("id", "got %d characters; write at most %d", len(c.ID), maxID)
	}
	return nil
}

func (c *Config) checkSlowSeconds() *InputError {
	if c.SlowURL == "" {
		return nil
	}
	if len(c.SlowSeconds) == 0 {
		return inputf("slow-seconds", "got none; write the length of slow requests in seconds, like 20 or 5,10,20")
	}
	for _, s := range c.SlowSeconds {
		if !(s > 0 && s <= maxSeconds) {
			return inputf("slow-seconds", "%s is out of range; write seconds above 0 and up to %d, like 20", quote(number(s)), maxSeconds)
		}
	}
	return nil
}

func (c *Config) checkSlowInterval() *InputError {
	if c.SlowURL != "" && c.SlowInterval == 0 {
		return inputf("slow-interval", "got 0s; write a duration above 0, like 1s")
	}
	return nil
}

// checkSlowOpen bounds the slow requests that are open at a time.
func (c *Config) checkSlowOpen() *InputError {
	if c.SlowURL == "" || len(c.SlowSeconds) == 0 || c.SlowInterval <= 0 {
		return nil
	}
	interval := time.Duration(c.SlowInterval).Seconds()
	if open := slices.Max(c.SlowSeconds) / interval; open > maxSlowOpen {
		return inputf("slow-interval", "%s would hold %.0f slow requests open at a time; write a longer one, so that it is at most %d", quote(c.SlowInterval.String()), open, maxSlowOpen)
	}
	return nil
}

func (c *Config) checkVersionFrom() *InputError { return checkExtractor("version-from", c.VersionFrom) }
func (c *Config) checkInstanceFrom() *InputError {
	return checkExtractor("instance-from", c.InstanceFrom)
}

func checkExtractor(input string, e Extractor) *InputError {
	switch {
	case e.Kind == "":
		return inputf(input, "got nothing; write header:NAME, json:PATH, regex:EXPR or none")
	case e.Kind == FromNone:
		return nil
	}
	var bad *InputError
	if errors.As(e.compile(e.String()), &bad) {
		return inputf(input, "%s", bad.Problem)
	}
	return nil
}

func (c *Config) checkExpectVersion() *InputError {
	if c.ExpectVersion != "" && c.VersionFrom.None() {
		return inputf("expect-version", "%s cannot be seen with version-from none; say in version-from where an answer names its version", quote(c.ExpectVersion))
	}
	return nil
}

func (c *Config) checkConnections() *InputError {
	if c.Connections < 1 || c.Connections > maxConnections {
		return inputf("connections", "got %d; write a number from 1 to %d", c.Connections, maxConnections)
	}
	return nil
}

func (c *Config) checkRate() *InputError {
	if !c.Rate.valid() {
		return inputf("rate", "%s is out of range; write %g/s to %d/s, or max", quote(number(c.Rate.PerSecond)+"/s"), minRate, maxRate)
	}
	return nil
}

func (c *Config) checkCutoverTimeout() *InputError {
	return above0("cutover-timeout", c.CutoverTimeout, "2m")
}
func (c *Config) checkDeployTimeout() *InputError {
	return above0("deploy-timeout", c.DeployTimeout, "30m")
}
func (c *Config) checkTimeout() *InputError { return above0("timeout", c.Timeout, "10s") }

func (c *Config) checkMaxDuration() *InputError {
	if err := above0("max-duration", c.MaxDuration, "60m"); err != nil {
		return err
	}
	if c.MaxDuration <= c.Baseline {
		return inputf("max-duration", "%s ends before the baseline of %s is in; write a longer one, like 60m", quote(c.MaxDuration.String()), c.Baseline)
	}
	return nil
}

func above0(input string, d Duration, like string) *InputError {
	if d == 0 {
		return inputf(input, "got 0s; write a duration above 0, like %s", like)
	}
	return nil
}

func (c *Config) checkMethod() *InputError {
	switch {
	case !isToken(c.Method):
		return inputf("method", "%s is not a method; write one word, like GET or POST", quote(c.Method))
	case strings.EqualFold(c.Method, "CONNECT"):
		return inputf("method", "%s would open a tunnel; write another one, like GET or POST", quote(c.Method))
	}
	return nil
}

func (c *Config) checkHeaders() *InputError {
	for i, h := range c.Headers {
		switch {
		case !isToken(h.Name):
			return inputf("headers", "header %d has no valid name; write one header a line, like Authorization: Bearer TOKEN", i+1)
		case !isFieldValue(h.Value):
			return inputf("headers", "header %d has a control character in its value; write one header a line in plain text", i+1)
		case slices.Contains(reserved, strings.ToLower(h.Name)):
			return inputf("headers", "%s is set by Cutwatch itself; leave it out", quote(h.Name))
		}
	}
	return nil
}

func (c *Config) checkExpectStatus() *InputError {
	if len(c.ExpectStatus) == 0 {
		return inputf("expect-status", "got none; write the codes that are good, like 200-399 or 200,204")
	}
	return nil
}

func (c *Config) checkCACert() *InputError {
	_, err := c.CertPool()
	var bad *InputError
	if errors.As(err, &bad) {
		return bad
	}
	return nil
}

func (c *Config) checkMaxDeployFailures() *InputError {
	if c.MaxDeployFailures < 0 {
		return inputf("max-deploy-failures", "got %d; write a number of 0 or more", c.MaxDeployFailures)
	}
	return nil
}

func (c *Config) checkIdleRace() *InputError    { return failOrWarn("idle-race", c.IdleRace) }
func (c *Config) checkSilentRetry() *InputError { return failOrWarn("silent-retry", c.SilentRetry) }
func (c *Config) checkOnInconclusive() *InputError {
	return failOrWarn("on-inconclusive", c.OnInconclusive)
}

func failOrWarn(input, value string) *InputError {
	if value != "fail" && value != "warn" {
		return inputf(input, "got %s; write fail or warn", quote(value))
	}
	return nil
}
