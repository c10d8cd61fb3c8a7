package run

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
)

const (
	lineEvery = 10 * time.Second       // elsewhere than on a terminal
	liveEvery = 200 * time.Millisecond // the live line
	clearLine = "\r\x1b[2K"
)

// progress tells a person how the run is going: on a terminal one line that is
// rewritten, elsewhere a line at each change of phase and every 10 s. What it
// cannot write is lost: progress never ends a run.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool
	open  bool // a live line stands without its line break
	phase Phase
	last  time.Duration // when the last line was written
	began bool
}

func newProgress(w io.Writer, live bool) *progress {
	if w == nil {
		w = io.Discard
	}
	return &progress{w: w, live: live}
}

// Update shows the present state where it is time to. While shared, the
// terminal is another's as well (COMMAND prints to it), and lines are not rewritten.
func (p *progress) Update(now time.Duration, phase Phase, c counts, shared bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	live, every := p.live && !shared, lineEvery
	if live {
		every = liveEvery
	}
	changed := !p.began || phase != p.phase
	if !changed && now-p.last < every {
		return
	}
	if changed || !live {
		p.breakLine()
	}
	p.began, p.phase, p.last = true, phase, now
	if live {
		p.print(clearLine + progressLine(now, phase, c))
		p.open = true
		return
	}
	p.print(progressLine(now, phase, c) + "\n")
}

// Note writes a whole line of its own.
func (p *progress) Note(text string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakLine()
	p.print("cutwatch: " + fmt.Sprintf(text, args...) + "\n")
}

// Close ends a live line.
func (p *progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakLine()
}

func (p *progress) breakLine() {
	if p.open {
		p.print("\n")
		p.open = false
	}
}

func (p *progress) print(s string) { _, _ = io.WriteString(p.w, s) }

func progressLine(now time.Duration, phase Phase, c counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%7s  %s: %s, %s failed", format.At(now), phase, format.Plural(c.Total, "request", "requests"), format.Count(c.Failed))
	if c.ShareNew != nil {
		fmt.Fprintf(&b, ", %s new", format.Percent(*c.ShareNew))
	}
	return b.String()
}
