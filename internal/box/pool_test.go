package box

import (
	"testing"
	"testing/synctest"
	"time"
)

// Picks are even, and of every key for itself.
func TestPoolPicksEvenly(t *testing.T) {
	a, b := &instance{id: "a"}, &instance{id: "b"}
	p := newPool(1, 0)
	p.set(a, b)
	for range 20 {
		got := map[string]map[*instance]int{"x": {}, "y": {}}
		for _, key := range []string{"x", "y", "x", "y"} { // in step
			got[key][p.pick(key)]++
		}
		for key, n := range got {
			if n[a] != 1 || n[b] != 1 {
				t.Errorf("two picks of %s: a %d times, b %d times", key, n[a], n[b])
			}
		}
	}
}

func TestPoolLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &instance{id: "a"}, &instance{id: "b"}
		p := newPool(1, time.Second)
		p.set(a)
		p.remove(a)
		p.add(b)
		time.Sleep(time.Second - 1)
		if got := p.pick(""); got != a {
			t.Errorf("before the lag is over: %v", got)
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if got := p.pick(""); got != b {
			t.Errorf("after it: %v", got)
		}
		p.remove(b)
		p.stop()
		time.Sleep(time.Minute)
		if got := p.pick(""); got != b {
			t.Errorf("after a stop: %v", got)
		}
	})
}
