package analysis

import "time"

// around is how far the cutover interval reaches beyond the cutover itself.
const around = 2 * time.Second

// findWindow sets the deploy window, in which a failure can be the deploy's,
// and the cutover interval in it.
func (s *state) findWindow() {
	d, c := &s.out.Deploy, s.out.Cutover
	settle := time.Duration(s.head.Config.Settle)
	from := s.firstSign()
	if from < 0 {
		return
	}
	var to time.Duration
	switch {
	case c != nil && s.out.Stop != nil:
		end := s.out.Stop.End
		to = max(c.Start, end) + settle // after a gap new has only just come
		d.Interval = &Span{max(0, min(c.Start, end)-around), max(c.Start, end) + around}
	case s.deployEnd >= 0:
		to = ns(s.deployEnd) + settle
		if c != nil {
			d.Interval = &Span{max(0, c.Start-around), c.End + around}
		}
	default:
		to = s.out.Duration // the deploy never ended
	}
	wider := s.clockDoubt()
	d.Window = &Span{max(0, ns(from)-wider), max(to, ns(from)) + wider}
}

const (
	clockTrust = 2 * time.Second  // a clock that is no further off is taken at its word
	clockSay   = 60 * time.Second // one that is further off is told of
)

// clockDoubt is by how much the window is wider because the deploy's marks
// came from a clock that was off: they were corrected by whole seconds, and a
// clock that is far off may have been set meanwhile.
func (s *state) clockDoubt() time.Duration {
	off := s.out.Deploy.ClockOff
	if off <= clockTrust {
		return 0
	}
	return min(off, clockTrust)
}

// firstSign is the deploy's first sign: its marker or first phase, new's first
// answer, or the first failure of the outage that new ended; −1 without any.
func (s *state) firstSign() int64 {
	first := s.deployStart
	c := s.out.Cutover
	if c == nil || c.By == "marks" {
		return first
	}
	first = earlier(first, int64(c.Start))
	if !c.Gap {
		return first
	}
	for _, o := range s.fast {
		if o.failed() && !o.named() && o.end > int64(c.End) && o.start < int64(c.Start) {
			return min(first, o.start)
		}
	}
	return first
}

// holds tells whether the request was under way at any time of the span.
func (p *Span) holds(o *obs) bool {
	return p.meets(ns(o.start), ns(o.end))
}

// length of the span; 0 of none.
func (p *Span) length() time.Duration {
	if p == nil {
		return 0
	}
	return p.To - p.From
}
