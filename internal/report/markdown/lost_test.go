package markdown_test

import (
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/report/markdown"
)

// A comment about a lost probe is found again, holds no figures, and shows what
// it quotes as text.
func TestLost(t *testing.T) {
	got := markdown.LostComment("blue", "it said <b>@mona</b>", key)
	if s, ours := markdown.ParseState(got, key); !ours || s != nil {
		t.Errorf("state %+v, ours %v; want it ours and without a state:\n%s", s, ours, got)
	}
	for _, want := range []string{"Cutwatch (blue): this run cannot tell", "**INCONCLUSIVE** the probe was lost: it said"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if seen := untrue(markdown.Lost("blue", "it said <b>@mona</b>")); seen != "" {
		t.Errorf("markup (%s) in:\n%s", seen, got)
	}
}
