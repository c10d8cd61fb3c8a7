package analysis

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// The runs of the simulation: 110 requests/s; 30 s baseline, 30 s of build,
// 10 s overlap (old ends with it), 10 s settle, 60 s tail.
const (
	simRate     = 110
	simLength   = 140 * time.Second
	simRequests = simRate * int(simLength/time.Second)
)

var simPlaces = places{
	window:   &Span{30 * time.Second, 80 * time.Second},
	interval: &Span{58 * time.Second, 72 * time.Second},
}

var simExposure = exposure{interval: 14 * simRate, window: 36 * simRate, outside: 90 * simRate}

var simKind = kind{class: sample.Status, status: 502, by: sample.ByEdge}

// failing says which requests of a run fail: noise strikes at a request with
// the chance rate, and takes it alone, or it and those behind it, 2 to 20 in
// all. The rate is that of what happens independently, which is what the rules
// count, so that a rate says as much with bursts as without.
func failing(rng *rand.Rand, rate float64, bursts bool) []int {
	var out []int
	next := -1
	for {
		next += 1 + int(math.Floor(math.Log(1-rng.Float64())/math.Log1p(-rate)))
		if next >= simRequests || next < 0 {
			return out
		}
		n := 1
		if bursts {
			n = 2 + rng.IntN(19)
		}
		for i := range n {
			if next+i < simRequests {
				out = append(out, next+i)
			}
		}
		next += n - 1
	}
}

// blipsOf makes failures of request numbers. One request in 11 is fresh.
func blipsOf(requests []int) []blip {
	out := make([]blip, 0, len(requests))
	var failed [laneFresh + 1]int
	for _, i := range requests {
		lane, sent := laneKept, i-i/11
		if i%11 == 10 {
			lane, sent = laneFresh, i/11
		}
		at := time.Duration(i) * time.Second / simRate
		out = append(out, blip{lane: lane, kind: simKind, start: at, end: at + 5*time.Millisecond, good: sent - failed[lane]})
		failed[lane]++
	}
	return out
}

func simEpisodes(requests []int) []*episode {
	return episodesOf(blipsOf(requests), simPlaces, 10*time.Second/simRate)
}

// outcome of one run: whether the number step would fail it, and leave it undecided.
func outcome(es []*episode, past History) (failed, undecided bool) {
	for _, d := range byPlaceAndNumber(es, simExposure, past, simPlaces.window.length()) {
		failed = failed || d.by == ByDeploy
		undecided = undecided || d.by == Undecided
	}
	return failed, undecided
}

// pastOf is the history of n earlier runs with the same background.
func pastOf(rng *rand.Rand, n int, rate float64, bursts bool) History {
	h := History{Requests: n * simRequests, Kinds: map[kind]Past{}}
	for range n {
		for _, e := range simEpisodes(failing(rng, rate, bursts)) {
			p := h.Kinds[e.kind]
			h.Kinds[e.kind] = Past{p.Episodes + 1, max(p.Largest, len(e.members))}
		}
	}
	return h
}

// wronglyFailed bounds the share of runs that noise alone may fail: at and above
// 0.1 % noise is known from the run itself, at and below 0.0005 % it hardly meets
// the cutover. Between it takes a history; without one the table says what it is.
const wronglyFailed = 0.01

func TestSimulatedNoiseAlone(t *testing.T) {
	t.Parallel()
	runs := simRuns
	var table strings.Builder
	fmt.Fprintf(&table, "noise alone, %d runs a line: share wrongly failed (undecided)\n", runs)
	fmt.Fprintln(&table, "  strikes    bursts  no history         ten earlier runs")
	for _, bursts := range []bool{false, true} {
		for _, rate := range []float64{1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 2e-2} {
			rng := rand.New(rand.NewPCG(1, uint64(rate*1e9)))
			histories := make([]History, 200)
			for i := range histories {
				histories[i] = pastOf(rng, 10, rate, bursts)
			}
			var wrong, open [2]float64
			for range runs {
				noise := simEpisodes(failing(rng, rate, bursts))
				for h, past := range []History{{}, histories[rng.IntN(len(histories))]} {
					f, u := outcome(noise, past)
					if f {
						wrong[h] += 1 / float64(runs)
					} else if u {
						open[h] += 1 / float64(runs)
					}
				}
			}
			fmt.Fprintf(&table, "  %8.4f%%  %-6v  %6.2f%% (%5.2f%%)  %6.2f%% (%5.2f%%)\n",
				rate*100, bursts, 100*wrong[0], 100*open[0], 100*wrong[1], 100*open[1])
			limit := wronglyFailed
			if runs < 10000 {
				limit += 4 * math.Sqrt(wronglyFailed/float64(runs)) // of a short table
			}
			known := rate <= 5e-6 || rate >= 1e-3
			if known && wrong[0] >= limit {
				t.Errorf("at %v (bursts %v) %.2f%% of runs are wrongly failed without a history", rate, bursts, 100*wrong[0])
			}
			if wrong[1] >= limit {
				t.Errorf("at %v (bursts %v) %.2f%% of runs are wrongly failed with a history", rate, bursts, 100*wrong[1])
			}
		}
	}
	t.Log("\n" + table.String())
}

// In each of these runs the deploy causes failures in the cutover interval, on
// top of noise. It must not pass where the run itself says that noise alone
// would hardly have put so many there.
func TestSimulatedDrops(t *testing.T) {
	t.Parallel()
	runs := simRuns
	var table strings.Builder
	fmt.Fprintf(&table, "1 to 50 failures of the deploy's on top of noise, %d runs a line\n", runs)
	fmt.Fprintln(&table, "  noise      bursts  together  failed   undecided  passed   of these with p < 1%")
	for _, bursts := range []bool{false, true} {
		for _, together := range []bool{false, true} {
			for _, rate := range []float64{1e-6, 1e-4, 1e-3, 1e-2} {
				rng := rand.New(rand.NewPCG(2, uint64(rate*1e9)))
				failed, undecided, passed, wrong := 0, 0, 0, 0
				for range runs {
					all := simEpisodes(withDrops(rng, failing(rng, rate, bursts), 1+rng.IntN(50), together))
					f, u := outcome(all, History{})
					switch {
					case f:
						failed++
					case u:
						undecided++
					default:
						passed++
						if explained(all) < significance {
							wrong++
						}
					}
				}
				of := float64(runs) / 100
				fmt.Fprintf(&table, "  %8.4f%%  %-6v  %-8v  %6.2f%%  %6.2f%%    %6.2f%%  %d\n", rate*100, bursts, together,
					float64(failed)/of, float64(undecided)/of, float64(passed)/of, wrong)
				if wrong > 0 {
					t.Errorf("noise %v (bursts %v, drops together %v): %d runs passed whose cutover noise does not explain", rate, bursts, together, wrong)
				}
			}
		}
	}
	t.Log("\n" + table.String())
}

// withDrops adds n failing requests in the overlap, in a row or scattered.
func withDrops(rng *rand.Rand, noise []int, n int, together bool) []int {
	const from, to = 60 * simRate, 70 * simRate
	all := map[int]bool{}
	for _, i := range noise {
		all[i] = true
	}
	first := from + rng.IntN(to-from-n)
	for i := range n {
		if together {
			all[first+i] = true
		} else {
			all[from+rng.IntN(to-from)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// explained is the chance that noise alone, at the rate of the run outside its
// window, put so many of the run's episodes into the cutover interval.
func explained(es []*episode) float64 {
	in, out := 0, 0
	for _, e := range es {
		switch {
		case e.inInterval:
			in++
		case !e.inWindow:
			out++
		}
	}
	return binomialTail(in, in+out, share(simExposure.interval, simExposure.outside))
}
