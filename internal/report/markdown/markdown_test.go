package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestGoldens(t *testing.T) {
	for _, name := range shown {
		t.Run(name, func(t *testing.T) {
			in := recorded(t, name)
			golden(t, name+".comment.md", markdown.Comment(in, key, nil))
			golden(t, name+".summary.md", markdown.Summary(in))
			golden(t, name+".mmd", markdown.Gantt(in.Analysis))
		})
	}
}

// The change against the previous deploy, out of its comment or the run's history.
func TestAgainstThePreviousDeploy(t *testing.T) {
	in := recorded(t, "restart-with-drops")
	previous := report.AsPast(recorded(t, "restart").Result)
	golden(t, "previous.comment.md", markdown.Comment(in, key, &previous))

	in.Head.History = &sample.History{Runs: 2, Deploys: []sample.PastRun{
		{StartedAt: "2026-11-29T12:00:00.000Z", Verdict: "inconclusive", Requests: 400, Failed: 2}, previous,
	}}
	golden(t, "history.summary.md", markdown.Summary(in))
	if got, want := markdown.Comment(in, key, nil), markdown.Comment(in, key, &previous); got != want {
		t.Error("without a comment the last deploy of the history is not the one that is compared with")
	}

	itself := report.AsPast(in.Result)
	if got := markdown.Comment(in, key, &itself); strings.Contains(got, "the previous one") {
		t.Errorf("a run is compared with itself:\n%s", got)
	}
}

// swell makes a run of n failures in as many kinds as their reasons, each with
// long texts.
func swell(t *testing.T, n, kinds int, text string) markdown.Input {
	t.Helper()
	in := recorded(t, "restart-with-drops")
	in.Analysis.Failures, in.Result.Failures = nil, nil
	for i := range n {
		f := analysis.Failure{
			ID: sample.RequestID("1a2b3c", int64(i)), Lane: "kept", Class: "eof", Attribution: analysis.ByDeploy,
			Reason: fmt.Sprintf("in-cutover-%d", i%kinds), Evidence: text, Error: text, Started: 1000, Ended: 2000,
		}
		in.Analysis.Failures = append(in.Analysis.Failures, f)
		if i < 1000 {
			in.Result.Failures = append(in.Result.Failures, report.Failure{
				ID: f.ID, Lane: f.Lane, Class: f.Class, Attribution: f.Attribution, Reason: f.Reason, Evidence: text, Error: text, Version: &text,
			})
		}
	}
	in.Result.Requests.Failed, in.Result.Requests.Deploy = n, n
	in.Result.Reasons = slices.Repeat([]report.Reason{{Code: "deploy-failures", Message: text}}, 30)
	in.Result.Diagnosis = slices.Repeat([]report.Finding{{Code: "gap", Severity: "error", Summary: text, Evidence: text, Cure: text}}, 60)
	return in
}

// A report that is too long tells less and less, and says so; it is whole in
// every step.
func TestSteps(t *testing.T) {
	const notice, kinds, cure = "Shortened", "whose they are and why", "Cure:"
	words := strings.Repeat("the deploy lost @it | ", 500)
	for _, tt := range []struct {
		name          string
		in            markdown.Input
		has, lacks    []string
		summaryHasAll bool
	}{
		{"small", recorded(t, "restart-with-drops"), []string{kinds, cure, "mermaid"}, []string{notice}, true},
		{"many failures", swell(t, 5000, 10, "short"), []string{kinds, cure, "and 480 more"}, []string{notice}, true},
		{"fewer failures", swell(t, 5000, 20, words[:1000]), []string{kinds, notice, cure, "further kinds"}, nil, true},
		{"no failures", swell(t, 5000, 100, strings.Repeat("@xx", 400)), []string{notice, cure, "mermaid", "further findings"}, []string{kinds}, false},
		{"the least", swell(t, 3000, 300, strings.Repeat("@", 10_000)), []string{notice}, []string{kinds, cure, "mermaid"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			comment, summary := markdown.Comment(tt.in, key, nil), markdown.Summary(tt.in)
			if len(comment) > markdown.MaxComment || len(summary) > markdown.MaxSummary {
				t.Errorf("a comment of %d bytes and a summary of %d", len(comment), len(summary))
			}
			for _, want := range tt.has {
				if !strings.Contains(comment, want) {
					t.Errorf("%q is not in the comment of %d bytes", want, len(comment))
				}
			}
			for _, absent := range tt.lacks {
				if strings.Contains(comment, absent) {
					t.Errorf("%q is in the comment of %d bytes", absent, len(comment))
				}
			}
			if tt.summaryHasAll && (!strings.Contains(summary, kinds) || strings.Contains(summary, notice)) {
				t.Errorf("the summary of %d bytes is not whole", len(summary))
			}
			if why := untrue(comment); why != "" {
				t.Error(why)
			}
			if len(summary) < 200_000 { // reading a longer one takes long, and its blocks are the same
				if why := untrue(summary); why != "" {
					t.Error(why)
				}
			}
			t.Logf("comment %d bytes, summary %d bytes", len(comment), len(summary))
		})
	}
}

// An outcome of which next to nothing is known is told without inventing any.
func TestNothing(t *testing.T) {
	in := markdown.Input{Result: &report.Result{Verdict: "inconclusive"}}
	for _, got := range []string{markdown.Comment(in, key, nil), markdown.Summary(in)} {
		for _, absent := range []string{"0 ms", "mermaid", "whose they are", "What to change", "in flight", "versions", "previous", "What was measured"} {
			if strings.Contains(got, absent) {
				t.Errorf("%q is in\n%s", absent, got)
			}
		}
		if !strings.Contains(got, "### ⚠️ Cutwatch: this run cannot tell") || !strings.Contains(got, "| overlap | – |") {
			t.Errorf("the verdict, or that no overlap was seen, is missing in\n%s", got)
		}
		if why := untrue(got); why != "" {
			t.Error(why)
		}
	}
}

func TestHeading(t *testing.T) {
	for _, tt := range []struct {
		verdict string
		deploy  int
		want    string
	}{
		{"pass", 0, "### ✅ Cutwatch (web): the deploy dropped no request\n"},
		{"pass", 1, "### ✅ Cutwatch (web): the deploy dropped 1 request, no more than is let pass\n"},
		{"fail", 1000, "### ❌ Cutwatch (web): the deploy dropped 1,000 requests\n"},
		{"fail", 0, "### ❌ Cutwatch (web): the deploy did not hold what was promised\n"},
		{"inconclusive", 0, "### ⚠️ Cutwatch (web): this run cannot tell whether the deploy dropped requests\n"},
	} {
		in := markdown.Input{Result: &report.Result{Verdict: tt.verdict, Requests: report.Requests{Deploy: tt.deploy}}}
		in.Head.Config.ID = "web"
		if got := markdown.Summary(in); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s with %d: got %q, want %q", tt.verdict, tt.deploy, got[:min(len(got), 100)], tt.want)
		}
	}
}
