package main

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A runner gives the post entry point the arguments of the main one.
func TestArguments(t *testing.T) {
	for _, tt := range []struct{ argv, want []string }{
		{[]string{"/usr/local/bin/cutwatch", "action"}, []string{"action"}},
		{[]string{"/usr/local/bin/cutwatch-post", "action"}, []string{"action", "--post"}},
		{[]string{"cutwatch-post"}, []string{"action", "--post"}},
		{[]string{"./not-cutwatch-post", "run"}, []string{"run"}},
		{[]string{"cutwatch"}, []string{}},
		{nil, nil},
	} {
		if diff := cmp.Diff(tt.want, arguments(tt.argv)); diff != "" {
			t.Errorf("arguments of %q (-want +got):\n%s", tt.argv, diff)
		}
	}
}

// A cancelled job is not held up: nothing is waited for where nobody knows what
// became of the deploy, and not for long where it is known.
func TestCancelledJobIsNotHeldUp(t *testing.T) {
	for _, tt := range []struct {
		status, outcome string
		bound           time.Duration // -1: none
	}{
		{"success", "", -1}, {"failure", "success", -1}, {"", "", -1},
		{"cancelled", "", 0}, {"cancelled", "success", cancelledFor}, {"cancelled", "cancelled", cancelledFor}, {"", "cancelled", cancelledFor},
	} {
		s := &step{program: &program{streams: streams{err: io.Discard}}, input: func(string) string { return tt.status }}
		ctx, cancel := s.bounded(t.Context(), tt.outcome)
		deadline, bounded := ctx.Deadline()
		switch {
		case tt.bound == 0 && context.Cause(ctx) != errCancelled:
			t.Errorf("%+v: the wait goes on", tt)
		case tt.bound == 0:
		case ctx.Err() != nil || bounded != (tt.bound > 0) || bounded && time.Until(deadline) > tt.bound:
			t.Errorf("%+v: the wait ends at %s (%v), %v", tt, deadline, bounded, ctx.Err())
		}
		cancel()
	}
}
