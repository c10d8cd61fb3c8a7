// Package box is a platform in a box: real app processes behind a real front,
// deployed for real on loopback, with its own record of what it dropped. What
// the prober concludes is compared with that record, which the prober never
// sees.
//
// A program that starts a box runs itself as the apps: [MaybeRunApp] belongs on
// the first line of main, and of TestMain.
package box

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// startLimit bounds how long an app may take until it accepts.
const startLimit = 30 * time.Second

// Box is a running platform.
type Box struct {
	scene     Scene
	ledger    *ledger
	pool      *pool
	marks     *marks
	incidents *incidents
	front     front
	url       string
	tls       *certificates // nil: it speaks none
	control   *control      // nil: there is none
	names     *names        // nil: it has no name

	startLimit time.Duration

	ctx    context.Context // done when the box closes
	cancel context.CancelFunc
	served chan error     // how the front ended
	rolled chan struct{}  // closed once the rollout is through
	plans  sync.WaitGroup // incidents that wait for their time

	mu        sync.Mutex
	rng       *rand.Rand
	begun     bool // the rollout was run
	closed    bool
	frozen    *Truth      // as of Close
	instances []*instance // every one that was started
}

// front is what the clients connect to.
type front interface {
	serve(net.Listener) error // until closed
	close() error             // ends every connection
}

// Start brings a scene's platform up with the old version serving. ctx bounds
// the start alone; Close ends the box.
func Start(ctx context.Context, scene Scene) (*Box, error) {
	if err := scene.Validate(); err != nil {
		return nil, fmt.Errorf("box: %w", err)
	}
	b := &Box{
		scene:      scene,
		ledger:     newLedger(),
		pool:       newPool(uint64(scene.Seed), scene.lag()),
		startLimit: startLimit,
		served:     make(chan error, 1),
		rolled:     make(chan struct{}),
		marks:      newMarks(),
		rng:        rand.New(rand.NewPCG(uint64(scene.Seed), 5)),
	}
	b.incidents = newIncidents(scene, b.marks)
	b.pool.changed = b.routed
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if scene.Front == FrontEdge {
		b.front = newEdge(scene, b.pool, b.ledger, b.incidents)
	} else {
		b.front = newDirect(scene, b.pool, b.ledger, b.incidents)
	}
	if err := b.open(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Box) open(ctx context.Context) error {
	if !b.scene.FirstDeploy {
		old, err := b.launch(ctx, b.scene.Instances, false)
		if err != nil {
			return err
		}
		b.pool.set(old...)
	}
	if b.scene.Control {
		var err error
		if b.control, err = newControl(b.incidents); err != nil {
			return fmt.Errorf("box: listen for the control host: %w", err)
		}
	}
	ln, err := b.listen()
	if err != nil {
		return fmt.Errorf("box: listen: %w", err)
	}
	go func() { b.served <- b.front.serve(ln) }()
	return nil
}

// routed takes note of a change of who is sent new requests.
func (b *Box) routed(list []*instance) {
	isNew := func(in *instance) bool { return in.isNew }
	if slices.ContainsFunc(list, isNew) {
		b.marks.set(MarkCutover)
	}
	if b.begunNow() && !slices.ContainsFunc(list, func(in *instance) bool { return !in.isNew }) {
		b.marks.set(MarkAlone)
	}
}

func (b *Box) begunNow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun
}

// URL is what to probe.
func (b *Box) URL() string { return b.url + "/" }

// SlowURL answers after {seconds} seconds.
func (b *Box) SlowURL() string { return b.url + "/slow?seconds={seconds}" }

// Scene is what the box was started with.
func (b *Box) Scene() Scene { return b.scene }

// Wait returns once the rollout is through, old's stop included; at once where
// none was run.
func (b *Box) Wait(ctx context.Context) error {
	b.mu.Lock()
	begun := b.begun
	b.mu.Unlock()
	if !begun {
		return nil
	}
	select {
	case <-b.rolled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("box: the rollout did not get through: %w", context.Cause(ctx))
	}
}

// Close ends the box: the rollout where it is, the front, every process. What
// [Box.Truth] says stays as it was before.
func (b *Box) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	b.frozen = ptr(b.truth())
	begun, serving := b.begun, b.url != ""
	b.mu.Unlock()

	b.cancel()
	b.plans.Wait()
	b.pool.stop()
	if begun {
		<-b.rolled
	}
	err := b.front.close()
	if serving {
		if end := <-b.served; !errors.Is(end, net.ErrClosed) && !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("box: the front ended early: %w", end))
		}
	}
	if b.control != nil {
		err = errors.Join(err, b.control.close())
	}
	if b.names != nil {
		err = errors.Join(err, b.names.close())
	}
	b.mu.Lock()
	instances := b.instances
	b.mu.Unlock()
	for _, in := range instances {
		in.kill()
		<-in.exited
	}
	return err
}

// current is the instances of the old version.
func (b *Box) current() []*instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	var old []*instance
	for _, in := range b.instances {
		if !in.isNew {
			old = append(old, in)
		}
	}
	return old
}

// launch starts n instances of a generation side by side. All that started are
// the box's to end, also after an error.
func (b *Box) launch(ctx context.Context, n int, isNew bool) ([]*instance, error) {
	if isNew {
		return b.launchVersion(ctx, n, b.scene.NewVersion, genNew)
	}
	return b.launchVersion(ctx, n, b.scene.OldVersion, genOld)
}

// launchVersion does the same for any version.
func (b *Box) launchVersion(ctx context.Context, n int, version, gen string) ([]*instance, error) {
	isNew, fault := gen != genOld, b.scene.App.OldFault
	if isNew {
		fault = b.scene.App.NewFault
	}
	ctx, cancel := context.WithTimeout(ctx, b.startLimit)
	defer cancel()
	list, errs := make([]*instance, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		cfg := b.scene.appConfig(version, b.newName(version), b.newSeed(), fault)
		wg.Go(func() { list[i], errs[i] = startInstance(ctx, cfg, isNew) })
	}
	wg.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range list {
		if in != nil {
			in.gen = gen
			b.instances = append(b.instances, in)
		}
	}
	return list, errors.Join(errs...)
}

func (b *Box) newSeed() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.Uint64()
}

// newName is an instance's name as a ReplicaSet would give it.
func (b *Box) newName(version string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return "web-" + version[:min(len(version), 7)] + "-" + letters(b.rng, 5)
}

// letters are n random letters and digits that spell no words.
func letters(rng *rand.Rand, n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(text)
}
