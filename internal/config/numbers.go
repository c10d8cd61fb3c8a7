package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of the numbers, so that no sum of them overflows and no typing error
// becomes an attack on the service.
const (
	maxDuration = 30 * 24 * time.Hour
	minRate     = 0.01
	maxRate     = 50_000
	maxSeconds  = 3600
	maxLengths  = 20
)

// UnmarshalText parses Go's syntax of a duration, 0 or longer; "" is 0.
func (d *Duration) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "" {
		*d = 0
		return nil
	}
	v, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return problemf("%s is not a duration; write a number with its unit, like 30s, 2m or 500ms", quote(s))
	case v < 0:
		return problemf("%s is negative; write a duration of 0 or longer, like 30s", quote(s))
	case v > maxDuration:
		return problemf("%s is too long; write at most 720h", quote(s))
	}
	*d = Duration(v)
	return nil
}

// MarshalText prints the duration in Go's syntax.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String prints the duration in Go's syntax.
func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText parses a comma list of lengths in seconds, each above 0; "" is none.
func (l *Seconds) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "" {
		*l = nil
		return nil
	}
	var out Seconds
	for item := range strings.SplitSeq(s, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(item), 64)
		if err != nil || !(v > 0 && v <= maxSeconds) {
			return problemf("%s is not a list of lengths; write seconds above 0 and up to %d, like 20 or 5,10,20", quote(s), maxSeconds)
		}
		out = append(out, v)
	}
	if len(out) > maxLengths {
		return problemf("got %d lengths; write at most %d", len(out), maxLengths)
	}
	*l = out
	return nil
}

// MarshalText prints the list as it is parsed.
func (l Seconds) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// String prints the list as it is parsed.
func (l Seconds) String() string {
	items := make([]string, len(l))
	for i, v := range l {
		items[i] = number(v)
	}
	return strings.Join(items, ",")
}

// UnmarshalText parses "100/s", "100" or "max"; "" is the zero Rate.
func (r *Rate) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	switch s {
	case "":
		*r = Rate{}
		return nil
	case "max":
		*r = Rate{Max: true}
		return nil
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "/s")), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return problemf("%s is not a rate; write requests per second, like 100/s or 0.5/s, or max", quote(s))
	}
	parsed := Rate{PerSecond: v}
	if !parsed.valid() {
		return problemf("%s is out of range; write %g/s to %d/s, or max", quote(s), minRate, maxRate)
	}
	*r = parsed
	return nil
}

func (r Rate) valid() bool {
	return r.Max && r.PerSecond == 0 || !r.Max && r.PerSecond >= minRate && r.PerSecond <= maxRate
}

// MarshalText prints the rate as it is parsed.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String prints the rate as it is parsed; the zero Rate is "".
func (r Rate) String() string {
	switch {
	case r.Max:
		return "max"
	case r.PerSecond == 0:
		return ""
	}
	return number(r.PerSecond) + "/s"
}

// number prints v in the fewest digits that parse back to it.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
