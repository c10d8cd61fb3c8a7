package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func ptr[T any](v T) *T { return &v }

// good is the analysis of a deploy that lost nothing.
func good() (*analysis.Analysis, sample.Run) {
	c := config.Default()
	c.URL, c.SlowURL = "http://127.0.0.1/", "http://127.0.0.1/slow"
	a := &analysis.Analysis{
		Duration: 60 * time.Second, Probed: 60 * time.Second, End: sample.EndComplete,
		Baseline: &analysis.Span{To: 10 * time.Second}, BaselineRequests: 1100, BaselineOK: 1100,
		Versions: []analysis.Version{{ID: "v1", Role: analysis.Old}, {ID: "v2", Role: analysis.New}},
		AtEnd:    []string{"v2"},
		Cutover:  &analysis.Cutover{By: "version", Start: 20 * time.Second, End: 30 * time.Second, Overlap: 10 * time.Second, Complete: true, LastAccept: 30 * time.Second, InCutover: 5012},
		Stop:     &analysis.Stop{End: 45 * time.Second},
		Deploy:   analysis.Deploy{Started: ptr(10 * time.Second), Ended: ptr(31 * time.Second), Outcome: sample.Succeeded, Window: &analysis.Span{From: 10 * time.Second, To: 55 * time.Second}},
		Requests: analysis.Counts{Total: 6000, OK: 6000},
		Slow:     analysis.Slow{Total: 50, Completed: 50, InFlightAtLastAccept: ptr(17), OldCompleted: 17},
		Power:    &analysis.Power{RequestsInCutover: 5012, MaxFailureRate95: ptr(0.000598), MinOutage: ptr(21 * time.Millisecond)},
	}
	return a, sample.Run{Deploy: "command", Config: *c}
}

func TestPassSaysWhatItIsWorth(t *testing.T) {
	v := Judge(good())
	want := "0 of 5,012 requests in the cutover failed: fewer than 0.06 % at 95 % confidence; an outage of 21 ms or longer would have been seen; 17 requests were in flight on old, all 17 were answered"
	if v.Verdict != Pass || v.ExitCode != 0 || len(v.Reasons) != 1 || v.Reasons[0].Message != want {
		t.Errorf("got  %+v\nwant %s", v, want)
	}
}

func TestJudge(t *testing.T) {
	lost := func(a *analysis.Analysis, n int) {
		a.Requests.Failed, a.Requests.Deploy = n, n
		for range n {
			a.Failures = append(a.Failures, analysis.Failure{Attribution: analysis.ByDeploy, Reason: analysis.ReasonInCutover})
		}
	}
	tests := []struct {
		name    string
		change  func(a *analysis.Analysis, h *sample.Run)
		verdict string
		code    string
		exit    int
	}{
		{"a drop", func(a *analysis.Analysis, _ *sample.Run) { lost(a, 1) }, Fail, "deploy-failures", 1},
		{"a drop that is let pass", func(a *analysis.Analysis, h *sample.Run) { lost(a, 1); h.Config.MaxDeployFailures = 1 }, Pass, "within-limit", 0},
		{"an idle race", func(a *analysis.Analysis, _ *sample.Run) { lost(a, 1); a.Requests.DeployIdleRace = 1 }, Fail, "deploy-failures", 1},
		{"an idle race that only warns", func(a *analysis.Analysis, h *sample.Run) {
			lost(a, 1)
			a.Requests.DeployIdleRace = 1
			h.Config.IdleRace = "warn"
		}, Pass, "within-limit", 0},
		{"a drain over what was promised", func(_ *analysis.Analysis, h *sample.Run) { h.Config.DrainWindow = config.Duration(14 * time.Second) }, Fail, "drain-window-exceeded", 1},
		{"a drain as promised", func(_ *analysis.Analysis, h *sample.Run) { h.Config.DrainWindow = config.Duration(15 * time.Second) }, Pass, "zero-drop", 0},
		{"another version", func(_ *analysis.Analysis, h *sample.Run) { h.Config.ExpectVersion = "v3" }, Fail, "wrong-version", 1},
		{"a silent retry", func(a *analysis.Analysis, _ *sample.Run) { a.Slow.ReExecuted = 1 }, Pass, "zero-drop", 0},
		{"a silent retry that fails", func(a *analysis.Analysis, h *sample.Run) { a.Slow.ReExecuted = 1; h.Config.SilentRetry = "fail" }, Fail, "silent-retry", 1},
		{"no cutover", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover, a.Stop = nil, nil }, Inconclusive, "no-cutover", 3},
		{"no deployment came", func(a *analysis.Analysis, _ *sample.Run) {
			a.Cutover, a.Stop, a.Deploy.Outcome = nil, nil, sample.Unknown
			a.Deploy.Signals = []analysis.Signal{{Name: sample.NoDeployment}}
			a.Platform = &analysis.Platform{Platform: sample.Platform{Kind: config.PlatformGitHub}}
		}, Inconclusive, "no-cutover", 3},
		{"a drop and no cutover", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover, a.Stop = nil, nil; lost(a, 2) }, Fail, "deploy-failures", 1},
		{"no cutover, warned", func(a *analysis.Analysis, h *sample.Run) {
			a.Cutover, a.Stop = nil, nil
			h.Config.OnInconclusive = "warn"
		}, Inconclusive, "no-cutover", 0},
		{"a command that never ran, warned", func(a *analysis.Analysis, h *sample.Run) {
			a.Cutover, a.Stop, a.Baseline, a.BaselineOK, a.Deploy.Started = nil, nil, nil, 0, nil
			a.End, h.Config.OnInconclusive = sample.EndNoAnswer, "warn"
		}, Inconclusive, "no-baseline", 3},
		{"no version", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover, a.Stop, a.Target.NoID = nil, nil, true }, Inconclusive, "no-version", 3},
		{"rolled back", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover.RolledBack, a.Cutover.Complete = true, false }, Inconclusive, "rolled-back", 3},
		{"both until the end", func(a *analysis.Analysis, _ *sample.Run) {
			a.Cutover.Complete, a.End = false, sample.EndMaxDuration
		}, Inconclusive, "no-cutover", 3},
		{"no sample", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover.InCutover = 0 }, Inconclusive, "no-samples", 3},
		{"a baseline of 2 s", func(a *analysis.Analysis, _ *sample.Run) { a.Baseline.To = 2 * time.Second }, Inconclusive, "baseline-too-short", 3},
		{"a baseline of 99 requests", func(a *analysis.Analysis, _ *sample.Run) { a.BaselineRequests = 99 }, Inconclusive, "baseline-too-short", 3},
		{"a first deploy", func(a *analysis.Analysis, h *sample.Run) {
			a.BaselineRequests, a.BaselineOK, h.Config.AllowNoBaseline = 0, 0, true
		}, Pass, "zero-drop", 0},
		{"a first deploy that nothing was old before", func(a *analysis.Analysis, h *sample.Run) {
			a.Cutover, a.Stop, a.Power = nil, nil, nil
			a.BaselineRequests, a.BaselineOK, h.Config.AllowNoBaseline, h.Config.SlowURL = 500, 0, true, ""
		}, Pass, "zero-drop", 0},
		{"a first deploy that never answered", func(a *analysis.Analysis, h *sample.Run) {
			a.Cutover, a.Stop, a.AtEnd = nil, nil, nil
			a.BaselineOK, h.Config.AllowNoBaseline = 0, true
		}, Inconclusive, "no-cutover", 3},
		{"nothing in flight", func(a *analysis.Analysis, _ *sample.Run) { a.Slow.InFlightAtLastAccept = ptr(0) }, Inconclusive, "nothing-in-flight", 3},
		{"the prober slept", func(a *analysis.Analysis, _ *sample.Run) { a.Prober.WorstInWindow = time.Second }, Inconclusive, "prober-trouble", 3},
		{"the prober skipped", func(a *analysis.Analysis, _ *sample.Run) { a.Prober.SkippedInWindow = 1 }, Inconclusive, "prober-trouble", 3},
		{"undecided", func(a *analysis.Analysis, _ *sample.Run) { a.Requests.Failed, a.Requests.Undecided = 1, 1 }, Inconclusive, "undecided-failures", 3},
		{"background alone", func(a *analysis.Analysis, _ *sample.Run) { a.Requests.Failed, a.Requests.Background = 3, 3 }, Pass, "zero-drop", 0},
		{"killed", func(a *analysis.Analysis, _ *sample.Run) { a.End = "" }, Inconclusive, "probe-died", 3},
		{"disk full", func(a *analysis.Analysis, _ *sample.Run) { a.End, a.EndNote = sample.EndRecording, "no space" }, Inconclusive, "prober-trouble", 3},
		{"blocked", func(a *analysis.Analysis, _ *sample.Run) {
			a.Requests.Failed, a.Requests.Config = 1, 1
			a.Failures = []analysis.Failure{{Attribution: analysis.ByConfig, Reason: analysis.ReasonBlocked, Started: 20 * time.Second, Ended: 20 * time.Second}}
		}, Inconclusive, "blocked", 3},
		{"cached", func(a *analysis.Analysis, _ *sample.Run) { a.CacheHits = 3001 }, Inconclusive, "cached", 3},
		{"the deploy failed", func(a *analysis.Analysis, _ *sample.Run) { a.Deploy.Outcome = sample.Failed }, Inconclusive, "deploy-failed", 4},
		{"the deploy failed and dropped", func(a *analysis.Analysis, _ *sample.Run) { a.Deploy.Outcome = sample.Failed; lost(a, 1) }, Fail, "deploy-failures", 4},
		{"the deploy outlived the run", func(a *analysis.Analysis, _ *sample.Run) {
			a.End, a.Cutover, a.Stop, a.Deploy.Ended = sample.EndMaxDuration, nil, nil, nil
		}, Inconclusive, "deploy-timeout", 3},
		{"stopped in the middle of the deploy", func(a *analysis.Analysis, _ *sample.Run) {
			a.End, a.Deploy.Outcome = sample.EndSignal, sample.Unknown
		}, Inconclusive, "deploy-timeout", 3},
		{"stopped in the tail", func(a *analysis.Analysis, _ *sample.Run) { a.End, a.Probed = sample.EndSignal, 56*time.Second }, Pass, "zero-drop", 0},
		{"stopped while what is lost is still the deploy's", func(a *analysis.Analysis, _ *sample.Run) { a.End, a.Probed = sample.EndSignal, 50*time.Second }, Inconclusive, "interrupted", 3},
		{"out of time while what is lost is still the deploy's", func(a *analysis.Analysis, _ *sample.Run) {
			a.End, a.Probed = sample.EndMaxDuration, 50*time.Second
		}, Inconclusive, "interrupted", 3},
		{"stopped with a drop", func(a *analysis.Analysis, _ *sample.Run) {
			a.End, a.Probed = sample.EndSignal, 50*time.Second
			lost(a, 1)
		}, Fail, "deploy-failures", 1},
		{"an id for each request", func(a *analysis.Analysis, _ *sample.Run) { a.Cutover, a.Stop, a.Target.Unstable = nil, nil, 130 }, Inconclusive, "no-version", 3},
		{"the deploy hung", func(a *analysis.Analysis, _ *sample.Run) {
			a.End, a.Cutover, a.Stop = sample.EndDeployTimeout, nil, nil
		}, Inconclusive, "deploy-timeout", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, h := good()
			tt.change(a, &h)
			v := Judge(a, h)
			if v.Verdict != tt.verdict || v.ExitCode != tt.exit || v.Reasons[0].Code != tt.code {
				t.Errorf("got %s, exit %d, %+v; want %s (%s), exit %d", v.Verdict, v.ExitCode, v.Reasons, tt.verdict, tt.code, tt.exit)
			}
			for _, r := range v.Reasons {
				if strings.TrimSpace(r.Message) == "" || strings.Contains(r.Message, "%!") {
					t.Errorf("reason %s says %q", r.Code, r.Message)
				}
			}
		})
	}
}

// The platform's message is shown as those wrote it who told of it, who have
// quoted and cleaned what needed it.
func TestAFailedDeploysMessageIsNotEscapedAgain(t *testing.T) {
	a, h := good()
	a.Deploy.Outcome, a.Deploy.Message = sample.Failed, `a & b <c> | step "web 1" said\n"no"`
	want := "the deploy itself failed: " + a.Deploy.Message
	if v := Judge(a, h); v.Reasons[0].Message != want {
		t.Errorf("got  %s\nwant %s", v.Reasons[0].Message, want)
	}
}

func TestPassTellsOfTheBackgroundInItsCutover(t *testing.T) {
	a, h := good()
	a.Requests.Failed, a.Requests.Background = 8, 8
	a.Power.Failed, a.Power.MaxFailureRate95 = 7, ptr(0.0026)
	v := Judge(a, h)
	want := "7 of 5,012 requests in the cutover failed, none by the deploy: fewer than 0.26 % at 95 % confidence"
	if v.Verdict != Pass || !strings.HasPrefix(v.Reasons[0].Message, want) {
		t.Errorf("got  %+v\nwant %s …", v, want)
	}
}

// What a pass lets by is in its sentence: how much it was, and by which leave.
func TestPassTellsOfWhatItLetPass(t *testing.T) {
	a, h := good()
	a.Requests.Failed, a.Requests.Deploy, a.Requests.DeployIdleRace = 8, 8, 1
	a.Power.Failed, a.Power.MaxFailureRate95 = 8, ptr(0.0207)
	h.Config.MaxDeployFailures, h.Config.IdleRace = 500, "warn"
	v := Judge(a, h)
	want := "the deploy lost 8 requests of 6,000, and up to 500 are let pass (max-deploy-failures) and 1 idle race is only warned of (idle-race); 8 of 5,012 requests in the cutover failed: fewer than 2.07 %"
	if v.Verdict != Pass || len(v.Reasons) != 1 || v.Reasons[0].Code != WithinLimit || !strings.HasPrefix(v.Reasons[0].Message, want) {
		t.Errorf("got  %+v\nwant %s …", v, want)
	}
	a.Power = nil
	if v := Judge(a, h); strings.Contains(v.Reasons[0].Message, "0 of 6,000") {
		t.Errorf("8 were lost, and the pass says %q", v.Reasons[0].Message)
	}
}
