//go:build linux

package trouble

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	// trouble is how long it lasts, and timeout is half of it.
	trouble = 2 * time.Second
	// calm is what lies between the steps of a deploy in which nothing happens.
	calm = 700 * time.Millisecond
	// apart is more than what counts as being around a cutover.
	apart = 2500 * time.Millisecond
)

// The prober does not run for 2 s, as a laptop that sleeps or a virtual machine
// that is moved, and so does not see its timers; the service goes on meanwhile.
func TestStopped(t *testing.T) {
	t.Parallel()
	cutwatch := build(t)
	var timeouts atomic.Int64 // of both
	t.Run("both", func(t *testing.T) {
		t.Run("while old answers", func(t *testing.T) {
			t.Parallel()
			inTrouble(t, func(t *testing.T) (problems, *record, *run.Outcome) {
				s, st := startService(t, "127.0.0.1"), newStage(t)
				p := startProber(t, cutwatch, s, st)
				end := st.begun(t)
				time.Sleep(calm)
				p.signal(t, syscall.SIGSTOP)
				time.Sleep(trouble)
				p.signal(t, syscall.SIGCONT)
				time.Sleep(apart)
				s.swap(t)
				time.Sleep(overlap + calm)
				end()
				out := p.judged(t)
				timeouts.Add(timedOut(out))
				return checkStopped(out), s.tells(t), out
			})
		})
		t.Run("across the cutover", func(t *testing.T) {
			t.Parallel()
			inTrouble(t, func(t *testing.T) (problems, *record, *run.Outcome) {
				s, st := startService(t, "127.0.0.1"), newStage(t)
				p := startProber(t, cutwatch, s, st)
				end := st.begun(t)
				time.Sleep(calm)
				p.signal(t, syscall.SIGSTOP)
				time.Sleep((trouble - overlap) / 2)
				s.swap(t)
				time.Sleep((trouble + overlap) / 2)
				p.signal(t, syscall.SIGCONT)
				time.Sleep(calm)
				end()
				out := p.judged(t)
				timeouts.Add(timedOut(out))
				return checkStopped(out), s.tells(t), out
			})
		})
	})
	// Those that the prober reads before it looks at its timers are answered.
	if timeouts.Load() == 0 && !t.Failed() {
		t.Error("no request timed out of those that were in flight when the prober stopped for twice their timeout")
	}
}

func checkStopped(out *run.Outcome) (wrong problems) {
	if n := out.Analysis.Prober.Skipped; n < 20 {
		wrong.addf("%d requests could not be sent, want 20 at least: the prober did not stop", n)
	}
	wrong.checkBlameless(out)
	wrong.checkHidden(out)
	return wrong
}

// timedOut is how many requests timed out.
func timedOut(out *run.Outcome) (n int64) {
	for _, f := range out.Analysis.Failures {
		if f.Class == string(sample.Timeout) {
			n++
		}
	}
	return n
}
