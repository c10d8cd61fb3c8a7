package box

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Things that a step of a script does.
const (
	StepWait  = "wait"  // For
	StepStart = "start" // N instances of the generation Of, and waits until they accept
	StepRoute = "route" // has new requests go to the generations by their Weights
	StepStop  = "stop"  // sends N instances of Of, the oldest first, nothing new, stops them and waits for their end; 0: all
	StepCrash = "crash" // the same, and they are still sent requests
	StepPhase = "phase" // tells Name
	StepEnd   = "end"   // tells that the deploy is over, by Outcome; steps may follow
)

// Generations of instances.
const (
	genOld   = "old"   // as at the start; more of them can be started
	genNew   = "new"   // of the new version
	genOther = "other" // of the step's Version
)

// Step is one step of a rollout by script.
type Step struct {
	Do      string          `json:"do"`
	Of      string          `json:"of,omitempty"`      // old, new or other
	N       int             `json:"n,omitempty"`       // of start: 1 where none is given
	Version string          `json:"version,omitempty"` // of other
	For     config.Duration `json:"for,omitempty"`
	Weights map[string]int  `json:"weights,omitempty"` // by generation: of each of its instances
	Name    string          `json:"name,omitempty"`
	Outcome string          `json:"outcome,omitempty"` // of end: succeeded where none is given
}

func (s Step) validate() error {
	if !slices.Contains([]string{StepWait, StepStart, StepRoute, StepStop, StepCrash, StepPhase, StepEnd}, s.Do) {
		return fmt.Errorf("step %q: expected wait, start, route, stop, crash, phase or end", s.Do)
	}
	if !slices.Contains([]string{"", genOld, genNew, genOther}, s.Of) || (s.Do == StepStart || s.Do == StepStop || s.Do == StepCrash) && s.Of == "" {
		return fmt.Errorf("step %s of %q: expected old, new or other", s.Do, s.Of)
	}
	if (s.Do == StepStart && s.Of == genOther) != (s.Version != "") {
		return fmt.Errorf("step %s: version is for a start of other, which needs one", s.Do)
	}
	for gen, n := range s.Weights {
		if !slices.Contains([]string{genOld, genNew, genOther}, gen) || n < 0 || n > 100 {
			return fmt.Errorf("step route: weight %d of %q: expected one up to 100 of old, new or other", n, gen)
		}
	}
	return nil
}

// rollScript goes through the steps, one after the other.
func (b *Box) rollScript(ctx context.Context, t *teller) error {
	for _, s := range b.scene.Rollout.Steps {
		var err error
		switch s.Do {
		case StepWait:
			err = sleep(ctx, time.Duration(s.For))
		case StepStart:
			err = b.startMore(ctx, s)
		case StepRoute:
			b.route(s.Weights)
		case StepStop, StepCrash:
			err = b.stopSome(ctx, s)
		case StepPhase:
			t.phase(s.Name, "")
		case StepEnd:
			b.sayEnd(t, s)
		}
		if err != nil {
			return err
		}
	}
	t.end("ACTIVE")
	return nil
}

func (b *Box) sayEnd(t *teller, s Step) {
	outcome := s.Outcome
	if outcome == "" {
		outcome = sample.Succeeded
	}
	t.conclude("ended", outcome, s.Name)
}

func (b *Box) stopSome(ctx context.Context, s Step) error {
	list := b.generation(s.Of)
	if s.N > 0 {
		list = list[:min(s.N, len(list))]
	}
	if s.Do == StepStop {
		for _, in := range list {
			b.pool.remove(in)
		}
	}
	return b.stopAll(ctx, list)
}

func (b *Box) startMore(ctx context.Context, s Step) error {
	version := map[string]string{genOld: b.scene.OldVersion, genNew: b.scene.NewVersion, genOther: s.Version}[s.Of]
	_, err := b.launchVersion(ctx, max(1, s.N), version, s.Of)
	return err
}

// generation is its instances that live, the oldest first.
func (b *Box) generation(name string) []*instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*instance
	for _, in := range b.instances {
		if in.gen == name && !in.gone() {
			list = append(list, in)
		}
	}
	return list
}

// route sets who is sent new requests.
func (b *Box) route(weights map[string]int) {
	var list []*instance
	for _, gen := range []string{genOld, genNew, genOther} {
		for range weights[gen] {
			list = append(list, b.generation(gen)...)
		}
	}
	b.pool.set(list...)
}
