package run

import (
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const sec = time.Second

// never is a time that no run reaches.
const never = 10 * time.Hour

// answers is a stretch in which an id answers once every step.
type answers struct {
	from, to          time.Duration
	version, instance string
}

// slowRequest is a request of the slow lane.
type slowRequest struct {
	start, end time.Duration
	version    string
	class      sample.Class
}

// script is a run as it goes, whatever the tracker thinks.
type script struct {
	inputs                 map[string]string
	undeployed             bool // no source of a deploy
	deployStart, deployEnd time.Duration
	outcome                string
	answers                []answers
	slow                   []slowRequest
}

// ending is what the tracker made of it.
type ending struct {
	At     time.Duration
	Reason string
	Phases string // in order, each once a stretch
}

const step = 100 * time.Millisecond

// play feeds a script to a tracker, a step at a time, until it says that it is over.
func play(t *testing.T, sc script) (ending, state) {
	t.Helper()
	cfg := config.Default()
	inputs := map[string]string{"baseline": "10s", "settle": "10s", "tail": "5s", "cutover-timeout": "1m", "max-duration": "20m"}
	for _, m := range []map[string]string{inputs, sc.inputs} {
		for name, value := range m {
			if err := cfg.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	trk := newTracker(cfg, !sc.undeployed)
	var got ending
	var phases []string
	for now := time.Duration(0); now < never; now += step {
		feed(trk, sc, now, time.Duration(cfg.Baseline))
		s := trk.Next(now, sc.inFlight(now))
		if len(phases) == 0 || phases[len(phases)-1] != string(s.Phase) {
			phases = append(phases, string(s.Phase))
		}
		if s.Done {
			got.At, got.Reason, got.Phases = now, s.Reason, strings.Join(phases, ", ")
			return got, s
		}
	}
	t.Fatal("the run does not end")
	return ending{}, state{}
}

// feed gives the tracker what ends at now.
func feed(trk *tracker, sc script, now, baseline time.Duration) {
	signal := func(at time.Duration, s sample.Signal) {
		if at == now {
			s.At = int64(at)
			trk.Add(sample.Line{Signal: &s})
		}
	}
	for _, a := range sc.answers {
		if a.from <= now && now < a.to {
			trk.Add(sample.Line{Sample: &sample.Sample{
				Lane: sample.Kept, Started: int64(now - step/2), FirstByte: int64(now), Ended: int64(now),
				Status: 200, Version: a.version, Instance: a.instance,
			}})
		}
	}
	for _, r := range sc.slow {
		if r.end == now {
			s := &sample.Sample{Lane: sample.Slow, Started: int64(r.start), FirstByte: int64(r.end), Ended: int64(r.end), Version: r.version, Class: r.class}
			if r.version != "" {
				s.Status = 200
			}
			trk.Add(sample.Line{Sample: s})
		}
	}
	signal(baseline, sample.Signal{Kind: sample.SignalBaseline})
	if !sc.undeployed {
		signal(sc.deployStart, sample.Signal{Kind: sample.SignalStart})
		signal(sc.deployEnd, sample.Signal{Kind: sample.SignalEnd, Outcome: sc.outcome})
	}
}

func (sc script) inFlight(now time.Duration) []int64 {
	var started []int64
	for _, r := range sc.slow {
		if r.start <= now && now < r.end {
			started = append(started, int64(r.start))
		}
	}
	return started
}
