// Package clock moves time stamps of another machine's clock onto the run's.
//
// A deploy's phases come with the times of the platform's clock, and a runner's
// clock may be minutes off. Every answer of the platform's API carries a Date
// header, so each tells how far the two clocks are apart.
package clock

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Offset is how far another clock is ahead of this machine's, and how exactly
// that is known.
type Offset struct {
	Ahead time.Duration // negative: behind
	Error time.Duration // Ahead is right to within ± this
}

// FromDate is the offset that one answer's Date header tells. sent and received
// are this machine's times of the request and the answer. A Date has whole
// seconds, cut off, so the other clock stood somewhere in the second that began
// with it, at some time between sent and received.
func FromDate(date string, sent, received time.Time) (Offset, error) {
	t, err := http.ParseTime(date)
	if err != nil {
		return Offset{}, fmt.Errorf("the Date header %.40q is not a date", date)
	}
	low, high := t.Sub(received), t.Add(time.Second).Sub(sent)
	return Offset{Ahead: (low + high) / 2, Error: (high - low) / 2}, nil
}

// Clock gathers offsets and moves times. The zero value knows none yet. It is
// safe for concurrent use.
type Clock struct {
	mu        sync.Mutex
	known     bool
	low, high time.Duration // the offset lies between
}

// Learn takes the offset of one more answer: each narrows what is known. One
// that contradicts it, since a clock was set meanwhile, replaces it.
func (c *Clock) Learn(o Offset) {
	c.mu.Lock()
	defer c.mu.Unlock()
	low, high := o.Ahead-o.Error, o.Ahead+o.Error
	if c.known && low <= c.high && high >= c.low {
		low, high = max(low, c.low), min(high, c.high)
	}
	c.low, c.high, c.known = low, high, true
}

// Offset is what is known so far; false: nothing.
func (c *Clock) Offset() (Offset, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Offset{Ahead: (c.low + c.high) / 2, Error: (c.high - c.low) / 2}, c.known
}

// Move is a time of the other clock as time since the run's start. Without an
// offset it is taken as it is.
func (c *Clock) Move(t, start time.Time) time.Duration {
	o, _ := c.Offset()
	return t.Add(-o.Ahead).Sub(start)
}
