package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Steps is how the verdict came about, each step resting on those before it. A
// step that has nothing to say is not there.
func Steps(head sample.Run, a *analysis.Analysis, v verdict.Verdict) []Fact {
	return told([]Fact{
		{"The baseline", baselineText(a)},
		{"Who answered", answeredText(head, a)},
		{"The cutover", sentences(cutoverText(a), prefixed("gap: ", gapText(a.Cutover)), prefixed("overlap: ", overlapText(a.Cutover)))},
		{"Old's end", sentences(prefixed("drain: ", drainLine(a)), prefixed("requests held open: ", slowText(a.Slow)))},
		{"The deploy window", windowText(head, a)},
		{"The failures", sentences(failuresTexts(a)...)},
		{"The prober", proberText(head, a)},
		{"What could not have been missed", powerText(a.Power)},
		{"So the verdict", verdictText(v)},
	})
}

// sentences are those that say something, one behind the other.
func sentences(texts ...string) string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, ". ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func baselineText(a *analysis.Analysis) string {
	if a.Baseline == nil {
		return "it was never in: there is nothing to compare with"
	}
	text := fmt.Sprintf("for %s before the deploy %s began", format.Duration(a.Baseline.To-a.Baseline.From),
		format.Plural(a.BaselineRequests, "request", "requests"))
	switch a.BaselineOK {
	case 0:
		return text + ", and none was answered well"
	case a.BaselineRequests:
		return text + ", and all were answered well"
	}
	return text + ", and " + format.Count(a.BaselineOK) + " were answered well"
}

// answeredText is how versions were told, and which side each is on.
func answeredText(head sample.Run, a *analysis.Analysis) string {
	const most = 6
	if a.Target.NoID {
		return "no answer said which version gave it"
	}
	var out []string
	for _, v := range a.Versions[:min(most, len(a.Versions))] {
		out = append(out, fmt.Sprintf("%s (%s) from %s to %s", format.Name(v.ID, 40), v.Role, format.At(v.First), format.At(v.LastEnd)))
	}
	if more := len(a.Versions) - most; more > 0 {
		out = append(out, format.Count(more)+" more")
	}
	if len(out) == 0 {
		return ""
	}
	text := strings.Join(out, ", ")
	if !head.Config.VersionFrom.None() {
		text += ", as told by " + format.Clean(head.Config.VersionFrom.String(), 80)
	}
	return text
}

func windowText(head sample.Run, a *analysis.Analysis) string {
	w := a.Deploy.Window
	if w == nil {
		return "no sign of a deploy was seen, so that no failure can be its"
	}
	text := fmt.Sprintf("from %s to %s: from the deploy's first sign to old's end, or the deploy's where no cutover was seen, and %s to settle; save an outage that begins later, only a failure in it can be the deploy's",
		format.At(w.From), format.At(w.To), format.Duration(time.Duration(head.Config.Settle)))
	if i := a.Deploy.Interval; i != nil {
		text += fmt.Sprintf(". The cutover interval within it is %s to %s", format.At(i.From), format.At(i.To))
	}
	return text
}

// failuresTexts is whose they are, and the largest kinds of them.
func failuresTexts(a *analysis.Analysis) []string {
	const most = 6
	out := []string{failedText(a.Requests)}
	groups := groupFailures(a.Failures)
	for _, g := range groups[:min(most, len(groups))] {
		out = append(out, format.Count(len(g.failures))+" × "+g.title()+", "+g.when())
	}
	if more := len(groups) - most; more > 0 {
		out = append(out, "and "+format.Plural(more, "further kind", "further kinds"))
	}
	return out
}

func verdictText(v verdict.Verdict) string {
	var out []string
	for _, r := range v.Reasons {
		out = append(out, format.Clean(r.Message, maxPara))
	}
	return strings.ToUpper(v.Verdict) + ": " + sentences(out...)
}
