package analysis

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	episodeGood  = 10   // so many good answers of a lane end its episode
	bigEpisode   = 5    // failures that a large episode has at least, and times as large as any outside
	storm        = 25   // the same where there is none outside: noise not yet seen is taken to have up to bigEpisode
	significance = 0.01 // below this the window's episodes are not the background's
)

// kind is what makes failures alike.
type kind struct {
	class  sample.Class
	status int
	by     string
}

// A blip is a failure that has no evidence of its own, as far as place and
// number need to know it.
type blip struct {
	lane       laneIndex
	kind       kind
	start, end time.Duration
	good       int // good answers of its lane before it
}

// places is where in the run a failure can lie. Both spans may be nil.
type places struct {
	window   *Span
	interval *Span         // the cutover interval; it may begin before the window
	early    time.Duration // what was under way before it was there long before the deploy
}

// inside tells whether a failure can be the deploy's.
func (p places) inside(b blip) bool {
	return p.window.meets(b.start, b.end) || p.interval.meets(b.start, b.end)
}

// exposure is how many requests were sent where: in the cutover interval, in
// the deploy window but not in the interval, and outside of both.
type exposure struct{ interval, window, outside int }

// An episode is failures of one kind and lane with fewer than 10 good answers
// of that lane between them. Episodes of several lanes at one time have one
// cause and are one: the exact test counts what happens independently.
type episode struct {
	from, to   time.Duration // start of the first, latest end
	kind       kind
	members    []int // indices of blips
	inWindow   bool  // any member was under way in the deploy window
	inInterval bool  // or in the cutover interval
	good       int   // good answers of its lanes between its failures
	early      bool  // it is noise that was there long before the deploy, or a part of that
}

// dense is failures per request from the first to the last.
func (e *episode) dense() float64 {
	return float64(len(e.members)) / float64(len(e.members)+e.good)
}

// A decision is whose an episode is, by which rule, with the rule's numbers.
type decision struct {
	by, reason string
	rule       rule
	k, b       int           // episodes inside and outside, where they were compared
	in, out    int           // requests inside and outside
	largest    int           // failures of the largest episode outside
	chance     float64       // that noise alone put so many inside
	decide     time.Duration // rule tooFew: the clean baseline that would decide
}

type rule int

const (
	outsideWindow rule = iota
	onlyInCutover
	larger         // over 5 times as large as any elsewhere
	moreOften      // the exact test
	oftenInCutover // the exact test on the cutover alone; the window as a whole is not out of the common
	stormInside    // a storm, or large ones more often than by chance, and none elsewhere
	tooFew
)

// byPlaceAndNumber decides for failures that have no evidence of their own: by
// where their kind happened, and how often, inside and outside. The result is
// parallel to the episodes.
func byPlaceAndNumber(es []*episode, x exposure, past History, window time.Duration) []decision {
	tallies := map[kind]*tally{}
	for _, e := range es {
		t := tallies[e.kind]
		if t == nil {
			h := past.Kinds[e.kind]
			t = &tally{outside: h.Episodes, largestOutside: h.Largest, largestBeyond: h.Largest, failedOutside: h.Episodes, failedBeyond: h.Episodes}
			tallies[e.kind] = t
		}
		t.add(e)
	}
	x.outside += past.Requests
	out := make([]decision, len(es))
	for i, e := range es {
		out[i] = tallies[e.kind].decide(e, x, window)
	}
	return out
}

// episodesOf groups blips, which are in order of start. Episodes of two lanes
// less than gap apart are one.
func episodesOf(blips []blip, at places, gap time.Duration) []*episode {
	var out []*episode
	open := map[kind][]*episode{} // of each kind, those that may still be joined
	for _, e := range episodesOfLanes(blips, at) {
		joined := false
		for _, f := range open[e.kind] {
			if e.from <= f.to+gap && f.from <= e.to+gap && !e.apart(f) {
				f.join(e)
				joined = true
				break
			}
		}
		if !joined {
			out = append(out, e)
			open[e.kind] = append(slices.DeleteFunc(open[e.kind], func(f *episode) bool { return f.to+gap < e.from }), e)
		}
	}
	return out
}

// apart tells whether a border of the window divides two episodes of noise.
func (e *episode) apart(f *episode) bool {
	return (e.early || f.early) && (e.inWindow || e.inInterval) != (f.inWindow || f.inInterval)
}

func (e *episode) join(f *episode) {
	e.members = append(e.members, f.members...)
	e.from, e.to = min(e.from, f.from), max(e.to, f.to)
	e.good += f.good
	e.inWindow, e.inInterval = e.inWindow || f.inWindow, e.inInterval || f.inInterval
}

// episodesOfLanes groups blips by lane and kind, in order of their first. Noise
// so heavy that it never ends an episode is divided by the window's borders:
// what was there long before the deploy tells what is usual.
func episodesOfLanes(blips []blip, at places) []*episode {
	type key struct {
		lane laneIndex
		kind kind
	}
	current := map[key]*episode{}
	var out []*episode
	for i, b := range blips {
		k := key{b.lane, b.kind}
		e := current[k]
		switch {
		case e == nil || ended(last(blips, e), b):
			e = &episode{kind: b.kind, from: b.start, early: b.start < at.early}
			current[k] = e
			out = append(out, e)
		case e.early && at.inside(b) != at.inside(last(blips, e)):
			e = &episode{kind: b.kind, from: b.start, early: true}
			current[k] = e
			out = append(out, e)
		default:
			e.good += b.good - last(blips, e).good
		}
		e.members = append(e.members, i)
		e.to = max(e.to, b.end)
		e.inWindow = e.inWindow || at.window.meets(b.start, b.end)
		e.inInterval = e.inInterval || at.interval.meets(b.start, b.end)
	}
	return out
}

func last(blips []blip, e *episode) blip { return blips[e.members[len(e.members)-1]] }

// ended tells whether the episode of a lane was over between two failures:
// after 10 good answers of the lane, or one where the lane is so slow that ten
// take over a second.
func ended(last, next blip) bool {
	good := next.good - last.good
	return good >= episodeGood || good > 0 && next.start-last.end > time.Second
}

// tally is how often one kind happened where.
type tally struct {
	interval, window, outside int // episodes in the interval; in the window but not in it; outside of both
	largestOutside            int // failures of the largest episode outside
	largestBeyond             int // or anywhere but in the interval
	failedOutside             int // failures outside
	failedBeyond              int // or anywhere but in the interval
}

func (t *tally) add(e *episode) {
	switch {
	case e.inInterval:
		t.interval++
		return
	case e.inWindow:
		t.window++
	default:
		t.outside++
		t.largestOutside = max(t.largestOutside, len(e.members))
		t.failedOutside += len(e.members)
	}
	t.largestBeyond = max(t.largestBeyond, len(e.members))
	t.failedBeyond += len(e.members)
}

// decide decides for one episode.
func (t *tally) decide(e *episode, x exposure, window time.Duration) decision {
	rest := x.window + x.outside
	switch {
	case !e.inInterval && !e.inWindow:
		return decision{by: ByBackground, reason: ReasonOutsideWindow, rule: outsideWindow}
	case e.inInterval && t.window == 0 && t.outside == 0:
		return decision{by: ByDeploy, reason: ReasonInCutover, rule: onlyInCutover, k: t.interval, in: x.interval, out: rest,
			chance: binomialTail(t.interval, t.interval, share(x.interval, rest))}
	case t.outside > 0:
		d := compare(e.stormsOver(t.failedOutside, x.outside), t.interval+t.window, t.outside, x.interval+x.window, x.outside, t.largestOutside)
		if d.by != "" {
			return d
		}
		// Not more than noise in the window as a whole; but the cutover is a
		// small part of a long one, and what stands out there is not passed over.
		if c := compare(0, t.interval, t.outside, x.interval, x.outside, t.largestOutside); e.inInterval && c.by != "" {
			c.by, c.reason, c.rule = Undecided, ReasonUndecided, oftenInCutover
			return c
		}
		d.by, d.reason = ByBackground, ReasonBackgroundRate
		return d
	case e.inInterval:
		// Its kind was also seen in the window beside the cutover, and nowhere
		// outside: the cutover is compared with all the rest of the run.
		d := compare(e.stormsOver(t.failedBeyond, rest), t.interval, t.window, x.interval, rest, t.largestBeyond)
		if d.by == "" {
			d.by, d.reason = Undecided, ReasonUndecided
		}
		return d
	}
	inside := t.interval + t.window
	chance := binomialTail(inside, inside, share(x.interval+x.window, x.outside))
	if n := len(e.members); n > storm || n >= bigEpisode && chance < significance {
		return decision{by: ByDeploy, reason: ReasonInWindow, rule: stormInside, k: inside, out: x.outside, chance: chance}
	}
	return decision{by: Undecided, reason: ReasonUndecided, rule: tooFew, k: inside, out: x.outside, chance: chance,
		decide: decidingBaseline(inside, window)}
}

// denser is how many times denser than failures elsewhere an episode's must be
// for its size to count: noise that goes on is as large as it is long.
const denser = 2

// stormsOver is the episode's size, 0 where it is hardly denser than failures in
// requests elsewhere.
func (e *episode) stormsOver(failures, requests int) int {
	if e.dense()*float64(requests) <= denser*float64(failures) {
		return 0
	}
	return len(e.members)
}

// compare judges n failures of an episode whose kind also happened elsewhere:
// by size, then by the exact conditional test that k of k+b episodes fall
// inside when inside had only its share of the requests. by is empty where
// neither makes them the deploy's.
func compare(n, k, b, in, out, largest int) decision {
	d := decision{rule: moreOften, k: k, b: b, in: in, out: out, largest: largest, chance: binomialTail(k, k+b, share(in, out))}
	if n >= bigEpisode && n > bigEpisode*largest {
		d.by, d.reason, d.rule = ByDeploy, ReasonInWindow, larger
	} else if d.chance < significance {
		d.by, d.reason = ByDeploy, ReasonInWindow
	}
	return d
}

// decidingBaseline is about how long a clean baseline would have to be for k
// episodes in the window to be the deploy's: (window's share)^k < 0.01.
func decidingBaseline(k int, window time.Duration) time.Duration {
	for n := time.Duration(1); n < 1<<12; n *= 2 {
		if binomialTail(k, k, 1/float64(1+n)) < significance {
			return n * window
		}
	}
	return 1 << 12 * window
}

// share of in among in and out.
func share(in, out int) float64 {
	if in+out == 0 {
		return 0
	}
	return float64(in) / float64(in+out)
}

// meets tells whether something from start to end was under way in the span.
func (p *Span) meets(start, end time.Duration) bool {
	return p != nil && start <= p.To && end >= p.From
}
