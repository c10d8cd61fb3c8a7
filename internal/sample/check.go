package sample

import (
	"fmt"
	"time"
)

// maxTime bounds every time in a file, so that one broken line cannot make the
// analysis count its way through centuries. It is a day more than the longest run.
const maxTime = int64(31 * 24 * time.Hour)

// problem says what is wrong with the line; "" where nothing is.
func (l *Line) problem() string {
	kinds := 0
	for _, set := range []bool{l.Run != nil, l.Sample != nil, l.Skip != nil, l.FollowUp != nil, l.Signal != nil, l.Platform != nil, l.End != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Sprintf("it holds %d kinds of record, not one", kinds)
	}
	switch {
	case l.Sample != nil:
		return l.Sample.problem()
	case l.Skip != nil:
		if l.Skip.N < 0 || l.Skip.N > 1e9 {
			return fmt.Sprintf("it skips %d requests", l.Skip.N)
		}
		return outOfTime(l.Skip.From, l.Skip.To)
	case l.FollowUp != nil:
		return outOfTime(l.FollowUp.Started, l.FollowUp.Ended)
	case l.Signal != nil:
		return outOfTime(l.Signal.At)
	case l.Platform != nil:
		return l.Platform.problem()
	case l.End != nil:
		return outOfTime(l.End.At)
	}
	return ""
}

// MaxCount bounds the numbers of a platform's settings.
const MaxCount = 1_000_000

func (p *Platform) problem() string {
	for _, n := range []*int{p.DrainSeconds, p.GracePeriodSeconds, p.InstanceCount, p.SleepSeconds} {
		if n != nil && (*n < 0 || *n > MaxCount) {
			return fmt.Sprintf("its platform is set to %d of something", *n)
		}
	}
	return ""
}

func (s *Sample) problem() string {
	switch {
	case s.Lane == "":
		return "its sample is of no lane"
	case !(s.Seconds >= 0 && s.Seconds <= time.Duration(maxTime).Seconds()):
		return fmt.Sprintf("its sample asked for %g seconds", s.Seconds)
	case s.Before < 0 || s.Bytes < 0:
		return "its sample holds a negative number"
	}
	return outOfTime(s.Scheduled, s.Late, s.Queued, s.Started, s.Connected, s.TLSDone, s.Wrote, s.FirstByte, s.Ended, s.Idle, s.RTT)
}

func outOfTime(times ...int64) string {
	for _, t := range times {
		if t < 0 || t > maxTime {
			return fmt.Sprintf("it holds a time of %d ns, which no run has", t)
		}
	}
	return ""
}
