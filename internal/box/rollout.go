package box

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// rollout deploys the box's new version, once.
type rollout struct{ box *Box }

// Rollout is the box's deploy. It can be run once. By the scene it may say that
// it is over before old has stopped; [Box.Wait] waits for the rest.
func (b *Box) Rollout() deploy.Source { return rollout{b} }

// Name is "box".
func (rollout) Name() string { return "box" }

// Run deploys. When ctx is done before the deploy is over, it stops where it
// is, with an error.
func (r rollout) Run(ctx context.Context, emit deploy.Emit) error {
	b := r.box
	b.mu.Lock()
	first := !b.begun
	b.begun = true
	b.mu.Unlock()
	if !first {
		return errors.New("box: its rollout was run already; start another box")
	}
	// Once the deploy says that it is over, the rest goes on under the box alone.
	work, stopWork := context.WithCancelCause(b.ctx)
	disarm := context.AfterFunc(ctx, func() { stopWork(context.Cause(ctx)) })
	defer disarm()
	t := &teller{emit: emit, over: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		defer close(b.rolled)
		defer stopWork(nil)
		done <- b.roll(work, t)
	}()
	select {
	case <-t.over:
		return nil
	case err := <-done:
		if t.isOver() {
			return nil
		}
		return err
	}
}

// teller says how the deploy goes, until it says that it is over.
type teller struct {
	mu   sync.Mutex
	emit deploy.Emit
	over chan struct{}
}

func (t *teller) start() { t.tell(sample.SignalStart, "deploy-started", "") }

func (t *teller) phase(name, message string) { t.tell(sample.SignalPhase, name, message) }

func (t *teller) tell(kind, name, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isOver() {
		t.emit(sample.Signal{Kind: kind, Name: name, Message: message})
	}
}

// end says that the deploy succeeded; said twice, it is said once.
func (t *teller) end(name string) { t.conclude(name, sample.Succeeded, "") }

func (t *teller) conclude(name, outcome, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isOver() {
		t.emit(sample.Signal{Kind: sample.SignalEnd, Name: name, Outcome: outcome, Message: message})
		close(t.over)
	}
}

func (t *teller) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// roll goes through the whole deploy, to the end of old's last instance.
func (b *Box) roll(ctx context.Context, t *teller) error {
	b.marks.set(MarkDeploy)
	t.start()
	var err error
	switch b.scene.Rollout.Strategy {
	case Switch:
		err = b.rollSwitch(ctx, t)
	case Rolling:
		err = b.rollPods(ctx, t)
	case Recreate:
		err = b.rollRecreate(ctx, t)
	case NoOp:
		err = b.rollNothing(ctx, t)
	case Script:
		err = b.rollScript(ctx, t)
	}
	if err != nil && ctx.Err() == nil {
		t.conclude("ERROR", sample.Failed, err.Error())
	}
	return err
}

// rollSwitch deploys as App Platform does.
func (b *Box) rollSwitch(ctx context.Context, t *teller) error {
	r := b.scene.Rollout
	if err := b.build(ctx, t); err != nil {
		return err
	}
	old := b.current()
	fresh, err := b.startNew(ctx, b.scene.Instances)
	if err != nil {
		return err
	}
	b.pool.set(append(slices.Clone(old), fresh...)...)
	if err := sleep(ctx, time.Duration(r.Overlap)); err != nil {
		return err
	}
	b.pool.set(fresh...)
	if r.End == EndEarly {
		t.end("ACTIVE")
	}
	if err := sleep(ctx, time.Duration(r.Drain)); err != nil {
		return err
	}
	if err := b.stopAll(ctx, old); err != nil {
		return err
	}
	t.end("ACTIVE")
	return nil
}

// build goes through the phases before anything starts.
func (b *Box) build(ctx context.Context, t *teller) error {
	build := time.Duration(b.scene.Rollout.Build)
	for _, step := range []struct {
		phase string
		takes time.Duration
	}{{"PENDING_BUILD", build / 10}, {"BUILDING", build * 8 / 10}, {"PENDING_DEPLOY", build / 10}} {
		t.phase(step.phase, "")
		if err := sleep(ctx, step.takes); err != nil {
			return err
		}
	}
	t.phase("DEPLOYING", "")
	return nil
}

// rollPods replaces one instance after the other as a Deployment with
// maxSurge 1 and maxUnavailable 0: it does not wait for the old ones' ends.
func (b *Box) rollPods(ctx context.Context, t *teller) error {
	if err := sleep(ctx, time.Duration(b.scene.Rollout.Build)); err != nil {
		return err
	}
	old := b.current()
	var stops stopper
	for _, leaving := range old {
		fresh, err := b.startNew(ctx, 1)
		if err != nil {
			return errors.Join(err, stops.wait())
		}
		b.pool.add(fresh[0])
		t.phase("pod-ready", fresh[0].id)
		b.pool.remove(leaving)
		t.phase("pod-terminating", leaving.id)
		stops.start(func() error { return b.stop(ctx, leaving) })
	}
	if b.scene.Rollout.End == EndEarly {
		t.end("rolled-out")
	}
	if err := stops.wait(); err != nil {
		return err
	}
	t.end("rolled-out")
	return nil
}

// rollRecreate stops all of old before it starts new.
func (b *Box) rollRecreate(ctx context.Context, t *teller) error {
	if err := sleep(ctx, time.Duration(b.scene.Rollout.Build)); err != nil {
		return err
	}
	old := b.current()
	for _, in := range old {
		b.pool.remove(in)
		t.phase("pod-terminating", in.id)
	}
	if err := b.stopAll(ctx, old); err != nil {
		return err
	}
	if err := sleep(ctx, time.Duration(b.scene.Rollout.Gap)); err != nil {
		return err
	}
	fresh, err := b.startNew(ctx, b.scene.Instances)
	if err != nil {
		return err
	}
	for _, in := range fresh {
		b.pool.add(in)
		t.phase("pod-ready", in.id)
	}
	if err := sleep(ctx, time.Duration(b.scene.Rollout.EndpointLag)); err != nil {
		return err
	}
	t.end("rolled-out")
	return nil
}

// rollNothing is a deploy that reuses the old build.
func (b *Box) rollNothing(ctx context.Context, t *teller) error {
	if err := b.build(ctx, t); err != nil {
		return err
	}
	if err := sleep(ctx, time.Duration(b.scene.Rollout.Overlap)); err != nil {
		return err
	}
	t.end("ACTIVE")
	return nil
}

// startNew starts instances of the new version and waits until they are ready.
func (b *Box) startNew(ctx context.Context, n int) ([]*instance, error) {
	fresh, err := b.launch(ctx, n, true)
	if err != nil {
		return nil, err
	}
	return fresh, sleep(ctx, time.Duration(b.scene.Rollout.ReadyDelay))
}

func (b *Box) stopAll(ctx context.Context, list []*instance) error {
	var stops stopper
	for _, in := range list {
		stops.start(func() error { return b.stop(ctx, in) })
	}
	return stops.wait()
}

// stop ends one instance: the preStop hook, SIGTERM, and SIGKILL once the
// grace is over.
func (b *Box) stop(ctx context.Context, in *instance) error {
	r := b.scene.Rollout
	if !in.isNew {
		b.marks.set(MarkStop)
		defer b.oldStopped()
	}
	if r.PreStop > 0 {
		in.notifyDrain()
		if err := sleep(ctx, time.Duration(r.PreStop)); err != nil {
			return err
		}
	}
	in.terminate()
	grace := time.NewTimer(time.Duration(r.Grace))
	defer grace.Stop()
	select {
	case <-in.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-grace.C:
	}
	in.kill()
	<-in.exited
	return nil
}

// oldStopped looks whether the last of old is gone.
func (b *Box) oldStopped() {
	if !slices.ContainsFunc(b.current(), func(in *instance) bool { return !in.gone() }) {
		b.marks.set(MarkOldEnd)
	}
}

// stopper waits for stops that go on side by side.
type stopper struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (s *stopper) start(stop func() error) {
	s.wg.Go(func() {
		if err := stop(); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.errs = append(s.errs, err)
		}
	})
}

func (s *stopper) wait() error {
	s.wg.Wait()
	return errors.Join(s.errs...)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("box: the rollout was stopped: %w", context.Cause(ctx))
	}
}
