package analysis

import (
	"strings"
	"testing"
	"time"
)

// The lines to paste say what the sentence says, within the platform's limits.
func TestLinesToPaste(t *testing.T) {
	for _, tt := range []struct {
		platform    string
		drain, need time.Duration
		want        string // the last line; "" none
	}{
		{"app-platform", 15 * time.Second, 20 * time.Second, "  drain_seconds: 26"},
		{"app-platform", 15 * time.Second, 0, "  drain_seconds: 20"},
		{"app-platform", 15 * time.Second, 5 * time.Minute, "  drain_seconds: 110"},
		{"kubernetes", 3 * time.Second, 20 * time.Second, "terminationGracePeriodSeconds: 26"},
		{"", 3 * time.Second, 20 * time.Second, ""},
	} {
		w := wordsFor(tt.platform)
		got := ""
		if p := w.longerDrainLines(tt.drain, tt.need); p != nil {
			got = p.Lines[len(p.Lines)-1]
		}
		if got != tt.want {
			t.Errorf("%q, drain %v, need %v: %q, want %q", tt.platform, tt.drain, tt.need, got, tt.want)
		}
		number := got[strings.LastIndex(got, " ")+1:]
		if cure := w.longerDrain(tt.drain, tt.need); tt.platform == "app-platform" && !strings.Contains(cure, number) {
			t.Errorf("%q: the lines say %s, the sentence %q", tt.platform, number, cure)
		}
	}
}
