package analysis

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// limitedByRate tells whether an answer says itself that a rate limit made it.
func limitedByRate(f *sample.Sample) bool {
	for name := range f.Headers {
		n := strings.ToLower(name)
		if n == "retry-after" || strings.HasPrefix(n, "ratelimit") || strings.HasPrefix(n, "x-ratelimit") {
			return true
		}
	}
	return false
}

// challenged tells whether the answer is a page that asks for a human.
func challenged(f *sample.Sample) bool {
	if header(f, "cf-mitigated") == "challenge" {
		return true
	}
	text := strings.ToLower(f.Excerpt)
	for _, mark := range []string{"just a moment...", "cf-challenge", "captcha", "attention required"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// header is the value of a failed answer's header, whatever its case; "" without it.
func header(f *sample.Sample, name string) string {
	for n, v := range f.Headers {
		if strings.EqualFold(n, name) {
			return v
		}
	}
	return ""
}
