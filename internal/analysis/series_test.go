package analysis

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Latency by the second counts the good answers of the fast lanes that came in
// it, and a second without any has none.
func TestSeriesSeconds(t *testing.T) {
	const ms = time.Millisecond
	w := newWorld()
	w.serve = func(t time.Duration, _ sample.Lane, s *sample.Sample) {
		if t >= at(1) && int(t/(10*ms))%50 == 0 { // in the second one, every fiftieth is slow
			s.Ended = s.Started + int64(300*ms)
		}
		answer(s, "v1", "a")
	}
	w.probe(0, at(1.9))
	w.end(at(3.5), sample.EndComplete)
	a := w.analyse(t)
	if len(a.Series.Seconds) != 4 {
		t.Fatalf("%d seconds, want 4", len(a.Series.Seconds))
	}
	first, second := a.Series.Seconds[0], a.Series.Seconds[1]
	if first == nil || first.P50 != took || first.P99 != took || first.Max != took {
		t.Errorf("first second %+v, want all of 10 ms", first)
	}
	if second == nil || second.P50 != took || second.P99 != 300*ms {
		t.Errorf("second second %+v, want 10 ms at half and 300 ms at the 99th percentile", second)
	}
	if got := first.N + second.N; got != a.Requests.OK {
		t.Errorf("%d answers in two seconds, want all %d", got, a.Requests.OK)
	}
	if a.Series.Seconds[2] != nil || a.Series.Seconds[3] != nil {
		t.Errorf("seconds without an answer %+v, %+v, want nil", a.Series.Seconds[2], a.Series.Seconds[3])
	}
}
