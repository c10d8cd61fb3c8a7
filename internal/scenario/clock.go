package scenario

import (
	"context"
	"net/http"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/clock"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// skewed tells of a deploy as a platform's API does whose clock is off: every
// signal has that clock's time, and an answer with a Date header tells how far
// it is off.
type skewed struct {
	deploy.Source
	start time.Time // of the run, as near as can be known
	ahead time.Duration
	clock clock.Clock
}

// Run passes the signals on, with their times moved onto the run's clock.
func (s *skewed) Run(ctx context.Context, emit deploy.Emit) error {
	var failed error
	err := s.Source.Run(ctx, func(g sample.Signal) {
		now := time.Now()
		theirs := now.Add(s.ahead)
		offset, err := clock.FromDate(theirs.UTC().Format(http.TimeFormat), now, time.Now())
		if err != nil {
			failed = err
			return
		}
		s.clock.Learn(offset)
		known, _ := s.clock.Offset()
		g.At, g.Offset = int64(s.clock.Move(theirs, s.start)), int64(known.Ahead)
		emit(g)
	})
	if err == nil {
		err = failed
	}
	return err
}
