package markdown_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// hostile is what a service could say to become more than text.
var hostile = []string{
	"v1", "", " ", "a|b", "`", "```", "a`b``c", "<script>alert(1)</script>", "<!-- x", "-->", "</details>", "<details>", "@team", "a@b.com",
	"#1", "owner/repo#1", "GH-1", "::error::x", "##[error]x", "a\nb", "a\n\n# b", "\n| a | b |\n| - | - |\n| c | d |", "\u202eevil\u2066",
	"e\u0301\u200d", "\xff\xfe\x00", strings.Repeat("x|`@", 2500), "https://evil.example/", "www.evil.example", "//evil", "[a](http://b)", "![a](b)",
	"**b**", "__b__", "~~b~~", "- a", "+ a", "1. a", "1) a", "> a", "# a", "===", "---", "    code", "\tcode", "&#64;team", "&lt;b&gt;", "\\", "a\\|b", "\\`",
	":tada:", "$x$", "[^1]", "[ ]", "%%", "%%{init: {}}%%", "a: b", "click a href \"b\"", "section x", "title x", "2000-01-01", "mailto:a@b.c", "xmpp:a@b.c/d",
	"end", "a;b", "a#b", "東京", "15.0 s", "v1.", "v1 -", "_v1_", "*", "***", "\u2028x", "ftp://evil.example", "12:34:56", "A:b:c",
}

// seed adds them, alone and within other text.
func seed(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
		f.Add("x " + s + " y")
		f.Add("x" + s + "y")
	}
}

// healthy is a run with failures of two owners, several instances and findings.
func healthy(t testing.TB) markdown.Input {
	in := recorded(t, "k30-burst-above-noise")
	restart := recorded(t, "restart-with-drops")
	in.Analysis.Findings, in.Result.Diagnosis = restart.Analysis.Findings, restart.Result.Diagnosis
	return in
}

// copied is a run that can be written to.
func copied(in markdown.Input) markdown.Input {
	a, r := *in.Analysis, *in.Result
	a.Versions = slices.Clone(a.Versions)
	for i := range a.Versions {
		a.Versions[i].Instances = slices.Clone(a.Versions[i].Instances)
	}
	a.Deploy.Signals, a.Failures, a.Findings = slices.Clone(a.Deploy.Signals), slices.Clone(a.Failures), slices.Clone(a.Findings)
	r.Failures, r.Diagnosis = slices.Clone(r.Failures), slices.Clone(r.Diagnosis)
	in.Analysis, in.Result = &a, &r
	return in
}

// infected is the run with text in place of everything that comes from outside.
func infected(in markdown.Input, text string) markdown.Input {
	in = copied(in)
	in.Head.Config.ID, in.Head.Config.URL, in.Result.Target.URL, in.Report = text, text, text, "dir/"+text
	in.Head.History = &sample.History{Deploys: []sample.PastRun{{StartedAt: text, Verdict: text}}}
	a, r := in.Analysis, in.Result
	a.Target.Protocol, a.Target.Edge, a.End, a.Deploy.Message = text, text, text, text
	for i := range a.Versions {
		a.Versions[i].ID = text
		for j := range a.Versions[i].Instances {
			a.Versions[i].Instances[j].ID = text
		}
	}
	for i := range a.Deploy.Signals {
		s := &a.Deploy.Signals[i]
		s.Name, s.Source, s.Message = text, text, text
	}
	for i := range a.Failures {
		f := &a.Failures[i]
		f.ID, f.Error, f.Evidence, f.Version, f.Instance, f.Lane, f.Phase, f.Class, f.Reason = text, text, text, text, text, text, text, text, text
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		f.ID, f.Error, f.Evidence, f.Version, f.Lane, f.Class, f.Reason = text, text, text, &text, text, text, text
	}
	for i := range a.Findings {
		a.Findings[i].Cure = text
		r.Diagnosis[i] = report.Finding{Code: a.Findings[i].Code, Severity: text, Summary: text, Evidence: text, Cure: text}
	}
	r.Reasons = []report.Reason{{Code: text, Message: text}, {Code: text, Message: text}, {Code: text, Message: text}}
	return in
}

// FuzzMarkdown: whatever the text, the report has the shape that it has with a
// harmless one, and nothing of the text becomes more than text.
func FuzzMarkdown(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	run := healthy(f)
	plain := infected(run, "v1")
	comment, summary := skeleton(markdown.Comment(plain, key, nil)), skeleton(markdown.Summary(plain))
	f.Fuzz(func(t *testing.T, text string) {
		in := infected(run, text)
		for _, c := range []struct{ what, got, want string }{
			{"comment", markdown.Comment(in, key, nil), comment}, {"summary", markdown.Summary(in), summary},
		} {
			if why := untrue(c.got); why != "" {
				t.Errorf("%s with %q: %s\n%s", c.what, text, why, c.got)
			}
			long := len(text) > 300 // shown in part, in a report with less detail
			if got := skeleton(c.got); text != "" && !long && got != c.want {
				t.Errorf("%s with %q has another shape, - want + got:\n%s\n%s", c.what, text, cmp.Diff(c.want, got), c.got)
			}
		}
	})
}

// FuzzText: the escaped text is one line of text in every place where a report
// puts it, and reads as what it was.
func FuzzText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		// It is read as what it was, the blanks of no width apart.
		want := strings.TrimSpace("a " + format.Clean(text, 200))
		if got := strings.ReplaceAll(visible("a "+markdown.Text(text, 200)), "\u200b", ""); strings.TrimSpace(got) != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
		for what, write := range map[string]func(string, int) string{"text": markdown.Text, "code": markdown.Code} {
			got := write(text, 200)
			if strings.ContainsAny(got, "\r\n") {
				t.Fatalf("%s of %q is more than a line: %q", what, text, got)
			}
			for _, place := range []string{"%", "a %", "- %", "**b** %", "a: % b", "| a | % |\n| --- | --- |\n| % | % |"} {
				doc, plain := strings.ReplaceAll(place, "%", got), strings.ReplaceAll(place, "%", "v1")
				if text == "" {
					continue
				}
				if diff := cmp.Diff(skeleton(plain), skeleton(doc)); diff != "" {
					t.Errorf("%s of %q as %q has another shape, - want + got:\n%s", what, text, doc, diff)
				}
				if why := untrue(doc); why != "" {
					t.Errorf("%s of %q as %q: %s", what, text, doc, why)
				}
			}
		}
	})
}

// FuzzGantt: whatever the text, a chart has the tasks that it has with a harmless one.
func FuzzGantt(f *testing.F) {
	seed(f)
	run := healthy(f)
	want, err := readGantt(markdown.Gantt(infected(run, "v1").Analysis))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := infected(run, text).Analysis
		chart := markdown.Gantt(a)
		got, err := readGantt(chart)
		if err != nil {
			t.Fatalf("%q: %v\n%s", text, err, chart)
		}
		if len(chart) > 50_000 {
			t.Errorf("the chart has %d characters, and mermaid takes 50,000", len(chart))
		}
		if text == "" || strings.HasSuffix(text, "-started") {
			return // a phase without a name is not drawn
		}
		if len(got.tasks) != len(want.tasks) || got.critical != want.critical {
			t.Errorf("%q: %d tasks, %d of them critical, want %d and %d:\n%s", text, len(got.tasks), got.critical, len(want.tasks), want.critical, chart)
		}
		if diff := cmp.Diff(want.sections, got.sections); diff != "" {
			t.Errorf("%q: sections, - want + got:\n%s", text, diff)
		}
	})
}

// A chart tells what the picture tells.
func TestGantt(t *testing.T) {
	for name, want := range map[string][]string{
		"restart-with-drops":     {"old web-v1-", "new web-v1-", "overlap 1.1 s", "drain 514 ms", "7 cut at old's stop", "7 failures (the deploy's)", "phase BUILDING", "deploy window"},
		"k10-gap-half-a-second":  {"old v1", "new v2", "gap ", "failures (the deploy's)"},
		"k30-two-in-the-build":   {"(undecided)"},
		"k18-lone-502":           {"1 failure (not the deploy's)"},
		"k02-replaced-instances": {"instance web-"},
	} {
		c, err := readGantt(markdown.Gantt(recorded(t, name).Analysis))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !c.has(w) {
				t.Errorf("%s: no task with %q among %q", name, w, c.tasks)
			}
		}
	}
	if got := markdown.Gantt(&analysis.Analysis{}); got != "" {
		t.Errorf("the chart of nothing is %q", got)
	}
}

// What is escaped is escaped once: a reader sees the text itself, in code as
// well, and nothing that an escape left behind.
func TestEscapedOnce(t *testing.T) {
	const text = "a & b <c> | d"
	residue := regexp.MustCompile(`&(?:amp|lt|gt|quot|#\d+);|\\[|u"]`)
	in := infected(healthy(t), text)
	in.Parts = []report.Part{{Name: text, Result: in.Result}, {Name: "eu", Result: in.Result}}
	alone := in
	alone.Parts = nil
	for what, doc := range map[string]string{
		"comment": markdown.Comment(alone, key, nil), "summary": markdown.Summary(alone), "sum": markdown.Summary(in), "lost": markdown.Lost(text, text),
	} {
		seen := strings.ReplaceAll(read(doc), "\u200b", "")
		if !strings.Contains(seen, text) {
			t.Errorf("%s: %q is not in what is read", what, text)
		}
		if at := residue.FindStringIndex(seen); at != nil {
			t.Errorf("%s: %q is read", what, seen[max(0, at[0]-80):min(len(seen), at[1]+80)])
		}
	}
}
