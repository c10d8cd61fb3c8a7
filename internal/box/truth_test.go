package box

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(msec int) time.Duration { return time.Duration(msec) * time.Millisecond }

// The marks follow from the requests and the stops alone.
func TestTruthFromABook(t *testing.T) {
	old1, old2 := &instance{id: "old1", version: "a"}, &instance{id: "old2", version: "a"}
	fresh := &instance{id: "new1", version: "b", isNew: true}
	entries := []*entry{
		{id: "1", inst: old1, reached: true, arrived: at(0), ended: at(50), state: answered},
		{id: "2", inst: old1, reached: true, arrived: at(100), ended: at(3000), state: answered, slow: true},
		{id: "3", inst: fresh, reached: true, arrived: at(900), ended: at(1000), state: answered},
		{id: "4", inst: fresh, reached: true, arrived: at(950), ended: at(990), state: dropped, kind: DropNoise},
		{id: "5", inst: old2, reached: true, arrived: at(1800), ended: at(1850), state: answered},
		{id: "6", inst: old2, reached: true, arrived: at(1900), ended: at(4000), state: dropped, kind: DropCut, slow: true},
		{id: "6b", inst: old2, reached: true, arrived: at(3998), ended: at(4000), state: dropped, kind: DropCut},
		{id: "7", inst: old1, arrived: at(3500), ended: at(3500), state: dropped, kind: DropRefused},
		{id: "8", arrived: at(3600), ended: at(3600), state: dropped, kind: DropNoInstance},
		{id: "cw-1-8-f", inst: old2, reached: true, arrived: at(3601), ended: at(3650), state: answered},
		{id: "cw-1-8-c", arrived: at(3601), ended: at(3602), state: dropped, kind: DropRefused},
		{id: "9", inst: fresh, reached: true, arrived: at(4100), state: open},
		{id: "5", inst: fresh, reached: true, arrived: at(4200), ended: at(4210), state: gone},
	}
	truth := Truth{Stops: []Stop{{Instance: "old2", At: at(4001)}, {Instance: "old1", At: at(3100)}}}
	truth.fill(entries, 2)
	want := Truth{
		Requests: 11, Answered: 4, Gone: 1, InFlight: 1, FollowUps: 2,
		Drops: []Drop{
			{ID: "4", Kind: DropNoise, Instance: "new1", Arrived: at(950), At: at(990), Owner: "background"},
			{ID: "6", Kind: DropCut, Slow: true, Instance: "old2", Arrived: at(1900), At: at(4000), ByRollout: true, Owner: "deploy"},
			{ID: "7", Kind: DropRefused, Instance: "old1", Arrived: at(3500), At: at(3500), ByRollout: true, Owner: "deploy"},
			{ID: "8", Kind: DropNoInstance, Arrived: at(3600), At: at(3600), ByRollout: true, Owner: "deploy"},
			{ID: "6b", Kind: DropCut, Instance: "old2", Arrived: at(3998), At: at(4000), ByRollout: true, Owner: "deploy"},
		},
		Repeated:        []string{"5"},
		By:              map[string]Server{"1": {"a", "old1"}, "2": {"a", "old1"}, "3": {"b", "new1"}, "5": {"a", "old2"}},
		NewFirstAnswer:  ptr(at(1000)),
		LastOldAnswered: ptr(at(1800)),
		LastAccept:      ptr(at(3998)),
		Stops:           []Stop{{Instance: "old1", At: at(3100)}, {Instance: "old2", At: at(4001), Cut: 2, Crossing: 1}},
		LastStop:        ptr(at(4001)),
		Overlap:         ptr(at(800)),
		Drain:           ptr(at(3)),
		DrainAtMost:     ptr(at(2101)),
		CutAtStop:       true,

		InFlightAtLastAccept:     ptr(2),
		SlowInFlightAtLastAccept: ptr(1),
	}
	if diff := cmp.Diff(want, truth); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if n := truth.RolloutDrops(); n != 4 {
		t.Errorf("%d drops of the rollout's, want 4", n)
	}
}

// While an instance of old runs, its stop and the drain are not known.
func TestTruthBeforeTheStop(t *testing.T) {
	old, fresh := &instance{id: "old"}, &instance{id: "new", isNew: true}
	entries := []*entry{
		{id: "1", inst: old, reached: true, arrived: at(0), ended: at(50), state: answered},
		{id: "2", inst: fresh, reached: true, arrived: at(100), ended: at(150), state: answered},
	}
	var truth Truth
	truth.fill(entries, 1)
	if truth.LastStop != nil || truth.Drain != nil || truth.CutAtStop {
		t.Errorf("last stop %v, drain %v, cut %v", truth.LastStop, truth.Drain, truth.CutAtStop)
	}
	if truth.Overlap == nil || *truth.Overlap != at(-150) {
		t.Errorf("overlap %v, want -150ms", truth.Overlap)
	}
}
