package box

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// SceneInfo names a scene and says what it shows.
type SceneInfo struct{ Name, Summary string }

// recipe makes a scene from its base and the seed's choices.
type recipe struct {
	SceneInfo
	make func(*Scene, *chooser)
}

func recipes() []recipe {
	return []recipe{
		{SceneInfo{"app-platform", "an edge; the app exits at SIGTERM and the drain is shorter than the slow requests: some are cut together"}, appPlatform},
		{SceneInfo{"app-platform-long-drain", "the same with a drain that is long enough: all finish"}, appPlatformLongDrain},
		{SceneInfo{"kubernetes", "pods behind a Service, no cure at all: every kind of drop"}, kubernetes},
		{SceneInfo{"kubernetes-no-prestop", "graceful, but no preStop delay: new connections go to pods that no longer accept"}, kubernetesNoPreStop},
		{SceneInfo{"kubernetes-no-graceful", "a preStop delay, but the app exits at SIGTERM: slow requests in flight are cut"}, kubernetesNoGraceful},
		{SceneInfo{"kubernetes-keepalive", "graceful with a preStop delay, but kept connections stay pinned: cut at the end"}, kubernetesKeepAlive},
		{SceneInfo{"kubernetes-cured", "preStop delay, graceful shutdown, closing keep-alive while draining: nothing is lost"}, kubernetesCured},
		{SceneInfo{"gap", "old is stopped before new is started: for seconds nothing answers"}, gap},
		{SceneInfo{"no-op", "a deploy that changes nothing"}, noOp},
	}
}

// Scenes are the named scenes.
func Scenes() []SceneInfo {
	var list []SceneInfo
	for _, r := range recipes() {
		list = append(list, r.SceneInfo)
	}
	return list
}

// NewScene makes a named scene. The seed varies ids, counts, timings and
// latencies within what the scene is about. realTime takes the lengths that
// were measured on real platforms instead of ones that are a fraction of them.
func NewScene(name string, seed int64, realTime bool) (Scene, error) {
	var names []string
	for _, r := range recipes() {
		if r.Name == name {
			c := &chooser{rng: rand.New(rand.NewPCG(uint64(seed), 6)), real: realTime}
			s := base(r.SceneInfo, seed, c)
			r.make(&s, c)
			return s, nil
		}
		names = append(names, r.Name)
	}
	return Scene{}, fmt.Errorf("there is no scene %q; there are %q", name, names)
}

// chooser makes the seed's choices.
type chooser struct {
	rng  *rand.Rand
	real bool
}

// ms is a length from lo to hi milliseconds.
func (c *chooser) ms(lo, hi int) config.Duration {
	return config.Duration(time.Duration(lo+c.rng.IntN(hi-lo+1)) * time.Millisecond)
}

// span is the real length, or a scaled one from lo to hi milliseconds.
func (c *chooser) span(real time.Duration, lo, hi int) config.Duration {
	scaled := c.ms(lo, hi)
	if c.real {
		return config.Duration(real)
	}
	return scaled
}

func (c *chooser) sha() string {
	return fmt.Sprintf("%016x%016x%08x", c.rng.Uint64(), c.rng.Uint64(), c.rng.Uint32())
}

func (c *chooser) end() string {
	if c.rng.IntN(2) == 0 {
		return EndEarly
	}
	return EndLate
}

// slow is how slow requests are sent: their length is 20 s or scaled from lo
// to hi milliseconds.
func (c *chooser) slow(p *Probe, lo, hi int) {
	p.SlowSeconds = time.Duration(c.span(20*time.Second, lo, hi)).Seconds()
	p.SlowInterval = c.span(time.Second, 200, 300)
}

func base(info SceneInfo, seed int64, c *chooser) Scene {
	s := Scene{
		Name:       info.Name,
		Summary:    info.Summary,
		Seed:       seed,
		OldVersion: c.sha(),
		NewVersion: c.sha(),
		App: App{
			LatencyMin:    c.span(40*time.Millisecond, 30, 50),
			LatencyJitter: c.span(8*time.Millisecond, 20, 60),
			OnTerm:        TermExit,
			Linger:        c.ms(1200, 1800),
		},
		Rollout: Rollout{
			Build:      c.span(20*time.Second, 600, 1500),
			ReadyDelay: c.span(3*time.Second, 500, 800),
			Grace:      c.span(120*time.Second, 9000, 11000),
			End:        c.end(),
		},
		Probe: Probe{
			Baseline:       c.span(30*time.Second, 4500, 5500),
			Settle:         c.span(10*time.Second, 2200, 2600),
			Tail:           c.span(10*time.Second, 1800, 2200),
			CutoverTimeout: c.span(20*time.Second, 2500, 3000),
			Connections:    20,
			Rate:           100,
		},
	}
	c.slow(&s.Probe, 4000, 5000)
	return s
}

func edgeScene(s *Scene, c *chooser) {
	s.Front = FrontEdge
	s.Instances = 1
	s.Rollout.Strategy = Switch
	s.Rollout.ReadyDelay = c.ms(100, 300)
	s.Rollout.Overlap = c.span(10*time.Second, 2000, 3000)
}

func appPlatform(s *Scene, c *chooser) {
	edgeScene(s, c)
	s.Rollout.Drain = c.span(15*time.Second, 2000, 2600)
	c.slow(&s.Probe, 5000, 6000)
}

func appPlatformLongDrain(s *Scene, c *chooser) {
	edgeScene(s, c)
	s.Rollout.Drain = c.span(60*time.Second, 6000, 7000)
}

// podScene is pods without any cure, their number by the seed. The endpoints
// lag by less than it takes to get to the last pod: the front always knows one
// that lives.
func podScene(s *Scene, c *chooser) {
	s.Front = FrontDirect
	s.Instances = 3 + c.rng.IntN(3)
	s.Rollout.Strategy = Rolling
	s.Rollout.EndpointLag = c.span(2*time.Second, 400, 600)
	s.Rollout.Grace = c.span(30*time.Second, 9000, 11000)
	s.Rollout.Build = c.ms(200, 800)
}

func preStop(s *Scene, c *chooser) { s.Rollout.PreStop = c.span(10*time.Second, 1800, 2300) }

func graceful(s *Scene) { s.App.OnTerm = TermGraceful }

func closeKeepAlive(s *Scene) { s.App.CloseKeepAlive = true }

func kubernetes(s *Scene, c *chooser) { podScene(s, c) }

func kubernetesNoPreStop(s *Scene, c *chooser) {
	podScene(s, c)
	graceful(s)
	closeKeepAlive(s)
}

// kubernetesNoGraceful sends so many slow requests that every pod, the last one
// too, has some in flight when it ends: those are all that it can cut.
func kubernetesNoGraceful(s *Scene, c *chooser) {
	podScene(s, c)
	preStop(s, c)
	closeKeepAlive(s)
	s.Probe.SlowInterval = c.span(400*time.Millisecond, 80, 110)
}

// kubernetesKeepAlive keeps the connections busy, so that there is something
// in flight on the pinned ones whenever a pod ends.
func kubernetesKeepAlive(s *Scene, c *chooser) {
	podScene(s, c)
	preStop(s, c)
	graceful(s)
	s.App.LatencyMin, s.App.LatencyJitter = c.ms(70, 80), c.ms(30, 50)
	s.Probe.Rate = 130
}

func kubernetesCured(s *Scene, c *chooser) {
	podScene(s, c)
	preStop(s, c)
	graceful(s)
	closeKeepAlive(s)
}

// gap is watched with fewer and shorter requests: nearly all of them fail for
// as long as it lasts.
func gap(s *Scene, c *chooser) {
	podScene(s, c)
	graceful(s)
	closeKeepAlive(s)
	s.Rollout.Strategy = Recreate
	s.Rollout.Gap = c.span(5*time.Second, 800, 1600)
	s.Probe.Rate = 60
	c.slow(&s.Probe, 1500, 2000)
}

func noOp(s *Scene, c *chooser) {
	edgeScene(s, c)
	s.Rollout.Strategy = NoOp
}
