package config

import (
	"fmt"
	"strings"
)

// InputError is what the user got wrong. Every error of bad input in this
// package is one, or joins several of them (errors.As finds the first), so that
// a command can tell them from its own faults: bad input exits with 2.
//
// Its text is one sentence that names the input, quotes what it got and says
// what to write instead. It never holds a header's value, a body or a password.
type InputError struct {
	Input   string // the input's name, like "slow-url"; "" where a type parses itself and does not know it
	Problem string
}

func (e *InputError) Error() string {
	if e.Input == "" {
		return e.Problem
	}
	return e.Input + ": " + e.Problem
}

// problemf is an InputError of an input that is not known yet.
func problemf(format string, args ...any) *InputError {
	return &InputError{Problem: fmt.Sprintf(format, args...)}
}

// inputf is an InputError of the input of that name.
func inputf(input, format string, args ...any) *InputError {
	return &InputError{Input: input, Problem: fmt.Sprintf(format, args...)}
}

// maxQuoted is how many bytes of what was given an error repeats.
const maxQuoted = 80

// quote is %q of s, capped.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:maxQuoted], ""))
}
