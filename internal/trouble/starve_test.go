//go:build linux

package trouble

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cutwatch/cutwatch/internal/run"
)

// starvation is how long it lasts.
const starvation = 3 * time.Second

// The prober gets next to no CPU time for 3 s, in which new takes over: it is
// the last in line on a CPU that others keep busy. Unlike one that is stopped it
// goes on, far too slowly.
func TestStarved(t *testing.T) {
	cutwatch, cpu := build(t), lastCPU(t)
	inTrouble(t, func(t *testing.T) (problems, *record, *run.Outcome) {
		s, st := startService(t, "127.0.0.1"), newStage(t)
		p := startProber(t, cutwatch, s, st, need(t, "taskset"), "-c", cpu, need(t, "chrt"), "--idle", "0", need(t, "nice"), "-n", "19")
		end := st.begun(t)
		time.Sleep(calm)
		over := keepBusy(t, cpu)
		time.Sleep((starvation - overlap) / 2)
		s.swap(t)
		over()
		time.Sleep(calm)
		end()
		out := p.judged(t)
		return checkStarved(out), s.tells(t), out
	})
}

// keepBusy keeps a CPU busy; over waits for the end of it.
func keepBusy(t *testing.T, cpu string) (over func()) {
	t.Helper()
	ended := make(chan error, 2)
	for range cap(ended) {
		burner := exec.Command(need(t, "taskset"), "-c", cpu, self(t))
		burner.Env = as(asBurner, starvation.String())
		go func() { ended <- burner.Run() }()
	}
	return func() {
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
}

func checkStarved(out *run.Outcome) (wrong problems) {
	if late := out.Analysis.Prober.LateMax; late < 500*time.Millisecond {
		wrong.addf("the prober was late by %v at most: it was not in trouble", late)
	}
	wrong.checkBlameless(out)
	wrong.checkHidden(out)
	return wrong
}

// lastCPU is the last of the CPUs that this process may use.
func lastCPU(t *testing.T) string {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for cpu := len(set)*64 - 1; cpu >= 0; cpu-- {
		if set.IsSet(cpu) {
			return strconv.Itoa(cpu)
		}
	}
	t.Fatal("no CPU may be used")
	return ""
}
