package markdown_test

import (
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
)

// Several deploys in one run are a table with a row each, which needs no analysis.
func TestSeriesIsATable(t *testing.T) {
	one := &report.Result{Schema: 1, StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "pass", Requests: report.Requests{Total: 1234, OK: 1234}}
	sum := report.Sum([]report.Part{{Name: "deploy 1", Result: one}, {Name: "deploy 2", Result: one}})
	sum.Control, sum.Runs = one, []*report.Result{one, one}
	for name, text := range map[string]string{
		"summary": markdown.Summary(markdown.Input{Result: sum}),
		"comment": markdown.Comment(markdown.Input{Result: sum}, "k", nil),
	} {
		for _, line := range []string{"| control | 1,234 | 0 |", "| deploy 1 | 1,234 | 0 | 0 |", "| deploy 2 | 1,234 | 0 | 0 |"} {
			if !strings.Contains(text, "\n"+line) {
				t.Errorf("%s: no line %q in\n%s", name, line, text)
			}
		}
	}
}

// What was merged is a row a part, and its failures are those that the parts hold.
func TestMergedResults(t *testing.T) {
	lost := recorded(t, "k01-refused-burst").Result
	fine := recorded(t, "k02-replaced-with-prestop").Result
	parts := []report.Part{{Name: "eu | <b>", Result: lost}, {Name: "us", Result: fine}}
	sum := report.Sum(parts)
	sum.Requests.Failed += 3 // as if there were more than a result holds
	previous := report.AsPast(fine)
	got := markdown.Comment(markdown.Input{Result: sum, Parts: parts}, key, &previous)
	for _, want := range []string{
		"### ❌ Cutwatch: the deploy dropped 6 requests\n", "\n| eu &#124; &#60;b&#62; | ", "\n| us | ",
		"<summary>9 failures, whose they are and why</summary>", "Of these, 6 are looked at here.", lost.Failures[0].ID,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "(in-cutover)**, ") || !strings.Contains(got, "(in-cutover)**: in the cutover") {
		t.Errorf("the failures' times on the sum's clock stand beside those of the evidence on the run's:\n%s", got)
	}
	if strings.Contains(got, "previous") || strings.Contains(got, "mermaid") {
		t.Errorf("a sum is compared, or drawn:\n%s", got)
	}
	if why := untrue(got); why != "" {
		t.Error(why)
	}
}
