package markdown_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/markdown"
)

const key = "deploy / ship (ubuntu-latest, 1) --> <b>"

func ptr[T any](v T) *T { return &v }

func someResult() *report.Result {
	return &report.Result{
		StartedAt: "2026-11-30T12:00:00.000Z", Verdict: "fail",
		Requests: report.Requests{Total: 85892, OK: 85889, Failed: 3, Deploy: 2, Background: 1},
		Cutover:  &report.Cutover{By: "version", OverlapMS: ptr(10000.0), Drain: &report.Drain{Lower: 15000, Exact: true}},
		Latency:  report.Latencies{Before: &report.Latency{P99: 80}},
	}
}

func TestStateComesBack(t *testing.T) {
	body := markdown.Comment(markdown.Input{Result: someResult()}, key, nil)
	for what, text := range map[string]string{"as it was": body, "with other line ends": strings.ReplaceAll(body, "\n", "\r\n")} {
		got, ours := markdown.ParseState(text, key)
		if !ours || got == nil {
			t.Fatalf("%s: state %v, ours %v", what, got, ours)
		}
		if diff := cmp.Diff(report.AsPast(someResult()), *got); diff != "" {
			t.Errorf("%s, - want + got:\n%s", what, diff)
		}
	}
	if _, ours := markdown.ParseState(body, key+"2"); ours {
		t.Error("a comment of another key is taken for ours")
	}
	first, _, _ := strings.Cut(body, "\n")
	if strings.Count(first, "-->") != 1 || !strings.HasSuffix(first, " -->") {
		t.Errorf("the marker %q does not fill its line", first)
	}
}

// A comment can have been written by anyone: what is not a state is none, and
// what is not our marker is not ours.
func TestParseStateOfOthers(t *testing.T) {
	body := markdown.Comment(markdown.Input{Result: someResult()}, key, nil)
	start := body[:strings.Index(body, "state=")]
	state := func(json string) string {
		return start + "state=" + base64.StdEncoding.EncodeToString([]byte(json)) + " -->"
	}
	const good = `{"started_at":"2026-11-30T12:00:00Z","verdict":"pass","requests":1,"failed":0,"deploy":0`
	for _, tt := range []struct {
		name, body     string
		ours, hasState bool
	}{
		{"a state", state(good + "}"), true, true},
		{"of a version to come", strings.Replace(state(good+"}"), ":v1", ":v2", 1), true, false},
		{"without a state", start + "-->", true, false},
		{"an unknown field", state(good + `,"x":1}`), true, false},
		{"two values", state(good + "}{}"), true, false},
		{"a bracket behind it", state(good + "}]"), true, false},
		{"no verdict", state(`{"started_at":"2026-11-30T12:00:00Z","requests":1}`), true, false},
		{"a text for a number", state(strings.Replace(good, ":1,", `:"1",`, 1) + "}"), true, false},
		{"a verdict of theirs", state(strings.Replace(good, "pass", "<b>", 1) + "}"), true, false},
		{"no base64", start + "state=A -->", true, false},
		{"a long one", start + "state=" + strings.Repeat("A", 5000) + " -->", true, false},
		{"not on the first line", "\n" + body, false, false},
		{"quoted", "> " + body, false, false},
		{"nothing", "", false, false},
	} {
		got, ours := markdown.ParseState(tt.body, key)
		if ours != tt.ours || (got != nil) != tt.hasState {
			t.Errorf("%s: state %v, ours %v; want a state: %v, ours %v", tt.name, got, ours, tt.hasState, tt.ours)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add(markdown.Comment(markdown.Input{Result: someResult()}, key, nil))
	f.Add("<!-- cutwatch:v1 key= state= -->")
	f.Fuzz(func(t *testing.T, body string) {
		s, ours := markdown.ParseState(body, key)
		if s != nil && (!ours || !report.Sane(*s)) {
			t.Errorf("state %+v, ours %v", *s, ours)
		}
	})
}
