package host

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/host/actions"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Outputs lists the names of the action's outputs.
func Outputs() []string {
	return []string{
		"verdict", "reason", "requests", "deploy-failures", "background-failures",
		"overlap-ms", "drain-ms", "old-version", "new-version",
		"p50-before-ms", "p50-during-ms", "p99-before-ms", "p99-during-ms", "result-path", "report-path",
		"comment-url", "deployment-id",
	}
}

// Values are the outputs of a judged run, but for those of its files. Text of the
// service is in none of them but the two versions, which are escaped.
func Values(o *run.Outcome) map[string]string {
	r := o.Result
	out := map[string]string{
		"verdict":             r.Verdict,
		"requests":            strconv.Itoa(r.Requests.Total),
		"deploy-failures":     strconv.Itoa(r.Requests.Deploy),
		"background-failures": strconv.Itoa(r.Requests.Background),
		"old-version":         actions.IDs(versionsOf(r, "old")),
		"new-version":         actions.IDs(versionsOf(r, "new")),
	}
	if r.Platform != nil && r.Platform.DeploymentID != nil {
		out["deployment-id"] = actions.Line(*r.Platform.DeploymentID)
	}
	if len(r.Reasons) > 0 {
		out["reason"] = r.Reasons[0].Code
	}
	if c := r.Cutover; c != nil {
		out["overlap-ms"] = actions.Millis(c.OverlapMS)
		if c.Drain != nil {
			out["drain-ms"] = actions.Millis(&c.Drain.Lower)
		}
	}
	if l := r.Latency.Before; l != nil {
		out["p50-before-ms"], out["p99-before-ms"] = actions.Millis(&l.P50), actions.Millis(&l.P99)
	}
	if l := r.Latency.During; l != nil {
		out["p50-during-ms"], out["p99-during-ms"] = actions.Millis(&l.P50), actions.Millis(&l.P99)
	}
	return out
}

// Paths are the outputs that name the files of a report folder, which users know
// as shown. A file that is not there has none.
func Paths(dir, shown string) map[string]string {
	out := map[string]string{}
	for name, file := range map[string]string{"result-path": run.ResultFile, "report-path": run.HTMLFile} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			out[name] = actions.Line(path.Join(shown, file))
		}
	}
	return out
}

func versionsOf(r *report.Result, role string) []string {
	var out []string
	for _, v := range r.Versions {
		if v.Role == role {
			out = append(out, v.ID)
		}
	}
	return out
}

// SkippedValues are the outputs where no deploy ran.
func SkippedValues() map[string]string {
	return map[string]string{"verdict": "skipped", "reason": "no-deploy"}
}

// LostValues are the outputs where a probe was lost with all that it recorded.
func LostValues() map[string]string {
	return map[string]string{"verdict": verdict.Inconclusive, "reason": "probe-died"}
}

// SetOutputs sets all outputs; those without a value are empty.
func SetOutputs(r *actions.Runner, values map[string]string) error {
	for _, name := range Outputs() {
		if err := r.Output(name, values[name]); err != nil {
			return err // the others go to the same file
		}
	}
	return nil
}

// Headline is the verdict in one sentence.
func Headline(o *run.Outcome) string {
	out := strings.ToUpper(o.Verdict.Verdict)
	if len(o.Verdict.Reasons) == 0 {
		return out
	}
	out += ": " + o.Verdict.Reasons[0].Message
	if more := len(o.Verdict.Reasons) - 1; more > 0 {
		out += fmt.Sprintf(" (and %s)", format.Plural(more, "more reason", "more reasons"))
	}
	return out
}

// Annotate leaves one annotation with the verdict.
func Annotate(r *actions.Runner, o *run.Outcome) {
	level := actions.Error
	switch {
	case o.Verdict.ExitCode == 0 && o.Verdict.Verdict == verdict.Pass:
		level = actions.Notice
	case o.Verdict.ExitCode == 0:
		level = actions.Warning
	}
	title := "Cutwatch"
	if id := o.Head.Config.ID; id != "" {
		title += " (" + id + ")"
	}
	r.Annotate(level, title, Headline(o))
}
