// Package scenario plays failure kinds from files: a box, what goes wrong in it,
// and the truth that must come out.
//
// A file is testdata/scenarios/NAME.json:
//
//	{
//	  "kind": "K01",                     of which failure kind it is an example
//	  "title": "…",                      what happens, in one line
//	  "twin": "k01-…",                   the near one that must be judged otherwise
//	  "scene": {…},                      knobs of box.Scene, over [Base]
//	  "faults": [{…}],                   box.Incident, each with its owner
//	  "inputs": {"expect-version": "v2"} inputs of cutwatch by their names; {control} in one is
//	                                     the control host's address
//	  "silent": true,                    the platform deploys without telling: there is no source
//	  "clock": "90s",                    how far the platform's clock is ahead; may be negative
//	  "expect": {
//	    "verdict": "fail", "reason": "deploy-failures", "exit": 1,
//	    "cutover": true,                 whether one must be seen
//	    "failures": {"deploy": "some"},  by owner: "some", "none" or a number; owners not named: none
//	    "reasons": {"deploy": ["in-cutover"]},  the reason codes that an owner's failures may have
//	    "classes": ["connect-refused"],  the classes that failures may have
//	    "diagnosis": ["gap"], "not_diagnosis": ["late-outage"],
//	    "also": ["wrong-version"],       more reasons of the verdict
//	    "re_executed": "some"
//	  }
//	}
//
// The truth about a single request is not written down: the box's own record
// says whose each drop is, by the fault that made it.
package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
)

// Scenario is one file.
type Scenario struct {
	Name   string            `json:"-"` // the file's, without .json
	Kind   string            `json:"kind"`
	Title  string            `json:"title"`
	Twin   string            `json:"twin,omitempty"`
	Scene  json.RawMessage   `json:"scene,omitempty"`
	Faults []box.Incident    `json:"faults,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"`
	Silent bool              `json:"silent,omitempty"`
	Clock  Ahead             `json:"clock,omitempty"`
	Expect Expect            `json:"expect"`
}

// Expect is what must come out.
type Expect struct {
	Verdict  string              `json:"verdict"`
	Reason   string              `json:"reason"` // the first
	Also     []string            `json:"also,omitempty"`
	Exit     *int                `json:"exit,omitempty"` // where it does not follow from the verdict
	Cutover  bool                `json:"cutover"`
	Failures map[string]Amount   `json:"failures,omitempty"`
	Reasons  map[string][]string `json:"reasons,omitempty"`
	Classes  []string            `json:"classes,omitempty"`

	Diagnosis    []string `json:"diagnosis,omitempty"`
	NotDiagnosis []string `json:"not_diagnosis,omitempty"`

	ReExecuted Amount `json:"re_executed,omitzero"`
}

// Amount is "some", "none" or a number; the zero value is none.
type Amount struct {
	Some bool
	N    int
}

// UnmarshalJSON reads "some", "none" or a number.
func (a *Amount) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	switch text {
	case "some":
		*a = Amount{Some: true}
		return nil
	case "none":
		*a = Amount{}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("amount %s: expected \"some\", \"none\" or a number", data)
	}
	*a = Amount{N: n}
	return nil
}

// Holds tells whether n is as many.
func (a Amount) Holds(n int) bool { return a.Some && n > 0 || !a.Some && n == a.N }

// String is the amount as it is written.
func (a Amount) String() string {
	switch {
	case a.Some:
		return "some"
	case a.N == 0:
		return "none"
	}
	return strconv.Itoa(a.N)
}

// Ahead is how far another clock is ahead, as text like "90s"; "-17m" is behind.
type Ahead time.Duration

// UnmarshalText reads a duration, which may be negative.
func (a *Ahead) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*a = Ahead(d)
	return err
}

// Load reads a scenario's file. What it does not know is an error.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: strings.TrimSuffix(filepath.Base(path), ".json")}
	if err := strict(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := errors.Join(s.check()...); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

var owners = []string{"deploy", "background", "prober", "config", "undecided"}

func (s *Scenario) check() (errs []error) {
	if s.Kind == "" || s.Title == "" || s.Expect.Verdict == "" || s.Expect.Reason == "" {
		errs = append(errs, errors.New("kind, title, expect.verdict and expect.reason must be given"))
	}
	known := map[string]bool{"": true}
	for _, o := range owners {
		known[o] = true
	}
	for _, f := range s.Faults {
		if !known[f.Owner] {
			errs = append(errs, fmt.Errorf("fault %s: there is no owner %q", f.Kind, f.Owner))
		}
	}
	for o := range s.Expect.Failures {
		if !known[o] || o == "" {
			errs = append(errs, fmt.Errorf("expect.failures: there is no owner %q", o))
		}
	}
	if _, err := s.scene(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// scene is the whole scene.
func (s *Scenario) scene() (box.Scene, error) {
	scene := Base()
	scene.Name, scene.Summary, scene.Incidents = s.Name, s.Title, s.Faults
	h := fnv.New32a()
	h.Write([]byte(s.Name)) //nolint:errcheck // never fails
	scene.Seed = int64(h.Sum32())
	if len(s.Scene) > 0 {
		if err := strict(s.Scene, &scene); err != nil {
			return scene, fmt.Errorf("scene: %w", err)
		}
	}
	return scene, scene.Validate()
}

func span(d time.Duration) config.Duration { return config.Duration(d) }

// Base is the scene that a file changes: two instances behind an edge that are
// replaced in about two seconds, graceful, with nothing lost.
func Base() box.Scene {
	const ms = time.Millisecond
	return box.Scene{
		Front: box.FrontEdge, Instances: 2, OldVersion: "v1", NewVersion: "v2",
		App: box.App{LatencyMin: span(8 * ms), LatencyJitter: span(8 * ms), OnTerm: box.TermGraceful, Linger: span(800 * ms)},
		Rollout: box.Rollout{
			Strategy: box.Switch, Build: span(500 * ms), ReadyDelay: span(100 * ms), Overlap: span(1200 * ms),
			Drain: span(800 * ms), Grace: span(5 * time.Second), End: box.EndLate,
		},
		Probe: box.Probe{
			Baseline: span(3600 * ms), Settle: span(2 * time.Second), Tail: span(2 * time.Second),
			CutoverTimeout: span(2 * time.Second), Connections: 8, Rate: 40,
		},
	}
}
