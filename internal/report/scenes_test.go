package report_test

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// scenes are the runs whose reports are kept in testdata.
func scenes() map[string]*scene {
	return map[string]*scene{
		"pass":        passScene(),
		"platform":    platformScene(),
		"kubernetes":  kubernetesScene(),
		"gap":         gapScene(),
		"no-cutover":  noCutoverScene(),
		"probe-died":  probeDiedScene(),
		"undecided":   undecidedScene(),
		"short-event": shortEventScene(),
		"restart":     restartScene(),
		"no-version":  noVersionScene(),
	}
}

// passScene: ten seconds of overlap, a drain that outlasts every request in flight.
func passScene() *scene {
	s := newScene(105, swap(50, 31, 41))
	s.version("v41", analysis.Old, 0, 41, 59.4, "web-1")
	s.version("v42", analysis.New, 31, 104.9, 105, "web-2")
	s.deploy(30, 62, 69.4, sample.Succeeded, "command", "command-started", "command-ended")
	s.a.Cutover = &analysis.Cutover{
		By: "version", Start: seconds(31), End: seconds(41), Overlap: seconds(10), FreshOverlap: ptr(seconds(9.99)),
		ShareNew: ptr(0.49), LastAccept: seconds(41), InCutover: 5012, Complete: true,
	}
	s.a.Stop = &analysis.Stop{End: seconds(59.4), Drain: analysis.Bounds{Lower: seconds(18.4)}}
	for at := 0.4; at < 104; at++ {
		switch role := slowRole(at, 31, 41); {
		case at+20 > 104:
			s.slow(at, 105, role, "unfinished")
		default:
			s.slow(at, at+20.01, role, "completed")
		}
	}
	s.a.Slow.InFlightAtLastAccept = ptr(13)
	s.a.Slow.OldCompleted = 13
	s.a.Slow.LongestOK = ptr(seconds(20.012))
	s.a.Requests.Reconnects = 20
	s.a.Before, s.a.During, s.a.After = latency(15000, 44.3, 60, 80, 120), latency(5012, 42.9, 61, 85, 140), latency(31000, 43.8, 60, 79, 118)
	s.a.Power = &analysis.Power{RequestsInCutover: 5012, MaxFailureRate95: ptr(0.000598), MinOutage: ptr(seconds(0.021))}
	s.v = verdict.Verdict{Verdict: verdict.Pass, Reasons: []verdict.Reason{{Code: "zero-drop", Message: "0 of 5,012 requests in the cutover failed: fewer than 0.06 % at 95 % confidence; an outage of 21 ms or longer would have been seen; 13 requests were in flight on old, all 13 were answered"}}}
	return s
}

// slowRole is who serves a slow request: during the cutover, every third one old.
func slowRole(at, from, to float64) string {
	switch {
	case at < from, at < to && int(at)%3 == 0:
		return analysis.Old
	}
	return analysis.New
}

// platformScene: an edge that drains for 15 s and then cuts what is left.
func platformScene() *scene {
	s := newScene(120, swap(70, 31, 41))
	s.version("v1", analysis.Old, 0, 41, 55.9, "web-5d9c7-x2kqp")
	s.version("v2", analysis.New, 31, 119.9, 120, "web-6f8b4-9hz7m")
	s.deploy(30, 52, 66, sample.Succeeded, "digitalocean", "PENDING_DEPLOY", "DEPLOYING", "DEPLOYING", "DEPLOYING", "ACTIVE")
	s.a.Target.Edge = "cloudflare"
	s.head.Config.ControlURL = "https://www.example.org/"
	s.a.Cutover = &analysis.Cutover{
		By: "version", Start: seconds(31), End: seconds(41), Overlap: seconds(10), FreshOverlap: ptr(seconds(9.99)),
		ShareNew: ptr(0.4917), LastAccept: seconds(41), InCutover: 18600, Complete: true,
	}
	s.a.Stop = &analysis.Stop{At: ptr(seconds(56)), End: seconds(56), Cut: []int64{60000, 60001},
		Drain: analysis.Bounds{Lower: seconds(15), Upper: ptr(seconds(15)), Exact: true}}
	s.a.Versions[0].Instances[0].Stop = ptr(seconds(56))
	for at := 0.4; at < 119; at++ {
		role := slowRole(at, 31, 41)
		switch {
		case role == analysis.Old && at+20.01 > 56:
			s.slow(at, 56, role, "cut")
			s.fail(analysis.Failure{
				Lane: "slow", Started: seconds(at), Ended: seconds(56), Class: "status", Status: ptr(504), Phase: "response",
				AnsweredBy: "edge", Connection: ptr(int64(812)), Version: "v1", Instance: "web-5d9c7-x2kqp",
				Attribution: analysis.ByDeploy, Reason: "cut-at-stop",
				Evidence: "in flight on v1 (web-5d9c7-x2kqp) for 17.6 s; ended with 1 other within 3 ms at 0:56.0, when old stopped",
			})
		case at+20 > 119:
			s.slow(at, 120, role, "unfinished")
		default:
			s.slow(at, at+20.01, role, "completed")
		}
	}
	s.fail(analysis.Failure{
		Lane: "kept", Started: seconds(97.3), Ended: seconds(97.303), Class: "status", Status: ptr(502), Phase: "response",
		AnsweredBy: "edge", Connection: ptr(int64(7)), Reused: true,
		Attribution: analysis.ByBackground, Reason: "outside-window",
		Evidence: "31.3 s after the deploy window ended; v1 was long gone",
	})
	s.a.Slow.InFlightAtLastAccept = ptr(13)
	s.a.Slow.OldCompleted = 11
	s.a.Slow.LongestOK = ptr(seconds(20.012))
	s.a.Requests.Reconnects = 4
	s.a.Requests.IdleRaceExpected = ptr(0.0)
	s.a.Before, s.a.During, s.a.After = latency(21000, 44.3, 60, 80, 120), latency(18600, 42.9, 58, 77, 131), latency(44900, 43.1, 59, 78, 122)
	s.a.Power = &analysis.Power{RequestsInCutover: 18600, MaxFailureRate95: ptr(0.00034), MinOutage: ptr(seconds(0.021))}
	s.a.Findings = []analysis.Finding{{
		Code: "drain-too-short", Severity: analysis.Error,
		Summary:  "old was stopped 15.0 s after its last new request, while requests were still running on it",
		Evidence: "2 of 13 requests in flight were cut at 0:56.0; the longest that was answered took 20.0 s",
		Cure:     "give old longer to finish: termination.drain_seconds: 60 in the app's spec (it is 15 now)",
	}}
	s.v = verdict.Verdict{Verdict: verdict.Fail, ExitCode: 1, Reasons: []verdict.Reason{{Code: "deploy-failures", Message: "the deploy cut 2 requests that were in flight when old stopped, 15.0 s after its last new request"}}}
	return s
}

// kubernetesScene: a rolling update of four pods that exit the instant they are told to.
func kubernetesScene() *scene {
	stops := []float64{33, 36.1, 39.4, 42.2}
	s := newScene(75, func(at float64) (int, int, int) {
		gone := 0
		for _, stop := range stops {
			if at >= stop-2 {
				gone++
			}
		}
		const rate = 40
		return rate * (4 - gone) / 4, rate * gone / 4, 0
	})
	s.version("1f3ab9c77d0e", analysis.Old, 0, 42.19, 42.2, "web-7d9f8b6c5d-4kq2x", "web-7d9f8b6c5d-8hw5z", "web-7d9f8b6c5d-m6v9p", "web-7d9f8b6c5d-t2n7c")
	s.version("9c0de5522a41", analysis.New, 31, 74.9, 75, "web-66b9c7f4f-2xk8r", "web-66b9c7f4f-6vd4q", "web-66b9c7f4f-hq7mz", "web-66b9c7f4f-z9w3t")
	s.deploy(30, 44, 54, sample.Succeeded, "command", "command-started", "command-ended")
	for i, stop := range stops {
		old, fresh := &s.a.Versions[0].Instances[i], &s.a.Versions[1].Instances[i]
		old.LastStart, old.LastEnd, old.Stop = seconds(stop-0.01), seconds(stop), ptr(seconds(stop))
		fresh.First = seconds(stop - 2)
		for n := range 12 + i%2 {
			s.fail(analysis.Failure{
				Lane: "kept", Started: seconds(stop - 0.004 + float64(n)/4000), Ended: seconds(stop + float64(n)/4000), Class: []string{"eof", "reset"}[n%2], Phase: "response",
				Error: "connection reset by peer", Connection: ptr(int64(n)), Reused: true, Version: "1f3ab9c77d0e", Instance: old.ID,
				Attribution: analysis.ByDeploy, Reason: "pinned-to-old",
				Evidence: fmt.Sprintf("on a connection to %s, which never answered again; 12 connections to it ended within 3 ms", old.ID),
			})
		}
	}
	s.fail(analysis.Failure{
		Lane: "fresh", Started: seconds(39.41), Ended: seconds(39.411), Class: "connect-refused", Phase: "connect", Error: "connection refused",
		Attribution: analysis.ByDeploy, Reason: "in-cutover",
		Evidence: "in the cutover, and nothing else in the run was ever refused: noise would put it here once in 214 runs",
	})
	s.a.Cutover = &analysis.Cutover{
		By: "version", Start: seconds(31), End: seconds(42.19), Overlap: seconds(11.19), FreshOverlap: ptr(seconds(11.1)),
		ShareNew: ptr(0.52), LastAccept: seconds(42.199), InCutover: 6100, Complete: true,
	}
	s.a.Stop = &analysis.Stop{At: ptr(seconds(42.2)), End: seconds(42.2), Drain: analysis.Bounds{Lower: seconds(0.001), Upper: ptr(seconds(0.001)), Exact: true}}
	s.a.Requests.IdleRace, s.a.Requests.IdleRaceExpected, s.a.Requests.Reconnects = 3, ptr(0.4), 51
	s.a.Before, s.a.During, s.a.After = latency(12000, 1.8, 4, 9, 21), latency(6100, 2.1, 6, 14, 40), latency(12500, 1.8, 4, 9, 19)
	s.a.Power = &analysis.Power{RequestsInCutover: 6100, MaxFailureRate95: ptr(0.0105), MinOutage: ptr(seconds(0.012))}
	s.a.Findings = []analysis.Finding{
		{Code: "not-graceful", Severity: analysis.Error, Summary: "the app exits the instant it is told to stop",
			Evidence: "50 requests on kept connections ended within 4 ms of the stop of the 4 instances", Cure: "on SIGTERM stop accepting, finish what is under way, then exit"},
		{Code: "no-prestop", Severity: analysis.Error, Summary: "traffic still arrived at an instance that was gone",
			Evidence: "1 new connection was refused at 0:39.4", Cure: "add a preStop delay, like lifecycle.preStop.sleep.seconds: 5, so that routing forgets the pod first"},
		{Code: "keepalive-not-closed", Severity: analysis.Warning, Summary: "no connection was told to close before its instance stopped",
			Evidence: "0 of 51 reconnects had been announced with Connection: close", Cure: "answer with Connection: close while draining"},
	}
	s.v = verdict.Verdict{Verdict: verdict.Fail, ExitCode: 1, Reasons: []verdict.Reason{{Code: "deploy-failures", Message: "the deploy dropped 51 requests: 50 on connections to 4 instances that were stopped, 1 refused"}}}
	return s
}

// gapScene: old is stopped, and for three seconds nobody answers.
func gapScene() *scene {
	s := newScene(60, func(at float64) (int, int, int) {
		switch {
		case at < 20:
			return 11, 0, 0
		case at < 23.2:
			return 0, 0, 0
		}
		return 0, 11, 0
	})
	s.version("v1", analysis.Old, 0, 19.99, 20, "a")
	s.version("v2", analysis.New, 23.2, 59.9, 60, "b")
	s.deploy(19, 25, 35, sample.Succeeded, "command", "command-started", "command-ended")
	for n := range 352 {
		at := 20.01 + float64(n)*3.18/352
		s.fail(analysis.Failure{
			Lane: []string{"kept", "fresh"}[n%10/9], Started: seconds(at), Ended: seconds(at + 0.001), Class: "connect-refused", Phase: "connect", Error: "connection refused",
			Attribution: analysis.ByDeploy, Reason: "no-version-answered",
			Evidence: "between the last answer of v1 at 0:20.0 and the first of v2 at 0:23.2 nobody answered",
		})
	}
	s.a.Cutover = &analysis.Cutover{By: "version", Start: seconds(23.2), End: seconds(19.99), Overlap: seconds(-3.21), Gap: true, GapProbes: 352, LastAccept: seconds(19.99), InCutover: 790, Complete: true}
	s.a.Stop = &analysis.Stop{End: seconds(20), Drain: analysis.Bounds{Lower: seconds(0.01)}}
	s.a.Before, s.a.After = latency(2090, 1.8, 4, 9, 21), latency(4000, 1.8, 4, 9, 19)
	s.a.Power = &analysis.Power{RequestsInCutover: 790, MaxFailureRate95: ptr(0.48), MinOutage: ptr(seconds(0.03))}
	s.a.Findings = []analysis.Finding{{Code: "gap", Severity: analysis.Error, Summary: "old was gone before new was there",
		Evidence: "for 3.2 s no version answered", Cure: "start new and wait until it is ready before old is stopped"}}
	s.v = verdict.Verdict{Verdict: verdict.Fail, ExitCode: 1, Reasons: []verdict.Reason{{Code: "deploy-failures", Message: "for 3.2 s no version answered: 352 requests failed"}}}
	return s
}

// noCutoverScene: a deploy that changed nothing.
func noCutoverScene() *scene {
	s := newScene(90, func(float64) (int, int, int) { return 11, 0, 0 })
	s.version("v1", analysis.Old, 0, 89.9, 90, "a")
	s.deploy(30, 41, 51, sample.Succeeded, "command", "command-started", "command-ended")
	s.a.Before = latency(9900, 1.8, 4, 9, 21)
	s.a.End = sample.EndCutoverTimeout
	s.a.Findings = []analysis.Finding{{Code: "no-change", Severity: analysis.Warning, Summary: "the deploy ended and v1 still answers",
		Evidence: "every one of 9,900 answers was v1's", Cure: "check that the deploy built new code: a reused build answers with the old version"}}
	s.v = verdict.Verdict{Verdict: verdict.Inconclusive, ExitCode: 3, Reasons: []verdict.Reason{{Code: "no-cutover", Message: "no cutover was seen: v1 answered from beginning to end, 49.0 s after the deploy's end too"}}}
	return s
}

// probeDiedScene: the record ends within the cutover.
func probeDiedScene() *scene {
	s := newScene(36.4, swap(11, 31, 99))
	s.version("v1", analysis.Old, 0, 36.3, 36.4)
	s.version("v2", analysis.New, 31, 36.3, 36.4)
	s.deploy(30, 41, 41, "", "command", "command-started", "command-ended")
	s.a.Deploy.Ended, s.a.Deploy.Window.To = nil, seconds(36.4)
	s.a.Deploy.Signals = s.a.Deploy.Signals[:1]
	s.a.End = ""
	s.a.Cutover = &analysis.Cutover{By: "version", Start: seconds(31), End: seconds(36.3), Overlap: seconds(5.3), LastAccept: seconds(36.3), InCutover: 800}
	s.a.Before = latency(3300, 1.8, 4, 9, 21)
	s.v = verdict.Verdict{Verdict: verdict.Inconclusive, ExitCode: 3, Reasons: []verdict.Reason{{Code: "probe-died", Message: "the record ends at 0:36.4 without its last line: the probe was killed before old's end"}}}
	return s
}

// undecidedScene: two failures early in the deploy window whose like was not seen before.
func undecidedScene() *scene {
	s := newScene(100, swap(11, 61, 63))
	s.version("2026-11-29", analysis.Old, 0, 63, 63.1, "a")
	s.version("2026-11-30", analysis.New, 61, 99.9, 100, "b")
	s.deploy(30, 65, 75, sample.Succeeded, "command", "command-started", "command-ended")
	for _, at := range []float64{38.2, 51.7} {
		s.fail(analysis.Failure{
			Lane: "kept", Started: seconds(at), Ended: seconds(at + 0.003), Class: "status", Status: ptr(502), Phase: "response", AnsweredBy: "edge",
			Connection: ptr(int64(3)), Reused: true, Attribution: analysis.Undecided, Reason: "undecided",
			Evidence: "in the deploy window, 9.3 s before the cutover; none like it in 30.0 s of baseline, where 1.5 would be expected: a baseline of 3m 00s would decide it",
		})
	}
	s.a.Cutover = &analysis.Cutover{By: "version", Start: seconds(61), End: seconds(63), Overlap: seconds(2), FreshOverlap: ptr(seconds(1.9)), ShareNew: ptr(0.5), LastAccept: seconds(63), InCutover: 670, Complete: true}
	s.a.Stop = &analysis.Stop{End: seconds(63.1), Drain: analysis.Bounds{Lower: seconds(0.1)}}
	s.a.Power = &analysis.Power{RequestsInCutover: 670, MaxFailureRate95: ptr(0.0045), MinOutage: ptr(seconds(0.09))}
	s.a.Before, s.a.During, s.a.After = latency(6700, 1.8, 4, 9, 21), latency(670, 1.8, 4, 9, 21), latency(4000, 1.8, 4, 9, 19)
	s.v = verdict.Verdict{Verdict: verdict.Inconclusive, ExitCode: 3, Reasons: []verdict.Reason{
		{Code: "undecided-failures", Message: "2 requests failed in the deploy window and it cannot be told whether the deploy did it"},
		{Code: "baseline-too-short", Message: "the baseline of 30.0 s is too short to know how often such a failure comes by itself"},
	}}
	return s
}

// shortEventScene: a cutover of a third of a second in twenty minutes, with
// failures outside the picture.
func shortEventScene() *scene {
	s := newScene(1200, swap(11, 630, 630.3))
	s.version("blue", analysis.Old, 0, 630.3, 631.9, "blue-1")
	s.version("green", analysis.New, 630, 1199.9, 1200, "green-1")
	s.deploy(30, 640, 650, sample.Succeeded, "digitalocean", "PENDING_BUILD", "BUILDING", "DEPLOYING", "ACTIVE")
	s.a.Cutover = &analysis.Cutover{By: "version", Start: seconds(630), End: seconds(630.3), Overlap: seconds(0.3), LastAccept: seconds(630.3), InCutover: 500, Complete: true}
	s.a.Stop = &analysis.Stop{End: seconds(631.9), Drain: analysis.Bounds{Lower: seconds(1.6), Upper: ptr(seconds(2.1))}}
	for _, at := range []float64{100, 700, 900} {
		s.fail(analysis.Failure{Lane: "fresh", Started: seconds(at), Ended: seconds(at + 10), Class: "timeout", Phase: "connect",
			Attribution: analysis.ByBackground, Reason: "background-rate", Evidence: "1 episode in the window, 2 outside it: the same rate"})
	}
	s.a.Before, s.a.During, s.a.After = latency(66000, 1.8, 4, 9, 21), latency(33, 1.8, 4, 9, 21), latency(60000, 1.8, 4, 9, 19)
	s.v = verdict.Verdict{Verdict: verdict.Pass, Reasons: []verdict.Reason{{Code: "zero-drop", Message: "0 of 500 requests in the cutover failed"}}}
	return s
}

// restartScene: the version stays, the instance changes.
func restartScene() *scene {
	s := newScene(60, swap(11, 31, 33))
	s.version("v7", analysis.Old, 0, 59.9, 60, "i-0a1", "i-0b2")
	v := &s.a.Versions[0]
	v.Instances[0].LastEnd = seconds(33.05)
	v.Instances[1].Role, v.Instances[1].First = analysis.New, seconds(31)
	s.a.Cutover = &analysis.Cutover{By: "instance", Start: seconds(31), End: seconds(33), Overlap: seconds(2), ShareNew: ptr(0.5), LastAccept: seconds(33), InCutover: 670, Complete: true}
	s.a.Stop = &analysis.Stop{End: seconds(33.05), Drain: analysis.Bounds{Lower: seconds(0.05)}}
	s.a.Deploy.Window = &analysis.Span{From: seconds(31), To: seconds(43.05)}
	s.v = verdict.Verdict{Verdict: verdict.Pass, Reasons: []verdict.Reason{{Code: "zero-drop", Message: "0 of 670 requests in the cutover failed"}}}
	return s
}

// noVersionScene: answers that name nobody, with the cutover by the deploy's marks.
func noVersionScene() *scene {
	s := newScene(60, func(float64) (int, int, int) { return 0, 0, 11 })
	s.a.Target.NoID = true
	s.deploy(20, 30, 40, sample.Succeeded, "command", "command-started", "command-ended")
	s.a.Cutover = &analysis.Cutover{By: "marks", Start: seconds(20), End: seconds(30), Overlap: seconds(10), LastAccept: seconds(30), InCutover: 1100}
	s.v = verdict.Verdict{Verdict: verdict.Pass, Reasons: []verdict.Reason{{Code: "zero-drop", Message: "0 of 1,100 requests in the deploy failed; versions were not looked at"}}}
	return s
}
