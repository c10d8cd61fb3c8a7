package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
)

// loneShare is how far into the tail of the last deploy the edge answers one
// request with 502, where several are made: a failure of nobody's deploy.
const loneShare = 0.85

// stage sets the boxes up that are probed, one a run: the service at one address,
// each with the version that the one before it has deployed.
type stage struct {
	o      Options
	scene  box.Scene // of the next box
	box    *box.Box  // nil: none was set up
	truths []box.Truth
	rng    *rand.Rand
}

func newStage(scene box.Scene, o Options) *stage {
	if o.Repeat > 1 && runtime.GOOS == "linux" {
		// The boxes of a series follow each other at one address. On an address of
		// its own nobody else takes the port between two of them.
		scene.Listen = fmt.Sprintf("127.%d.%d.%d:0", 64+rand.IntN(128), rand.IntN(256), 1+rand.IntN(254))
	}
	return &stage{o: o, scene: scene, rng: rand.New(rand.NewPCG(uint64(o.Seed), 9))}
}

// next ends the box that there is and sets up that of run n: 0 is a control
// period, in which nothing is deployed.
func (s *stage) next(ctx context.Context, n int) error {
	had := s.box != nil
	deployed, err := s.end(ctx)
	if err != nil {
		return err
	}
	scene := s.scene
	if deployed {
		scene.OldVersion, scene.NewVersion = scene.NewVersion, s.version()
	}
	if had {
		scene.Seed++
	}
	s.scene = scene
	if n == s.o.Repeat && n > 1 && scene.Front == box.FrontEdge { // which a direct front cannot do
		scene.Incidents = append(scene.Incidents, lone(scene))
	}
	if s.box, err = box.Start(ctx, scene); err != nil {
		return err
	}
	s.scene.Listen = strings.TrimSuffix(strings.TrimPrefix(s.box.URL(), "http://"), "/")
	return nil
}

// lone is one answer of the edge's, long after the deploy.
func lone(s box.Scene) box.Incident {
	after := time.Duration(s.Probe.Settle) + time.Duration(loneShare*float64(s.Probe.Tail))
	return box.Incident{
		Kind: box.IncidentStatus, Status: 502, As: box.AsEdge, Owner: "background", Lane: "fast", Count: 1,
		At: box.Moment{Mark: box.MarkOldEnd, After: after},
	}
}

// version is a new version's id.
func (s *stage) version() string {
	return fmt.Sprintf("%016x%016x%08x", s.rng.Uint64(), s.rng.Uint64(), s.rng.Uint32())
}

// end waits for the box's deploy to get through, keeps its record and ends it.
func (s *stage) end(ctx context.Context) (deployed bool, err error) {
	if s.box == nil {
		return false, nil
	}
	wait, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if waitErr := s.box.Wait(wait); waitErr != nil && ctx.Err() == nil {
		err = waitErr
	}
	truth := s.box.Truth()
	s.truths = append(s.truths, truth)
	err = errors.Join(err, s.box.Close())
	s.box = nil
	return truth.NewFirstAnswer != nil, err
}

// close ends what is still there.
func (s *stage) close() error {
	if s.box == nil {
		return nil
	}
	return s.box.Close()
}

// config is the inputs that a user would give for the stage's box.
func (s *stage) config() *config.Config {
	cfg := Config(s.box)
	cfg.ReportDir = s.o.ReportDir
	cfg.Repeat = max(1, s.o.Repeat)
	return cfg
}

// Name is the box's.
func (s *stage) Name() string { return s.box.Rollout().Name() }

// Run has the box that there is deploy.
func (s *stage) Run(ctx context.Context, emit deploy.Emit) error {
	return s.box.Rollout().Run(ctx, emit)
}
