package box

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// Fronts.
const (
	FrontEdge   = "edge"   // ends the client's connections, balances requests (App Platform)
	FrontDirect = "direct" // passes connections through (a Kubernetes Service)
)

// Strategies of a rollout.
const (
	Switch   = "switch"   // new beside old, both for the overlap, then new alone
	Rolling  = "rolling"  // one instance after the other
	Recreate = "recreate" // all of old away, a pause, then new
	NoOp     = "no-op"    // the phases go by and nothing changes
	Script   = "script"   // the steps that the rollout lists
)

// When the deploy says that it is over.
const (
	EndEarly = "early" // when new serves alone; old may still be stopping
	EndLate  = "late"  // when old has stopped
)

// Scene describes a platform, an app, a deploy and the probe that fits them.
// It has a JSON form with durations as text ("1.5s"), which holds everything.
type Scene struct {
	Name    string `json:"name"`
	Summary string `json:"summary,omitempty"` // one line: what it shows
	Seed    int64  `json:"seed"`              // of latencies, picks and noise

	Front      string  `json:"front"`
	Instances  int     `json:"instances"`
	OldVersion string  `json:"old_version"`
	NewVersion string  `json:"new_version"`     // the same as old's: a restart
	Noise      float64 `json:"noise,omitempty"` // share of requests that the front loses, deploy or not
	App        App     `json:"app"`

	FirstDeploy bool       `json:"first_deploy,omitempty"` // nothing serves before it
	TLS         bool       `json:"tls,omitempty"`          // the edge speaks TLS, by an authority of the box's own
	Retry       bool       `json:"retry,omitempty"`        // the edge has another instance run what one has lost
	Unsized     bool       `json:"unsized,omitempty"`      // the edge sends bodies in chunks, without their length
	Control     bool       `json:"control,omitempty"`      // there is a host beside it that does not depend on it
	Named       bool       `json:"named,omitempty"`        // it is reached by a name, which the box's own server resolves
	Listen      string     `json:"listen,omitempty"`       // where the front listens, "0.0.0.0:8080"; "": on a free port of loopback
	Incidents   []Incident `json:"incidents,omitempty"`    // in order of precedence

	Rollout Rollout `json:"rollout"`
	Probe   Probe   `json:"probe"`
}

// App is how the app behaves.
type App struct {
	LatencyMin     config.Duration `json:"latency_min"`
	LatencyJitter  config.Duration `json:"latency_jitter"`
	OnTerm         string          `json:"on_term"`          // exit, graceful, ignore
	CloseKeepAlive bool            `json:"close_keep_alive"` // while draining, answers say Connection: close
	Linger         config.Duration `json:"linger"`           // how long a graceful app that does so waits for idle connections
	Text           bool            `json:"text,omitempty"`   // its answers are plain text instead of JSON
	OldFault       Fault           `json:"old_fault,omitzero"`
	NewFault       Fault           `json:"new_fault,omitzero"`
}

// Rollout is how the platform deploys.
type Rollout struct {
	Strategy    string          `json:"strategy"`
	Build       config.Duration `json:"build,omitempty"`        // before anything starts
	ReadyDelay  config.Duration `json:"ready_delay,omitempty"`  // from an app's accepting to its first traffic
	Overlap     config.Duration `json:"overlap,omitempty"`      // of switch: both serve
	Drain       config.Duration `json:"drain,omitempty"`        // of switch: from no new requests to SIGTERM
	PreStop     config.Duration `json:"pre_stop,omitempty"`     // a drain notice, and this long until SIGTERM; 0: no hook
	EndpointLag config.Duration `json:"endpoint_lag,omitempty"` // until the front knows of a change
	Gap         config.Duration `json:"gap,omitempty"`          // of recreate: from old's end to new's start
	Grace       config.Duration `json:"grace"`                  // from SIGTERM to SIGKILL
	End         string          `json:"end"`                    // early, late
	Steps       []Step          `json:"steps,omitempty"`        // of script
	Owner       string          `json:"owner,omitempty"`        // whose its drops are; "": the deploy's
}

// Probe is how to watch it.
type Probe struct {
	Baseline       config.Duration `json:"baseline"`
	Settle         config.Duration `json:"settle"`
	Tail           config.Duration `json:"tail"`
	CutoverTimeout config.Duration `json:"cutover_timeout"`
	SlowSeconds    float64         `json:"slow_seconds"`
	SlowInterval   config.Duration `json:"slow_interval"`
	Connections    int             `json:"connections"`
	Rate           float64         `json:"rate"` // of the kept lane, per second
}

// Validate tells everything that is wrong with a scene.
func (s Scene) Validate() error {
	var errs []error
	oneOf := func(what, got string, want ...string) {
		for _, w := range want {
			if got == w {
				return
			}
		}
		errs = append(errs, fmt.Errorf("%s is %q: expected one of %q", what, got, want))
	}
	check := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	oneOf("front", s.Front, FrontEdge, FrontDirect)
	oneOf("app.on_term", s.App.OnTerm, TermExit, TermGraceful, TermIgnore)
	oneOf("rollout.strategy", s.Rollout.Strategy, Switch, Rolling, Recreate, NoOp, Script)
	oneOf("rollout.end", s.Rollout.End, EndEarly, EndLate)
	check(s.Instances >= 1 && s.Instances <= 20, "instances must be from 1 to 20")
	check(s.OldVersion != "" && s.NewVersion != "", "old_version and new_version must be given")
	check(s.Noise >= 0 && s.Noise < 1, "noise must be from 0 to below 1")
	check(s.Rollout.Grace > 0, "rollout.grace must be above 0")
	check(!s.Named || !s.TLS, "named and tls do not go together")
	check(s.Listen == "" || !s.Named && !s.absent(), "listen goes with neither named nor a front that is away at times")
	check(s.Front == FrontEdge || !s.TLS && !s.Retry && !s.Unsized, "tls, retry and unsized are the edge's")
	check(s.Probe.Baseline > 0 && s.Probe.Rate > 0 && s.Probe.Connections > 0,
		"probe.baseline, probe.rate and probe.connections must be above 0")
	errs = append(errs, s.App.OldFault.validate(), s.App.NewFault.validate())
	for _, i := range s.Incidents {
		errs = append(errs, i.validate(s.Front))
	}
	for _, step := range s.Rollout.Steps {
		errs = append(errs, step.validate())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("scene %q: %w", s.Name, err)
	}
	return nil
}

// appConfig is what an instance of a generation is told.
func (s Scene) appConfig(version, id string, seed uint64, fault Fault) appConfig {
	slow := time.Duration(s.Probe.SlowSeconds * float64(time.Second))
	return appConfig{
		Version:        version,
		Instance:       id,
		Seed:           seed,
		LatencyMin:     time.Duration(s.App.LatencyMin),
		LatencyJitter:  time.Duration(s.App.LatencyJitter),
		OnTerm:         s.App.OnTerm,
		CloseKeepAlive: s.App.CloseKeepAlive,
		Linger:         time.Duration(s.App.Linger),
		Text:           s.App.Text,
		Deadline:       time.Duration(s.Rollout.Grace) + slow, // the platform's own limit comes first
		Fault:          fault,
	}
}

// absent tells whether the front is away at times.
func (s Scene) absent() bool {
	return slices.ContainsFunc(s.Incidents, func(i Incident) bool { return i.Kind == IncidentRefuse || i.Kind == IncidentNoAccept })
}

func (s Scene) lag() time.Duration { return time.Duration(s.Rollout.EndpointLag) }
