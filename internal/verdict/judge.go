package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Exit codes of the commands that judge.
const (
	ExitPass         = 0
	ExitFail         = 1
	ExitBadInput     = 2
	ExitInconclusive = 3
	ExitDeployFailed = 4
	ExitFault        = 70
)

// Judge judges a run. A drop that was proven makes it fail, whatever else is
// unknown; a pass needs everything that it claims to have been seen.
func Judge(a *analysis.Analysis, head sample.Run) Verdict {
	j := judge{a: a, head: head}
	j.fails()
	failed := len(j.reasons) > 0
	j.doubts()
	v := Verdict{Verdict: Pass, Reasons: j.reasons}
	switch {
	case failed:
		v.Verdict, v.ExitCode = Fail, ExitFail
	case len(j.reasons) > 0:
		v.Verdict, v.ExitCode = Inconclusive, ExitInconclusive
		if head.Config.OnInconclusive == "warn" && !j.commandMissing() {
			v.ExitCode = ExitPass
		}
	default:
		v.Reasons = []Reason{j.earned()}
	}
	if a.Deploy.Outcome == sample.Failed {
		v.ExitCode = ExitDeployFailed
	}
	return v
}

type judge struct {
	a       *analysis.Analysis
	head    sample.Run
	reasons []Reason
}

func (j *judge) add(code, text string, args ...any) {
	j.reasons = append(j.reasons, Reason{code, fmt.Sprintf(text, args...)})
}

// commandMissing tells whether a deploy was asked for that never began.
func (j *judge) commandMissing() bool { return j.head.Deploy != "" && j.a.Deploy.Started == nil }

// fails collects what is proven against the deploy.
func (j *judge) fails() {
	a, c := j.a, j.head.Config
	if counted := j.counted(); counted > c.MaxDeployFailures {
		j.add("deploy-failures", "%s", j.lost(counted))
	}
	if limit := time.Duration(c.DrainWindow); limit > 0 && a.Stop != nil {
		if lived := a.Stop.End - a.Cutover.LastAccept; lived > limit+j.slack() {
			j.add("drain-window-exceeded", "a request in flight on old ended %s after old's last new request, over the drain window of %s", format.Duration(lived), format.Duration(limit))
		}
	}
	if c.ExpectVersion != "" && len(a.AtEnd) > 0 && !slices.Contains(a.AtEnd, c.ExpectVersion) {
		j.add("wrong-version", "%s answered at the end, not the expected %s", names(a.AtEnd), format.Name(c.ExpectVersion, 60))
	}
	if c.SilentRetry == "fail" && a.Slow.ReExecuted > 0 {
		j.add("silent-retry", "%s executed twice: a proxy repeated what old had lost", format.Plural(a.Slow.ReExecuted, "request was", "requests were"))
	}
}

// counted is how many of the deploy's failures are held against its limit.
func (j *judge) counted() int {
	if j.head.Config.IdleRace == "warn" {
		return j.a.Requests.Deploy - j.a.Requests.DeployIdleRace
	}
	return j.a.Requests.Deploy
}

// slack is how exactly moments can be told.
func (j *judge) slack() time.Duration {
	return max(50*time.Millisecond, 3*j.a.Prober.LateMax)
}

// lost says what the deploy did, in the shape that most of it had.
func (j *judge) lost(n int) string {
	a := j.a
	cut, slowCut := 0, a.Slow.Cut
	for _, f := range a.Failures {
		if f.Attribution == analysis.ByDeploy && f.Reason == analysis.ReasonCutAtStop {
			cut++
		}
	}
	if a.Cutover != nil && a.Cutover.Gap {
		return fmt.Sprintf("the deploy lost %s: nothing answered for %s between old and new", format.Plural(n, "request", "requests"), format.Duration(-a.Cutover.Overlap))
	}
	drained := ""
	if a.Stop != nil && a.Stop.Drain.Exact {
		drained = fmt.Sprintf(", %s after its last new request", format.Duration(a.Stop.Drain.Lower))
	}
	if cut == n && cut == slowCut {
		return fmt.Sprintf("the deploy cut %s in flight when old stopped%s", format.Plural(n, "request that was", "requests that were"), drained)
	}
	if slowCut > 0 {
		return fmt.Sprintf("the deploy lost %s, %s of them cut in flight when old stopped", format.Plural(n, "request", "requests"), format.Count(cut))
	}
	return fmt.Sprintf("the deploy lost %s of %s", format.Plural(n, "request", "requests"), format.Count(a.Requests.Total))
}

func names(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = format.Name(id, 60)
	}
	return strings.Join(out, " and ")
}

// troubleLate is the lateness in the deploy window from which a drop could
// have hidden behind the prober's own sleep.
const troubleLate = 500 * time.Millisecond

// minBaseline is the least that a baseline must be to say what is normal.
const (
	minBaselineTime     = 3 * time.Second
	minBaselineRequests = 100
)

// doubts collects why the run could not have earned a pass. The order is that
// of how much each explains: the first is shown.
func (j *judge) doubts() {
	a := j.a
	switch {
	case a.End == "":
		j.add("probe-died", "the probe ended without closing its record, so what came after %s is unknown", format.At(a.Duration))
	case a.End == sample.EndRecording:
		j.add("prober-trouble", "the samples could not be written any more after %s: %s", format.At(a.Duration), format.Quote(a.EndNote, 200))
	case a.End == sample.EndMaxDuration && a.Deploy.Started != nil && (a.Deploy.Ended == nil || a.Deploy.Outcome == sample.TimedOut):
		j.add("deploy-timeout", "the deploy had not ended when max-duration (%s) was over: raise it, or see why the deploy hangs", format.Duration(time.Duration(j.head.Config.MaxDuration)))
	case a.End == sample.EndSignal && j.head.Deploy != "" && a.Deploy.Started != nil && a.Deploy.Outcome == sample.Unknown:
		j.add("deploy-timeout", "the run was told to stop before the deploy had ended, so what became of the deploy is unknown")
	case j.cutShort() > 0:
		j.add("interrupted", "%s at %s, %s before the deploy window's end, so what was lost after it is unknown", endText(a.End), format.At(a.Probed), format.Duration(j.cutShort()))
	case a.End == sample.EndDeployTimeout, a.Deploy.Outcome == sample.TimedOut:
		j.add("deploy-timeout", "the deploy did not end within %s: raise deploy-timeout, or see why it hangs", format.Duration(time.Duration(j.head.Config.DeployTimeout)))
	}
	if a.Deploy.Outcome == sample.Failed {
		j.add("deploy-failed", "the deploy itself failed: %s", format.Clean(orUnknown(a.Deploy.Message), 200))
	}
	j.baselineDoubts()
	j.cutoverDoubts()
	j.measuringDoubts()
}

// soonEnough is how long before the deploy window's end the last request may
// have been sent in a run that was ended from outside.
const soonEnough = time.Second

// cutShort is how much of the deploy window was not probed because the run was
// told to stop, or had no more time; 0: none worth the name.
func (j *judge) cutShort() time.Duration {
	a := j.a
	if a.End != sample.EndSignal && a.End != sample.EndMaxDuration || a.Deploy.Window == nil {
		return 0
	}
	if c := a.Cutover; c == nil || !c.Complete && c.By != "marks" {
		return 0 // that says more
	}
	if missing := a.Deploy.Window.To - a.Probed; missing > soonEnough {
		return missing
	}
	return 0
}

func orUnknown(s string) string {
	if s == "" {
		return "it did not say why"
	}
	return s
}

func (j *judge) baselineDoubts() {
	a := j.a
	if j.head.Config.AllowNoBaseline {
		return
	}
	switch {
	case a.BaselineOK == 0 && (a.Baseline != nil || a.End == sample.EndNoAnswer):
		note := "nothing good was answered before the deploy"
		if a.EndNote != "" && a.End == sample.EndNoAnswer {
			note = a.EndNote
		}
		j.add("no-baseline", "%s", note)
	case a.Baseline == nil:
		if a.End != "" {
			j.add("baseline-too-short", "the run ended before its baseline was in")
		}
	case a.Baseline.To < minBaselineTime || a.BaselineRequests < minBaselineRequests:
		j.add("baseline-too-short", "a baseline of %s with %s does not tell what is normal: make it %s and %s at least",
			format.Duration(a.Baseline.To), format.Plural(a.BaselineRequests, "request", "requests"), format.Duration(minBaselineTime), format.Plural(minBaselineRequests, "request", "requests"))
	}
}

func (j *judge) cutoverDoubts() {
	a, c := j.a, j.a.Cutover
	if a.BaselineOK == 0 && !j.head.Config.AllowNoBaseline {
		return
	}
	switch {
	case j.noneCame() && (c == nil || c.By == "marks"):
		j.add("no-cutover", "no deployment appeared within deploy-timeout (%s), and no new version or instance answered: %s", format.Duration(time.Duration(j.head.Config.DeployTimeout)), j.whatToDo())
	case a.Target.Unstable > 0:
		j.add("no-version", "the answers before the deploy named %s different versions, as if each request had its own: set version-from (%s) to what names the build", format.Count(a.Target.Unstable), j.head.Config.VersionFrom)
	case c == nil && j.firstDeploy():
	case c == nil && a.Target.NoID && j.head.Config.VersionFrom.Kind != "none":
		j.add("no-version", "no answer named a version (%s): set version-from to where it is, or to none to judge without", j.head.Config.VersionFrom)
	case c == nil && a.Baseline != nil && a.Deploy.Outcome != sample.Failed:
		j.add("no-cutover", "no new version or instance answered before the run ended (%s)%s", endText(a.End), j.noDeployment())
	case c == nil || c.By == "marks":
	case c.RolledBack:
		j.add("rolled-back", "new answered from %s on, and at the end only old did", format.At(c.Start))
	case !c.Complete:
		j.add("no-cutover", "the cutover was not over when the run ended (%s): old still answered", endText(a.End))
	}
	if c == nil || c.By == "marks" {
		return
	}
	if c.InCutover == 0 {
		j.add("no-samples", "no request was sent in the cutover: raise rate")
	}
	if n := a.Slow.InFlightAtLastAccept; j.head.Config.SlowURL != "" && c.Complete && (n == nil || *n == 0) {
		j.add("nothing-in-flight", "no slow request was in flight on old at its last accept, so its drain was not tested: lower slow-interval or raise slow-seconds")
	}
}

// noDeployment says that the platform that was followed showed no deployment.
func (j *judge) noDeployment() string {
	if p := j.a.Platform; p == nil || p.DeploymentID != "" {
		return ""
	}
	return "; the platform showed no new deployment either: " + j.whatToDo()
}

// noneCame tells whether the deploy's end is that no deployment came.
func (j *judge) noneCame() bool {
	return j.a.Deploy.Outcome == sample.Unknown && slices.ContainsFunc(j.a.Deploy.Signals, func(g analysis.Signal) bool { return g.Name == sample.NoDeployment })
}

// whatToDo is the cure where the platform that is followed showed no deployment.
func (j *judge) whatToDo() string {
	if p := j.a.Platform; p != nil && p.Kind == config.PlatformGitHub {
		return "begin the run before the deploy, and see that GitHub is told of it, for this commit and for the environment in app"
	}
	return "begin the run before the deploy, or give a trigger"
}

// firstDeploy tells whether, as was allowed, nothing answered before the deploy
// and something did after it: then there was no old version to cut over from.
func (j *judge) firstDeploy() bool {
	return j.head.Config.AllowNoBaseline && j.a.BaselineOK == 0 && len(j.a.AtEnd) > 0 && j.a.Deploy.Outcome != sample.Failed
}

func endText(end string) string {
	switch end {
	case sample.EndSignal:
		return "it was told to stop"
	case sample.EndMaxDuration:
		return "max-duration was over"
	case sample.EndCutoverTimeout:
		return "cutover-timeout was over"
	case sample.EndDeployTimeout:
		return "deploy-timeout was over"
	case "":
		return "the probe died"
	}
	return "the deploy was over"
}

func (j *judge) measuringDoubts() {
	a := j.a
	r := a.Requests
	if r.Undecided > 0 {
		j.add("undecided-failures", "%s may or may not be the deploy's: a longer baseline or a history of earlier runs would tell", format.Plural(r.Undecided, "failure", "failures"))
	}
	p := a.Prober
	if a.Cutover != nil && (p.WorstInWindow >= troubleLate || p.SkippedInWindow > 0) {
		j.add("prober-trouble", "the prober woke up to %s late and could not send %s in time: give the runner more CPU or lower rate", format.Duration(p.WorstInWindow), format.Plural(p.SkippedInWindow, "request", "requests"))
	} else if j.inWindow(analysis.ByProber, "") > 0 {
		j.add("prober-trouble", "%s in the deploy window were the prober's own, so the service was not seen then", format.Plural(j.inWindow(analysis.ByProber, ""), "failure", "failures"))
	}
	if n := j.inWindow(analysis.ByConfig, analysis.ReasonBlocked); n > 0 {
		j.add("blocked", "%s in the deploy window were refused to the probe, so the service was not seen: let it in, or lower rate", format.Plural(n, "request", "requests"))
	}
	if a.Unnamed > 0 && j.head.Config.ExpectBody.Text == "" {
		j.add("no-version", "%s in the deploy window named no version, though all did before: something else may have answered; set expect-body to tell", format.Plural(a.Unnamed, "good answer", "good answers"))
	}
	if n := j.inWindow(analysis.ByConfig, analysis.ReasonNeverWorked); n > 0 && a.BaselineOK > 0 {
		j.add("no-baseline", "%s asked for what never worked, before the deploy either: check slow-url, expect-status and expect-body", format.Plural(n, "request", "requests"))
	}
	if a.CacheHits*2 > r.Total && r.Total > 0 {
		j.add("cached", "%s of %s came out of a cache: probe a path that is not cached", format.Count(a.CacheHits), format.Plural(r.Total, "request", "requests"))
	}
}

// inWindow counts failures of an owner (and reason, unless "") in the deploy window.
func (j *judge) inWindow(owner, reason string) int {
	n := 0
	for _, f := range j.a.Failures {
		if f.Attribution == owner && (reason == "" || f.Reason == reason) && (j.a.Deploy.Window == nil || (f.Ended >= j.a.Deploy.Window.From && f.Started <= j.a.Deploy.Window.To)) {
			n++
		}
	}
	return n
}

// earned is the reason of a pass. A deploy that lost requests, as few as was
// allowed, did not drop zero.
func (j *judge) earned() Reason {
	lost := j.a.Requests.Deploy
	if lost == 0 {
		return Reason{ZeroDrop, j.worth()}
	}
	var let []string
	if n := j.counted(); n > 0 {
		let = append(let, fmt.Sprintf("up to %s let pass (max-deploy-failures)", format.Plural(j.head.Config.MaxDeployFailures, "is", "are")))
	}
	if races := lost - j.counted(); races > 0 {
		let = append(let, fmt.Sprintf("%s only warned of (idle-race)", format.Plural(races, "idle race is", "idle races are")))
	}
	return Reason{WithinLimit, fmt.Sprintf("%s, and %s; %s", j.lost(lost), strings.Join(let, " and "), j.worth())}
}

// worth is the sentence of a pass: what it was earned with.
func (j *judge) worth() string {
	a := j.a
	if a.Cutover == nil && j.firstDeploy() {
		first := a.Versions[len(a.Versions)-1]
		return fmt.Sprintf("a first deploy: nothing answered before it, %s did from %s on, and %s were the deploy's",
			format.Name(first.ID, 60), format.At(first.First), format.Plural(a.Requests.Deploy, "failure", "failures"))
	}
	if a.Power == nil || a.Power.MaxFailureRate95 == nil || a.Power.MinOutage == nil {
		return fmt.Sprintf("%s of %s failed by the deploy; versions were not seen", format.Count(a.Requests.Deploy), format.Plural(a.Requests.Total, "request", "requests"))
	}
	failed := "failed"
	if a.Power.Failed > a.Requests.Deploy {
		failed = "failed, " + deploys(a.Requests.Deploy)
	}
	out := fmt.Sprintf("%s of %s in the cutover %s: fewer than %s at 95 %% confidence; an outage of %s or longer would have been seen",
		format.Count(a.Power.Failed), format.Plural(a.Power.RequestsInCutover, "request", "requests"), failed, format.PercentUp(*a.Power.MaxFailureRate95), format.Duration(*a.Power.MinOutage))
	if a.Cutover.By == "marks" {
		out += "; answers were not asked for their version, so the cutover is taken from the deploy's own marks"
	}
	if n := a.Slow.InFlightAtLastAccept; n != nil && *n > 0 {
		out += fmt.Sprintf("; %s in flight on old, %s answered", format.Plural(*n, "request was", "requests were"), all(a.Slow.OldCompleted, *n))
	}
	if a.Requests.Background > 0 {
		out += fmt.Sprintf("; %s the background's", format.Plural(a.Requests.Background, "failure in the whole run was", "failures in the whole run were"))
	}
	return out
}

// deploys says how many of the failures were the deploy's.
func deploys(n int) string {
	if n == 0 {
		return "none by the deploy"
	}
	return format.Count(n) + " by the deploy"
}

func all(n, of int) string {
	if n == of {
		return "all " + format.Plural(of, "was", "were")
	}
	return format.Plural(n, "was", "were")
}
