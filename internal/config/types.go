package config

import (
	"regexp"
	"time"
)

// The types in this file are inputs that have a grammar of their own. Each
// parses itself with UnmarshalText, whose error names what was expected, and
// prints itself with MarshalText in the form that parses back to it.

// Duration is a time.Duration written in Go's syntax ("30s").
type Duration time.Duration

// Seconds is a list of lengths in seconds ("5,10,20"), ascending as given.
type Seconds []float64

// Rate is a number of requests per second ("100/s" or "100"), or "max".
type Rate struct {
	PerSecond float64 // 0 when Max
	Max       bool    // a closed loop: each connection sends as soon as it was answered
}

// Extractor says where an answer names its version or instance.
type Extractor struct {
	Kind string         // "header", "json", "regex" or "none"
	Expr string         // header name, JSON path or expression
	re   *regexp.Regexp // compiled Expr of kind regex
}

// Regexp is the compiled expression of kind regex, nil for other kinds.
func (e Extractor) Regexp() *regexp.Regexp { return e.re }

// Header is one request header.
type Header struct{ Name, Value string }

// Headers is a block of "Name: value" lines.
type Headers []Header

// StatusSet is a set of status codes ("200-399,404").
type StatusSet []StatusRange

// StatusRange is the codes Low to High, both included.
type StatusRange struct{ Low, High int }

// Contains tells whether code is in the set.
func (s StatusSet) Contains(code int) bool {
	for _, r := range s {
		if r.Low <= code && code <= r.High {
			return true
		}
	}
	return false
}

// TextPattern is a text to be found, or "regex:EXPR". The zero value matches everything.
type TextPattern struct {
	Text string         // as given
	re   *regexp.Regexp // compiled, when Text begins with "regex:"
}
