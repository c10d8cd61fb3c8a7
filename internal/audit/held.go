package audit

import (
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/format"
)

// From these on a machine held a play up so much that it was another than its
// script says.
const (
	// heldOnce is as far apart as ends of requests are seen together.
	heldOnce = 50 * time.Millisecond
	// heldOften is many times what the 99th percentile is on a machine with room.
	heldOften = 20 * time.Millisecond
)

// Held is how far the machine held a play up: whatever wanted a processor and
// got none.
type Held struct {
	ProberP99, ProberMax time.Duration // the prober's lateness
	App                  time.Duration // the longest that one of the box's apps stood still
}

// HeldUp is how far a play was held up.
func HeldUp(truth box.Truth, p analysis.Prober) Held {
	return Held{ProberP99: p.LateP99, ProberMax: p.LateMax, App: truth.Stood}
}

// Busy tells whether what does not agree may be the machine's.
func (h Held) Busy() bool {
	return max(h.ProberMax, h.App) >= heldOnce || h.ProberP99 >= heldOften
}

func (h Held) String() string {
	return fmt.Sprintf("the prober was late by %s at the 99th percentile and %s at most, and an app of the box stood still for up to %s",
		format.Duration(h.ProberP99), format.Duration(h.ProberMax), format.Duration(h.App))
}
