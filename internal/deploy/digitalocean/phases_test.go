package digitalocean_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/box/appapi"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

const (
	token = "dop_v1_2f5b8c"
	// step is between two phases, a few times as long as between two looks.
	step = 400 * time.Millisecond
	// times is how much faster than in life everything is.
	times = 40
	// atOnce is how many scenes are played side by side: nearly all of it is waiting.
	atOnce = 8
)

// scene is a platform, what happens on it, and what has to be told of it.
type scene struct {
	name    string
	trigger string
	api     appapi.Options
	before  func(*appapi.API) // before the run
	faults  []appapi.Fault    // once the baseline is in
	deploy  []appapi.Step     // of what the trigger makes
	push    *appapi.Cause     // made by somebody else once the baseline is in
	after   string            // but only when this was told
	long    bool              // takes over 10 s

	phases  []string // as told, in order; the start and the end among them
	outcome string
	message []string // in the end's
	notes   []string // told among others
	exit    int
	follows int // which of the API's deployments is told of last
	posts   int
	failed  string // in the error of a trigger that was refused
}

// through is the phases of a deployment without incidents.
func through(phases ...string) []appapi.Step {
	var list []appapi.Step
	for _, p := range phases {
		list = append(list, appapi.Step{After: step, Phase: p})
	}
	return list
}

// A whole deploy's phases, as they are scripted and as they are told.
var (
	whole = through(appapi.Building, appapi.PendingDeploy, appapi.Deploying, appapi.Active)
	told  = []string{appapi.PendingBuild, appapi.Building, appapi.PendingDeploy, appapi.Deploying, appapi.Active}
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

func scenes() []scene {
	return slices.Concat(orders(), troubles(), triggers())
}

// orders are the orders of phases.
func orders() []scene {
	push := appapi.Cause{Type: appapi.DeployOnPush, Text: "commit 9a4df0b pushed to github/example/shop"}
	failed := func(phases ...string) []appapi.Step {
		return append(through(phases...), appapi.Step{After: step, Code: "DeployContainerHealthChecksFailed", Message: "the health check at /healthz failed"})
	}
	return []scene{
		{name: "a deploy", deploy: whole, phases: told},
		{name: "a rebuild", trigger: config.TriggerRebuild, deploy: whole, phases: told},
		{name: "a restart, which builds nothing", trigger: config.TriggerRestart, deploy: through(appapi.Deploying, appapi.Active),
			phases: []string{appapi.PendingBuild, appapi.Deploying, appapi.Active}},
		{name: "a build that is reused", deploy: append([]appapi.Step{{After: step, Reused: true, Phase: appapi.PendingDeploy}}, whole[2:]...),
			phases: []string{appapi.PendingBuild, appapi.PendingDeploy, appapi.Deploying, appapi.Active}, notes: []string{"build-reused"}},
		{name: "too quick to be seen deploying", deploy: []appapi.Step{{After: step, Phase: appapi.Deploying}, {Phase: appapi.Active}},
			phases: []string{appapi.PendingBuild, appapi.Deploying, appapi.Active}},
		{name: "an unknown phase first", deploy: slices.Concat(through(appapi.Unknown), whole),
			phases: slices.Concat([]string{appapi.PendingBuild, appapi.Unknown}, told[1:])},
		{name: "a failed build", deploy: append(through(appapi.Building), appapi.Step{After: step, Code: "BuildJobExitNonZero", Message: "go build failed"}),
			phases: []string{appapi.PendingBuild, appapi.Building, appapi.Failed}, outcome: sample.Failed, exit: 4,
			message: []string{"BuildJobExitNonZero", "go build failed"}},
		{name: "a failed health check", deploy: failed(appapi.Building, appapi.PendingDeploy, appapi.Deploying),
			phases: []string{appapi.PendingBuild, appapi.Building, appapi.PendingDeploy, appapi.Deploying, appapi.Failed}, outcome: sample.Failed, exit: 4,
			message: []string{"DeployContainerHealthChecksFailed", "the health check at /healthz failed"}},
		{name: "a failure that is rolled back by itself",
			deploy: append(failed(appapi.Deploying), appapi.Step{Next: &appapi.Cause{Type: appapi.AutoRollback}, Script: through(appapi.Deploying, appapi.Active)}),
			phases: []string{appapi.PendingBuild, appapi.Deploying, appapi.Failed}, outcome: sample.Failed, exit: 4, message: []string{"DeployContainerHealthChecksFailed"}},
		{name: "cancelled", deploy: through(appapi.Building, appapi.Canceled),
			phases: []string{appapi.PendingBuild, appapi.Building, appapi.Canceled}, outcome: sample.Failed, exit: 4, message: []string{"cancelled"}},
		{name: "superseded by a push",
			deploy:  []appapi.Step{{After: step, Phase: appapi.Building}, {After: step, Phase: appapi.Superseded, Next: &push, Script: whole}},
			phases:  slices.Concat([]string{appapi.PendingBuild, appapi.Building, appapi.Superseded}, told),
			follows: 2},
		{name: "superseded by a push that fails",
			deploy:  []appapi.Step{{After: step, Phase: appapi.Superseded, Next: &push, Script: failed(appapi.Deploying)}},
			phases:  []string{appapi.PendingBuild, appapi.Superseded, appapi.PendingBuild, appapi.Deploying, appapi.Failed},
			outcome: sample.Failed, exit: 4, message: []string{"DeployContainerHealthChecksFailed"}, follows: 2},
		{name: "a push is followed", trigger: config.TriggerNone, push: &push, deploy: whole, phases: told},
		{name: "a rollback is followed", trigger: config.TriggerNone, push: &appapi.Cause{Type: appapi.ManualRollback, Action: "ROLLBACK_APP"},
			deploy: through(appapi.PendingDeploy, appapi.Deploying, appapi.Active), phases: []string{appapi.PendingBuild, appapi.PendingDeploy, appapi.Deploying, appapi.Active}},
		{name: "what was under way is not followed", trigger: config.TriggerNone, push: &push, deploy: whole, phases: told, follows: 2,
			before: func(a *appapi.API) { a.Create(appapi.Cause{Type: appapi.DeployOnPush}).Enter(appapi.Building) }},
	}
}

// troubles are what can go wrong with the API while a deployment is followed.
func troubles() []scene {
	of := func(name string, faults ...appapi.Fault) scene {
		for i := range faults {
			faults[i].Method, faults[i].After = get, 3
		}
		return scene{name: name, faults: faults, deploy: whole, phases: told}
	}
	scaled := 30 * time.Second / times
	list := []scene{
		of("429 with retry-after", appapi.Fault{Status: 429, RetryAfter: "1", Count: 1}),
		of("429 without retry-after", appapi.Fault{Status: 429, Count: 2}),
		of("500 for 30 s", appapi.Fault{Status: 500, For: scaled}),
		of("524 by the edge", appapi.Fault{Status: 524, HTML: true, Count: 3}),
		of("answers cut short", appapi.Fault{Cut: true, Count: 3}),
		of("no network for 30 s", appapi.Fault{Reset: true, For: scaled}),
		of("a clock 90 s ahead"), of("a clock 90 s behind"),
	}
	list[2].notes, list[5].notes = []string{"api-lost", "api-back"}, []string{"api-lost", "api-back"}
	for i := range 6 {
		list[i].phases = nil // some went by unseen
	}
	list[6].api.Skew, list[7].api.Skew = 90*time.Second, -90*time.Second
	return list
}

// triggers are what can go wrong with asking for a deploy.
func triggers() []scene {
	lost := []string{"trigger-answer-lost"}
	of := func(name string, f appapi.Fault) scene {
		f.Method, f.Count = post, 1
		return scene{name: name, faults: []appapi.Fault{f}, deploy: whole, phases: told, notes: lost}
	}
	list := []scene{
		of("503, and it was done", appapi.Fault{Status: 503, Done: true}),
		of("503, and it was done, and is listed late", appapi.Fault{Status: 503, Done: true}),
		of("no answer, and it was done", appapi.Fault{Hang: true, Done: true}),
		of("an answer cut short, and it was done", appapi.Fault{Cut: true}),
		of("503, and it was not done", appapi.Fault{Status: 503}),
		of("429", appapi.Fault{Status: 429}),
		of("503, it was not done, and somebody pushes", appapi.Fault{Status: 503}),
		{name: "the scope app:update is missing", api: appapi.Options{ReadOnly: true}, failed: "app:update"},
	}
	list[1].api.ListLag, list[1].phases = 2*step, nil
	list[2].long, list[2].phases = true, nil // it is through by then
	list[4].failed, list[4].phases = "its answer was lost", nil
	list[5].failed, list[5].phases, list[5].notes = "429", nil, nil
	push := &appapi.Cause{Type: appapi.DeployOnPush, Text: "commit 9a4df0b pushed to github/example/shop"}
	list[6].push, list[6].after, list[6].failed, list[6].phases = push, lost[0], "only another's deployment came up (DEPLOY_ON_PUSH", nil
	list[6].deploy = []appapi.Step{{Phase: appapi.Deploying}, {Phase: appapi.Active}} // at once: a cutover is seen
	return list
}

func reasonHas(text string) func(verdict.Reason) bool {
	return func(r verdict.Reason) bool { return strings.Contains(r.Message, text) }
}

// A deployment is told of rightly in every order of its phases and through every
// trouble, and the run is judged as any other.
func TestPlatformScenes(t *testing.T) {
	t.Parallel()
	list := scenes()
	slices.SortStableFunc(list, func(a, b scene) int { // the longest begins first
		switch {
		case a.long == b.long:
			return 0
		case a.long:
			return -1
		}
		return 1
	})
	next := make(chan scene)
	var workers sync.WaitGroup
	for range atOnce { // t.Parallel would take as many as there are cores
		workers.Go(func() {
			for s := range next {
				t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
					if s.long && testing.Short() {
						t.Skip("takes 20 s")
					}
					play(t, s.withDefaults())
				})
			}
		})
	}
	for _, s := range list {
		next <- s
	}
	close(next)
	workers.Wait()
}

func (s scene) withDefaults() scene {
	if s.trigger == "" {
		s.trigger = config.TriggerDeploy
	}
	if s.trigger != config.TriggerNone {
		s.posts = 1
	}
	if s.follows == 0 {
		s.follows = 1
	}
	switch {
	case s.failed != "":
		s.outcome, s.exit = sample.Failed, 4
	case s.outcome == "":
		s.outcome = sample.Succeeded
	}
	return s
}

func play(t *testing.T, s scene) {
	w := newWorld(t, s)
	source, err := digitalocean.New(w.cfg, w.getenv)
	if err != nil {
		t.Fatal(err)
	}
	source.Hurry(times)
	if _, err := source.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := &heard{Source: source, world: w}
	out, err := run.Run(t.Context(), run.Options{Config: w.cfg, Deploy: h, Version: "0.0.0", Ready: w.baselineIsIn})
	if err != nil {
		t.Fatal(err)
	}
	w.checkSignals(t, h.signals)
	if r := out.Result; r.Requests.Total == 0 || r.Requests.Failed > 0 || r.Deploy.Outcome != s.outcome {
		t.Errorf("the run: %d requests, %d failed, the deploy %s; want it judged, and %s", r.Requests.Total, r.Requests.Failed, r.Deploy.Outcome, s.outcome)
	}
	if got := out.Verdict.ExitCode; s.exit != 0 && got != s.exit || s.exit == 0 && got == 4 {
		t.Errorf("exit code %d, want %d", got, s.exit)
	}
	if s.outcome == sample.Succeeded && out.Analysis.BaselineOK > 0 && (out.Result.Cutover == nil || out.Result.Cutover.By != "version") {
		t.Errorf("cutover %+v, want the change of version", out.Result.Cutover)
	}
	for _, text := range append(s.message, s.failed) {
		if !slices.ContainsFunc(out.Verdict.Reasons, reasonHas(text)) {
			t.Errorf("reasons %+v, want %q in one", out.Verdict.Reasons, text)
		}
	}
	if got := w.api.Posts(); got != s.posts {
		t.Errorf("it was asked %d times to deploy, want %d", got, s.posts)
	}
	if n := w.api.Busiest(time.Minute / times); n > 40 { // a Hurry makes a minute of 3 s
		t.Errorf("up to %d requests in a minute's time, want at most 40", n)
	}
}
