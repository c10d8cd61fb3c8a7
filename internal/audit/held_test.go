package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/box"
)

func TestHeldUp(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	got := HeldUp(box.Truth{Stood: ms(3)}, analysis.Prober{LateP99: ms(1), LateMax: ms(2)})
	if diff := cmp.Diff(Held{ProberP99: ms(1), ProberMax: ms(2), App: ms(3)}, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	for _, tt := range []struct {
		held Held
		want bool
	}{
		{Held{}, false},
		{Held{ProberP99: ms(19), ProberMax: ms(49), App: ms(49)}, false},
		{Held{ProberP99: ms(20), ProberMax: ms(21)}, true},
		{Held{ProberMax: ms(50)}, true},
		{Held{App: ms(50)}, true},
	} {
		if got := tt.held.Busy(); got != tt.want {
			t.Errorf("%s: busy %v, want %v", tt.held, got, tt.want)
		}
	}
}
