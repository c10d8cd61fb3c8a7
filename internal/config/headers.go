package config

import (
	"strings"
)

// maxHeaders is how many headers are accepted.
const maxHeaders = 100

// reserved are the headers that the probe sets itself: another value would
// break what is measured, or the framing of the requests.
var reserved = []string{
	"connection", "content-length", "expect", "keep-alive", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade", "x-cutwatch-id", "x-request-id",
}

// UnmarshalText adds the headers of a block of "Name: value" lines to h, so
// that the flag may be given several times. Blank lines are skipped.
//
// Its errors name the line by its number and repeat nothing of it, since it may
// hold a secret.
func (h *Headers) UnmarshalText(text []byte) error {
	var parsed Headers
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.Trim(value, " \t")
		switch {
		case !found:
			return problemf("line %d has no colon; write one header a line, like Authorization: Bearer TOKEN", n)
		case !isToken(name):
			return problemf("line %d does not begin with a header's name; write one header a line, like Authorization: Bearer TOKEN", n)
		case !isFieldValue(value):
			return problemf("line %d has a control character in its value; write one header a line in plain text", n)
		}
		parsed = append(parsed, Header{Name: name, Value: value})
	}
	if len(*h)+len(parsed) > maxHeaders {
		return problemf("got %d headers; write at most %d", len(*h)+len(parsed), maxHeaders)
	}
	*h = append(*h, parsed...)
	return nil
}

// MarshalText prints the block as it is parsed, secrets included.
func (h Headers) MarshalText() ([]byte, error) {
	var b strings.Builder
	for _, header := range h {
		b.WriteString(header.Name + ": " + header.Value + "\n")
	}
	return []byte(b.String()), nil
}

// String names the headers and leaves their values out, so that no message holds a secret.
func (h Headers) String() string {
	names := make([]string, len(h))
	for i, header := range h {
		names[i] = header.Name
	}
	return strings.Join(names, ", ")
}

// Get is the value of the first header of that name, in any case; "" if there is none.
func (h Headers) Get(name string) string {
	for _, header := range h {
		if strings.EqualFold(header.Name, name) {
			return header.Value
		}
	}
	return ""
}

// isToken tells whether s is a token of HTTP: a header's name or a method.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isFieldValue tells whether s can stand as a header's value: no control character but the tab.
func isFieldValue(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
