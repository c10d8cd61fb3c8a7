package clock

import (
	"testing"
	"time"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestFromDate(t *testing.T) {
	// The other clock is 90 s ahead: at 12:00:10.200–10.300 here it says 12:01:40.2xx, cut off.
	o, err := FromDate("Mon, 30 Nov 2026 12:01:40 GMT", start.Add(10200*time.Millisecond), start.Add(10300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if o.Ahead-o.Error > 90*time.Second || o.Ahead+o.Error < 90*time.Second {
		t.Errorf("%v ± %v does not hold 90 s", o.Ahead, o.Error)
	}
	if o.Error != 550*time.Millisecond {
		t.Errorf("error %v, want half of 1 s and the round trip", o.Error)
	}
	if _, err := FromDate("yesterday", start, start); err == nil {
		t.Error("a Date that is none was taken")
	}
}

func TestClockNarrowsAndMoves(t *testing.T) {
	var c Clock
	if _, known := c.Offset(); known {
		t.Fatal("an offset is known before the first answer")
	}
	ahead := -17 * time.Minute // behind
	for i := range 20 {
		sent := start.Add(time.Duration(i) * 1070 * time.Millisecond)
		date := sent.Add(ahead).UTC().Truncate(time.Second).Format(time.RFC1123)
		o, err := FromDate(date[:len(date)-3]+"GMT", sent, sent.Add(20*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		c.Learn(o)
	}
	o, _ := c.Offset()
	if o.Error > 100*time.Millisecond || (o.Ahead-ahead).Abs() > o.Error {
		t.Errorf("%v ± %v, want about %v", o.Ahead, o.Error, ahead)
	}
	at := c.Move(start.Add(30*time.Second+ahead), start)
	if (at - 30*time.Second).Abs() > o.Error {
		t.Errorf("moved to %v, want 30 s", at)
	}
}

func TestClockThatWasSet(t *testing.T) {
	var c Clock
	c.Learn(Offset{Ahead: time.Minute, Error: time.Second})
	c.Learn(Offset{Ahead: 0, Error: time.Second})
	if o, _ := c.Offset(); o.Ahead != 0 {
		t.Errorf("offset %v, want the later one", o.Ahead)
	}
}
