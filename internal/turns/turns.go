// Package turns lets tests that play in real time share a machine: many side
// by side at first, and ever fewer beside one that a busy machine has spoiled.
package turns

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// again is how often a spoiled play is played again.
	again = 5
	// patience is how long that waits for a machine that keeps its times.
	patience = 20 * time.Second
)

// Room is what the plays of a test share.
type Room struct {
	places *semaphore.Weighted
	size   int64
}

// New is room for so many plays side by side.
func New(atOnce int) *Room {
	return &Room{places: semaphore.NewWeighted(int64(atOnce)), size: int64(atOnce)}
}

// Play has a play played until nothing is wrong with it, and returns what is
// wrong at last; "" is nothing. It is played again only where it was spoiled:
// what was wrong may have been the machine's, which left it without a processor
// when it needed one. Each time it takes four times the room of the last.
func (r *Room) Play(t testing.TB, play func() (wrong string, spoiled bool)) (wrong string) {
	t.Helper()
	for n := 0; ; n++ {
		wrong, spoiled := r.once(t, n, play)
		if wrong == "" || !spoiled || n == again {
			return wrong
		}
		t.Logf("played again, since the machine was busy: %s", wrong)
	}
}

func (r *Room) once(t testing.TB, n int, play func() (string, bool)) (wrong string, spoiled bool) {
	t.Helper()
	share := min(int64(1)<<(2*n), r.size)
	if err := r.places.Acquire(t.Context(), share); err != nil {
		t.Fatalf("waiting for room: %v", err)
	}
	defer r.places.Release(share)
	if n > 0 {
		Settle(t)
	}
	return play()
}

// Settle waits until the machine keeps times, but not for ever: where other work
// goes on and on, there is nothing to wait for.
func Settle(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !calm(ctx) {
		if ctx.Err() != nil {
			t.Logf("this machine did not come to rest within %v", patience)
			return
		}
	}
}

// calm tells whether the machine wakes a sleeper in time for a while. What a
// play needs is that its wake-ups are late by far less than 20 ms.
func calm(ctx context.Context) bool {
	const (
		looks = 200
		nap   = 5 * time.Millisecond
		late  = 10 * time.Millisecond
	)
	for range looks {
		begin := time.Now()
		select {
		case <-time.After(nap):
		case <-ctx.Done():
			return false
		}
		if time.Since(begin)-nap > late {
			return false
		}
	}
	return true
}
