package config

import (
	"bytes"
	"regexp"
	"strings"
)

// Kinds of an [Extractor].
const (
	FromHeader = "header"
	FromJSON   = "json"
	FromRegex  = "regex"
	FromNone   = "none"
)

// maxExpr is the longest expression, path or header name that is accepted, in bytes.
const maxExpr = 1000

// UnmarshalText parses "header:NAME", "json:PATH", "regex:EXPR" or "none"; ""
// is the zero Extractor. PATH is the keys from the top of the document with
// dots between them ("build.version"), a list's element by its number
// ("pods.0.name"). EXPR is in Go's syntax and its first group is what is taken.
func (e *Extractor) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "" {
		*e = Extractor{}
		return nil
	}
	if s == FromNone {
		*e = Extractor{Kind: FromNone}
		return nil
	}
	kind, expr, _ := strings.Cut(s, ":")
	parsed := Extractor{Kind: kind, Expr: expr}
	if err := parsed.compile(s); err != nil {
		return err
	}
	*e = parsed
	return nil
}

// compile checks the expression against its kind; given is what the user wrote.
func (e *Extractor) compile(given string) error {
	if len(e.Expr) > maxExpr {
		return problemf("%s is %d bytes long; write at most %d", quote(given), len(e.Expr), maxExpr)
	}
	switch e.Kind {
	case FromHeader:
		if !isToken(e.Expr) {
			return problemf("%s does not name a header; write one like header:x-version", quote(given))
		}
	case FromJSON:
		if e.Expr == "" || strings.Contains("."+e.Expr+".", "..") {
			return problemf("%s is not a path; write the keys with a dot between them, like json:build.version", quote(given))
		}
	case FromRegex:
		re, err := regexp.Compile(e.Expr)
		if err != nil {
			return problemf("%s is not a regular expression (%s); write one in Go's syntax", quote(given), regexpProblem(err))
		}
		if re.NumSubexp() < 1 {
			return problemf("%s has no group; put what is to be taken in parentheses, like regex:version=(\\w+)", quote(given))
		}
		e.re = re
	default:
		return problemf("%s names no place in an answer; write header:NAME, json:PATH, regex:EXPR or none", quote(given))
	}
	return nil
}

// MarshalText prints the extractor as it is parsed.
func (e Extractor) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// String prints the extractor as it is parsed; the zero Extractor is "".
func (e Extractor) String() string {
	if e.Expr == "" {
		return e.Kind
	}
	return e.Kind + ":" + e.Expr
}

// Equal tells whether both take the same thing.
func (e Extractor) Equal(other Extractor) bool { return e.String() == other.String() }

// None tells whether nothing is taken: asked for with "none", or the zero value.
func (e Extractor) None() bool { return e.Kind == FromNone || e.Kind == "" }

const regexPrefix = FromRegex + ":"

// UnmarshalText takes a text to be found, or "regex:EXPR"; "" is the zero value.
func (p *TextPattern) UnmarshalText(text []byte) error {
	parsed := TextPattern{Text: string(text)}
	if expr, ok := strings.CutPrefix(parsed.Text, regexPrefix); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			return problemf("%s is not a regular expression (%s); write one in Go's syntax, or a plain text", quote(parsed.Text), regexpProblem(err))
		}
		parsed.re = re
	}
	*p = parsed
	return nil
}

// MarshalText prints the pattern as it is parsed.
func (p TextPattern) MarshalText() ([]byte, error) { return []byte(p.Text), nil }

// String prints the pattern as it is parsed.
func (p TextPattern) String() string { return p.Text }

// Equal tells whether both match the same texts.
func (p TextPattern) Equal(other TextPattern) bool { return p.Text == other.Text }

// IsZero tells whether the pattern asks for nothing.
func (p TextPattern) IsZero() bool { return p.Text == "" }

// Match tells whether body holds the text, or matches the expression. The zero
// value matches everything.
func (p TextPattern) Match(body []byte) bool {
	if p.re != nil {
		return p.re.Match(body)
	}
	return bytes.Contains(body, []byte(p.Text))
}

// regexpProblem is the package's message without its prefix.
func regexpProblem(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}
