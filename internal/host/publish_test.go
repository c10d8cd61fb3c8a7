package host

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/host/actions"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

func ptr[T any](v T) *T { return &v }

// judged is an outcome with everything known.
func judged() *run.Outcome {
	return &run.Outcome{
		Verdict: verdict.Verdict{Verdict: verdict.Fail, ExitCode: 1, Reasons: []verdict.Reason{
			{Code: "deploy-failures", Message: "the deploy lost 2 requests"}, {Code: "wrong-version", Message: "v1 | <b>answered</b>"},
		}},
		Result: &report.Result{
			Verdict: verdict.Fail, Reasons: []report.Reason{{Code: "deploy-failures", Message: "x"}},
			Requests: report.Requests{Total: 12345, Deploy: 2, Background: 3},
			Versions: []report.Version{{ID: "v1", Role: "old"}, {ID: "v1b", Role: "old"}, {ID: "$(reboot)", Role: "new"}, {ID: "v9", Role: "other"}},
			Cutover:  &report.Cutover{OverlapMS: ptr(-120.5), Drain: &report.Drain{Lower: 15000.25}},
			Latency:  report.Latencies{Before: &report.Latency{P50: 1.5, P99: 9}, During: &report.Latency{P50: 2, P99: 20.125}},
		},
	}
}

func TestValues(t *testing.T) {
	want := map[string]string{
		"verdict": "fail", "reason": "deploy-failures", "requests": "12345", "deploy-failures": "2", "background-failures": "3",
		"overlap-ms": "-120.5", "drain-ms": "15000.25", "old-version": `["v1","v1b"]`, "new-version": `"\u0024\u0028reboot\u0029"`,
		"p50-before-ms": "1.5", "p50-during-ms": "2", "p99-before-ms": "9", "p99-during-ms": "20.125",
	}
	got := Values(judged())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	for name := range got {
		if !slices.Contains(Outputs(), name) {
			t.Errorf("%s is no output", name)
		}
	}
}

// A path is told of a file that is there, and of no other.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	if got := Paths(dir, "out"); len(got) > 0 {
		t.Errorf("paths of an empty folder: %q", got)
	}
	want := map[string]string{"result-path": "out/result.json", "report-path": "out/report.html"}
	for _, path := range want {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, Paths(dir, "out")); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// What is not known is empty, never 0.
func TestValuesOfWhatIsNotKnown(t *testing.T) {
	got := Values(&run.Outcome{Result: &report.Result{Verdict: verdict.Inconclusive}})
	for _, name := range []string{"overlap-ms", "drain-ms", "old-version", "new-version", "p50-before-ms", "p99-during-ms", "reason"} {
		if got[name] != "" {
			t.Errorf("%s is %q, want nothing", name, got[name])
		}
	}
}

func TestAnnotationLevels(t *testing.T) {
	for _, tt := range []struct {
		verdict string
		code    int
		want    string
	}{
		{verdict.Pass, 0, "::notice "}, {verdict.Pass, 4, "::error "}, {verdict.Fail, 1, "::error "},
		{verdict.Inconclusive, 3, "::error "}, {verdict.Inconclusive, 0, "::warning "},
	} {
		var out bytes.Buffer
		r := actions.New(&out, func(name string) string { return map[string]string{"GITHUB_ACTIONS": "true"}[name] })
		o := judged()
		o.Verdict.Verdict, o.Verdict.ExitCode = tt.verdict, tt.code
		o.Head = sample.Run{}
		o.Head.Config.ID = "web"
		Annotate(r, o)
		want := tt.want + "title=Cutwatch (web)::" + strings.ToUpper(tt.verdict) + ": the deploy lost 2 requests (and 1 more reason)\n"
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}
