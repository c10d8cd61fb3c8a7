package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestTracker(t *testing.T) {
	// Unless a case says otherwise: a baseline of 10 s, the deploy from 10 s to
	// 20 s, settle 10 s, tail 5 s.
	deployed := func(sc script) script {
		sc.deployStart, sc.deployEnd = 10*sec, 20*sec
		if sc.outcome == "" {
			sc.outcome = sample.Succeeded
		}
		return sc
	}
	tests := []struct {
		name   string
		script script
		want   ending
	}{
		{
			// Old's last answer at 29.9; + 10 + 5.
			"both answer for a while, then only new",
			deployed(script{answers: []answers{{0, 30 * sec, "v1", ""}, {15 * sec, never, "v2", ""}}}),
			ending{44900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail"},
		},
		{
			// Old is gone at 13, so that its settle ends at 22.9; the deploy's
			// end at 20 is before that: 22.9 + 5.
			"old is gone before the deploy's end",
			deployed(script{answers: []answers{{0, 13 * sec, "v1", ""}, {12 * sec, never, "v2", ""}}}),
			ending{27900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, deploying, settling, tail"},
		},
		{
			// The deploy ends at 60, long after old's settle: 60 + 5.
			"the deploy's end is waited for",
			script{deployStart: 10 * sec, deployEnd: 60 * sec, outcome: sample.Succeeded,
				answers: []answers{{0, 13 * sec, "v1", ""}, {12 * sec, never, "v2", ""}}},
			ending{65 * sec, sample.EndComplete, "baseline, deploying, cutover, deploying, tail"},
		},
		{
			// New comes at 70, within the minute after 20; old ends with it.
			"new comes long after the deploy's end",
			deployed(script{answers: []answers{{0, 70 * sec, "v1", ""}, {70 * sec, never, "v2", ""}}}),
			ending{85 * sec, sample.EndComplete, "baseline, deploying, waiting for new, cutover, settling, tail"},
		},
		{
			"no sign of new",
			deployed(script{answers: []answers{{0, never, "v1", ""}}}),
			ending{80 * sec, sample.EndCutoverTimeout, "baseline, deploying, waiting for new"},
		},
		{
			// New's first answer at 45 + 10 + 5: only then anything can settle.
			"a gap longer than settle and tail",
			deployed(script{answers: []answers{{0, 15 * sec, "v1", ""}, {45 * sec, never, "v2", ""}}}),
			ending{60 * sec, sample.EndComplete, "baseline, deploying, waiting for new, settling, tail"},
		},
		{
			"nothing answers any more",
			deployed(script{answers: []answers{{0, 15 * sec, "v1", ""}}}),
			ending{80 * sec, sample.EndCutoverTimeout, "baseline, deploying, waiting for new"},
		},
		{
			// Not the whole cutover-timeout: 20 + 10 + 5.
			"the deploy failed and nothing changed",
			deployed(script{outcome: sample.Failed, answers: []answers{{0, never, "v1", ""}}}),
			ending{35 * sec, sample.EndComplete, "baseline, deploying, settling, tail"},
		},
		{
			"the deploy took too long",
			deployed(script{outcome: sample.TimedOut, answers: []answers{{0, never, "v1", ""}}}),
			ending{35 * sec, sample.EndDeployTimeout, "baseline, deploying, settling, tail"},
		},
		{
			"how the deploy ended is unknown: it may have worked",
			deployed(script{outcome: sample.Unknown, answers: []answers{{0, never, "v1", ""}}}),
			ending{80 * sec, sample.EndCutoverTimeout, "baseline, deploying, waiting for new"},
		},
		{
			// New from 15 on, both forever: the deploy's end + 60 + 15.
			"the deploy failed half way",
			deployed(script{outcome: sample.Failed, answers: []answers{{0, never, "v1", ""}, {15 * sec, never, "v2", ""}}}),
			ending{95 * sec, sample.EndComplete, "baseline, deploying, cutover, tail"},
		},
		{
			// New is last seen at 17.9 and the deploy fails at 20: + 10 + 5.
			"rolled back by the deploy",
			deployed(script{outcome: sample.Failed, answers: []answers{{0, never, "v1", ""}, {15 * sec, 18 * sec, "v2", ""}}}),
			ending{35 * sec, sample.EndComplete, "baseline, deploying, cutover, tail"},
		},
		{
			// New is last seen at 39.9: a minute more.
			"rolled back after the deploy",
			deployed(script{answers: []answers{{0, 25 * sec, "v1", ""}, {15 * sec, 40 * sec, "v2", ""}, {39 * sec, never, "v1", ""}}}),
			ending{99900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail, cutover, tail"},
		},
		{
			"minutes of both, bounded by max-duration",
			deployed(script{inputs: map[string]string{"max-duration": "5m"}, answers: []answers{{0, never, "v1", ""}, {15 * sec, never, "v2", ""}}}),
			ending{300 * sec, sample.EndMaxDuration, "baseline, deploying, cutover"},
		},
		{
			"minutes of both, then old goes",
			deployed(script{answers: []answers{{0, 400 * sec, "v1", ""}, {15 * sec, never, "v2", ""}}}),
			ending{414900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail"},
		},
		{
			"max-duration bounds the deploy",
			script{deployStart: 10 * sec, deployEnd: never, inputs: map[string]string{"max-duration": "30s"}, answers: []answers{{0, never, "v1", ""}}},
			ending{30 * sec, sample.EndMaxDuration, "baseline, deploying"},
		},
		{
			// v2 is not what was asked for; nobody waits for more after v3.
			"the expected version is the new one",
			deployed(script{inputs: map[string]string{"expect-version": "v3"}, answers: []answers{
				{0, 30 * sec, "v1", ""}, {15 * sec, 40 * sec, "v2", ""}, {30 * sec, never, "v3", ""}}}),
			ending{45 * sec, sample.EndComplete, "baseline, deploying, waiting for new, cutover, settling, tail"},
		},
		{
			"another version than the expected one is no sign of new",
			deployed(script{inputs: map[string]string{"expect-version": "v3"}, answers: []answers{{0, 15 * sec, "v1", "a"}, {15 * sec, never, "v2", "b"}}}),
			ending{80 * sec, sample.EndCutoverTimeout, "baseline, deploying, waiting for new"},
		},
		{
			// Two versions in the baseline are both old; the later end counts.
			"every version of the baseline is old",
			deployed(script{answers: []answers{{0, 16 * sec, "v0", ""}, {0, 25 * sec, "v1", ""}, {15 * sec, never, "v2", ""}}}),
			ending{39900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail"},
		},
		{
			"a restart is seen by its instances",
			deployed(script{answers: []answers{{0, 18 * sec, "v1", "a"}, {0, 25 * sec, "v1", "b"}, {15 * sec, never, "v1", "c"}, {20 * sec, never, "v1", "d"}}}),
			ending{39900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail"},
		},
		{
			// The new instance of old's is no end of the wait for v2.
			"a version outranks instances",
			deployed(script{answers: []answers{{0, 60 * sec, "v1", "a"}, {12 * sec, 60 * sec, "v1", "b"}, {50 * sec, never, "v2", "c"}}}),
			ending{74900 * time.Millisecond, sample.EndComplete, "baseline, deploying, cutover, settling, tail"},
		},
		{
			// An instance more, and those of the baseline stay: the deploy's end + 60 + 15.
			"scaled up, nothing changed",
			deployed(script{answers: []answers{{0, never, "v1", "a"}, {15 * sec, never, "v1", "b"}}}),
			ending{95 * sec, sample.EndComplete, "baseline, deploying, cutover, tail"},
		},
		{
			"instances in the baseline are old, and not the deploy's",
			script{deployStart: 30 * sec, deployEnd: 40 * sec, outcome: sample.Succeeded,
				answers: []answers{{0, never, "v1", "a"}, {20 * sec, 25 * sec, "v1", "b"}}},
			ending{100 * sec, sample.EndCutoverTimeout, "baseline, deploying, waiting for new"},
		},
		{
			"a first deploy: the first version there is is new",
			deployed(script{answers: []answers{{25 * sec, never, "v1", ""}}}),
			ending{40 * sec, sample.EndComplete, "baseline, deploying, waiting for new, settling, tail"},
		},
		{
			// Marks alone: the deploy's end + 10 + 5.
			"version-from none",
			deployed(script{inputs: map[string]string{"version-from": "none", "instance-from": "none"}, answers: []answers{{0, never, "", ""}}}),
			ending{35 * sec, sample.EndComplete, "baseline, deploying, settling, tail"},
		},
		{
			"answers never carry an id",
			deployed(script{answers: []answers{{0, never, "", ""}}}),
			ending{35 * sec, sample.EndComplete, "baseline, deploying, settling, tail"},
		},
		{
			// The slow request is answered by old at 34: old's end. + 10 + 5.
			"a slow request that old answers moves its end",
			deployed(script{answers: []answers{{0, 15 * sec, "v1", ""}, {15 * sec, never, "v2", ""}},
				slow: []slowRequest{{14 * sec, 34 * sec, "v1", ""}}}),
			ending{49 * sec, sample.EndComplete, "baseline, deploying, cutover, deploying, waiting for requests on old, settling, tail"},
		},
		{
			// Cut at 30: started 0.5 s after old's last answered request.
			"a slow request that is cut moves old's end",
			deployed(script{answers: []answers{{0, 15 * sec, "v1", ""}, {15 * sec, never, "v2", ""}},
				slow: []slowRequest{{15400 * time.Millisecond, 30 * sec, "", sample.Reset}}}),
			ending{45 * sec, sample.EndComplete, "baseline, deploying, cutover, deploying, waiting for requests on old, settling, tail"},
		},
		{
			// Started 4 s after old's last: it is on new, and is left. 14.9 + 10 + 5.
			"a slow request on new is not waited for",
			deployed(script{answers: []answers{{0, 15 * sec, "v1", ""}, {15 * sec, never, "v2", ""}},
				slow: []slowRequest{{19 * sec, 50 * sec, "v2", ""}}}),
			ending{30 * sec, sample.EndComplete, "baseline, deploying, cutover, deploying, settling, tail"},
		},
		{
			// The failed deploy's end is the only mark; what is in flight then is
			// waited for, in "settling" while everything is that recent. It
			// fails at 32, before the end of 20 + 10 + 5.
			"a slow request in flight at a failed deploy's end",
			deployed(script{outcome: sample.Failed, answers: []answers{{0, never, "v1", ""}},
				slow: []slowRequest{{14 * sec, 32 * sec, "", sample.Reset}}}),
			ending{35 * sec, sample.EndComplete, "baseline, deploying, settling, waiting for requests on old, tail"},
		},
		{
			"without a deploy the first cutover ends the run",
			script{undeployed: true, answers: []answers{{0, 200 * sec, "v1", ""}, {190 * sec, never, "v2", ""}}},
			ending{214900 * time.Millisecond, sample.EndComplete, "baseline, waiting for new, cutover, settling, tail"},
		},
		{
			"without a deploy and without a cutover",
			script{undeployed: true, answers: []answers{{0, never, "v1", ""}}},
			ending{1200 * sec, sample.EndMaxDuration, "baseline, waiting for new"},
		},
		{
			"without a deploy, an instance that comes and goes is none",
			script{undeployed: true, answers: []answers{{0, never, "v1", "a"}, {20 * sec, 40 * sec, "v1", "b"}}},
			ending{1200 * sec, sample.EndMaxDuration, "baseline, waiting for new, cutover"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := play(t, tt.script)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("ending (-want +got):\n%s", d)
			}
		})
	}
}

func TestTrackerSaysWhyItDidNotWait(t *testing.T) {
	tests := []struct {
		name    string
		answers []answers
		want    string
	}{
		{"no new", []answers{{0, never, "v1", ""}}, "cutover-timeout (1m 00s)"},
		{"rollback", []answers{{0, never, "v1", ""}, {15 * sec, 18 * sec, "v2", ""}}, "old answers again"},
		{"scaled", []answers{{0, never, "v1", "a"}, {15 * sec, never, "v1", "b"}}, "the version stayed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, s := play(t, script{deployStart: 10 * sec, deployEnd: 20 * sec, outcome: sample.Succeeded, answers: tt.answers})
			if !strings.Contains(s.Message, tt.want) {
				t.Errorf("message %q does not hold %q", s.Message, tt.want)
			}
		})
	}
}

func TestTrackerTakesALateLineOfTheBaselineForOld(t *testing.T) {
	trk := newTracker(config.Default(), true)
	trk.Add(sample.Line{Signal: &sample.Signal{At: 100, Kind: sample.SignalBaseline}})
	for _, s := range []sample.Sample{
		{Lane: sample.Kept, Started: 90, FirstByte: 99, Ended: 100, Status: 200, Version: "v1"},
		{Lane: sample.Kept, Started: 90, FirstByte: 100, Ended: 101, Status: 200, Version: "v2"},
	} {
		trk.Add(sample.Line{Sample: &s})
	}
	if !trk.versions.old["v1"] || trk.versions.new != "v2" {
		t.Errorf("old %v, new %q; want v1 old and v2 new", trk.versions.old, trk.versions.new)
	}
}

func TestTrackerTakesNoCachedAnswerForOld(t *testing.T) {
	trk := newTracker(config.Default(), true)
	add := func(at int64, version string, age int) {
		trk.Add(sample.Line{Sample: &sample.Sample{Lane: sample.Kept, Started: at, FirstByte: at, Ended: at, Status: 200, Version: version, CacheAge: age}})
	}
	add(1, "v1", 0)
	trk.Add(sample.Line{Signal: &sample.Signal{At: 2, Kind: sample.SignalBaseline}})
	add(3, "v2", 0)
	add(4, "v1", 3)
	if trk.versions.new != "v2" || trk.versions.oldEnd != 1 || !trk.withID {
		t.Errorf("new %q, old's end at %d; want v2, and old's end at 1", trk.versions.new, trk.versions.oldEnd)
	}
}

func TestTrackerIgnoresControlAndUnfinished(t *testing.T) {
	trk := newTracker(config.Default(), true)
	for _, s := range []sample.Sample{
		{Lane: sample.Control, Status: 200, Version: "other"},
		{Lane: sample.Slow, Unfinished: true, Class: sample.Reset},
	} {
		trk.Add(sample.Line{Sample: &s})
	}
	if trk.answered || len(trk.versions.old) > 0 || len(trk.slowFailures) > 0 {
		t.Errorf("took note of %+v", trk)
	}
}

func TestIsNew(t *testing.T) {
	trk := newTracker(config.Default(), true)
	add := func(at int64, version, instance string) *sample.Sample {
		s := &sample.Sample{Lane: sample.Kept, Started: at, FirstByte: at, Ended: at, Status: 200, Version: version, Instance: instance}
		trk.Add(sample.Line{Sample: s})
		return s
	}
	before := add(1, "v1", "a")
	trk.Add(sample.Line{Signal: &sample.Signal{At: 2, Kind: sample.SignalBaseline}})
	trk.Add(sample.Line{Signal: &sample.Signal{At: 3, Kind: sample.SignalStart}})
	restarted := add(4, "v1", "b")
	if trk.IsNew(before) || !trk.IsNew(restarted) {
		t.Error("by instance: want b new and a old")
	}
	after := add(5, "v2", "c")
	if trk.IsNew(before) || trk.IsNew(restarted) || !trk.IsNew(after) {
		t.Error("by version: want v2 alone to be new")
	}
}

// Where nothing may deploy, a deployment that is found is waited for to its end,
// though nobody tells that it begins.
func TestDeploymentWithoutAStart(t *testing.T) {
	for _, found := range []bool{false, true} {
		sc := script{undeployed: true, answers: []answers{{0, 13 * sec, "v1", ""}, {12 * sec, never, "v2", ""}}}
		trk := newTracker(config.Default(), false)
		if found {
			trk.Add(sample.Line{Signal: &sample.Signal{At: int64(11 * sec), Kind: sample.SignalPhase, Name: "queued", Deployment: "7"}})
		}
		end := state{}
		for now := time.Duration(0); now < 20*time.Minute && !end.Done; now += step {
			feed(trk, sc, now, 10*sec)
			if now == 15*time.Minute {
				trk.Add(sample.Line{Signal: &sample.Signal{At: int64(now), Kind: sample.SignalEnd, Outcome: sample.Failed, Deployment: "7"}})
			}
			if end = trk.Next(now, nil); end.Done && now > 15*time.Minute != found {
				t.Errorf("found is %v: over at %v", found, now)
			}
		}
		if !end.Done {
			t.Errorf("found is %v: it does not end", found)
		}
	}
}

// Where a deploy may come and none does, the run ends as one whose deploy changed
// nothing: cutover-timeout after that was told.
func TestNoDeploymentCame(t *testing.T) {
	for name, versions := range map[string][]answers{
		"nothing changes":               {{0, never, "v1", "a"}},
		"an instance comes, and stays":  {{0, never, "v1", "a"}, {15 * sec, never, "v1", "b"}},
		"an instance comes, and leaves": {{0, never, "v1", "a"}, {15 * sec, 20 * sec, "v1", "b"}},
	} {
		cfg := config.Default()
		for name, value := range map[string]string{"baseline": "5s", "settle": "2s", "tail": "2s", "cutover-timeout": "5s"} {
			if err := cfg.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		trk, sc := newTracker(cfg, false), script{undeployed: true, answers: versions}
		end, at := state{}, time.Duration(0)
		for ; at < 20*time.Minute && !end.Done; at += step {
			feed(trk, sc, at, 5*sec)
			if at == 30*sec {
				trk.Add(sample.Line{Signal: &sample.Signal{At: int64(at), Kind: sample.SignalEnd, Name: sample.NoDeployment, Outcome: sample.Unknown}})
			}
			end = trk.Next(at, nil)
		}
		if !end.Done || at < 30*sec || at > 40*sec {
			t.Errorf("%s: it ends at %v with %+v, want it within cutover-timeout, settle and tail of 30 s", name, at, end)
		}
	}
}
