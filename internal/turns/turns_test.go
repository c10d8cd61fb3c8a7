package turns

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlayUntilItIsRight(t *testing.T) {
	tests := []struct {
		name        string
		right       int  // the play that is right, from 1 on
		spoiled     bool // what is wrong may be the machine's
		plays       int
		wantNothing bool
	}{
		{"right at once", 1, false, 1, true},
		{"wrong on a machine at rest", 2, false, 1, false},
		{"spoiled twice", 3, true, 3, true},
		{"spoiled as often as can be", again + 1, true, again + 1, true},
		{"spoiled for ever", again + 2, true, again + 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plays := 0
				wrong := New(3).Play(t, func() (string, bool) {
					if plays++; plays == tt.right {
						return "", tt.spoiled
					}
					return "not so", tt.spoiled
				})
				if plays != tt.plays || (wrong == "") != tt.wantNothing {
					t.Errorf("%d plays, wrong %q; want %d, nothing wrong: %v", plays, wrong, tt.plays, tt.wantNothing)
				}
			})
		})
	}
}

// Side by side there are as many as there is room for, and the longer a play is
// spoiled, the fewer are beside it.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 16
		room := New(size)
		var now, most atomic.Int64
		var others sync.WaitGroup
		for range size {
			others.Go(func() {
				for range 10 {
					room.Play(t, func() (string, bool) {
						most.Store(max(most.Load(), now.Add(1)))
						time.Sleep(time.Minute)
						now.Add(-1)
						return "", false
					})
				}
			})
		}
		var beside [3]int64
		plays := 0
		room.Play(t, func() (string, bool) {
			for range 100 {
				time.Sleep(time.Second)
				beside[plays] = max(beside[plays], now.Load())
			}
			if plays++; plays < len(beside) {
				return "spoiled", true
			}
			return "", false
		})
		others.Wait()
		if want := [3]int64{size - 1, size - 4, 0}; most.Load() != size || beside != want {
			t.Errorf("%d at once, and beside the spoiled one %v; want %d and %v", most.Load(), beside, size, want)
		}
	})
}

// A machine is at rest once a second has gone by in which every sleeper was
// woken in time.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		Settle(t)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %v on a machine that keeps its times, want 1 s", took)
		}
	})
}
