package merge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/report"
)

// part is a result of a run of a minute.
func part(name, verdict string, change ...func(*report.Result)) report.Part {
	r := &report.Result{
		Schema: 1, StartedAt: "2026-11-30T12:00:00.000Z", DurationMS: 60_000, Verdict: verdict,
		Reasons:  []report.Reason{{Code: "code-of-" + name, Message: "so it was"}},
		Versions: []report.Version{{ID: "v1", Role: "old"}, {ID: "v2", Role: "new"}},
		Requests: report.Requests{Total: 100, OK: 99, Failed: 1, Background: 1},
		Deploy:   report.Deploy{Outcome: "succeeded"},
		Failures: []report.Failure{{ID: "cw-" + name + "-7", Attribution: "background", Class: "reset", StartedMS: 10}},
	}
	for _, c := range change {
		c(r)
	}
	return report.Part{Name: name, Result: r}
}

func newVersion(id string) func(*report.Result) {
	return func(r *report.Result) { r.Versions[1].ID = id }
}

func startedAt(at string) func(*report.Result) { return func(r *report.Result) { r.StartedAt = at } }

func failedDeploy(r *report.Result) { r.Deploy.Outcome = "failed" }

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name    string
		parts   []report.Part
		warn    bool
		verdict string
		code    int
		first   string // reason
	}{
		{"all pass", []report.Part{part("eu", "pass"), part("us", "pass")}, false, "pass", 0, "code-of-eu"},
		{"one fails", []report.Part{part("eu", "pass"), part("us", "fail")}, false, "fail", 1, "code-of-us"},
		{"one could not tell", []report.Part{part("eu", "inconclusive"), part("us", "pass")}, false, "inconclusive", 3, "code-of-eu"},
		{"and that is let pass", []report.Part{part("eu", "inconclusive"), part("us", "pass")}, true, "inconclusive", 0, "code-of-eu"},
		{"a failure is never let pass", []report.Part{part("eu", "inconclusive"), part("us", "fail")}, true, "fail", 1, "code-of-us"},
		{"the deploy failed", []report.Part{part("eu", "pass"), part("us", "fail", failedDeploy)}, true, "fail", 4, "code-of-us"},
		{"a verdict from elsewhere", []report.Part{part("eu", "pass"), part("us", "splendid")}, false, "inconclusive", 3, "code-of-us"},
		{"two deploys by their versions", []report.Part{part("eu", "pass"), part("us", "pass", newVersion("v3"))}, false, "inconclusive", 3, "different-deploys"},
		{"two deploys by their times", []report.Part{part("eu", "pass"), part("us", "pass", startedAt("2026-11-30T13:00:00.000Z"))}, false, "inconclusive", 3, "different-deploys"},
		{"of two deploys, one that dropped", []report.Part{part("eu", "fail"), part("us", "pass", newVersion("v3"))}, false, "fail", 1, "code-of-eu"},
		{"one alone", []report.Part{part("eu", "pass")}, false, "pass", 0, "code-of-eu"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, v := Judge(tt.parts, tt.warn)
			if v.Verdict != tt.verdict || v.ExitCode != tt.code || r.Verdict != tt.verdict || r.Reasons[0].Code != tt.first {
				t.Errorf("verdict %s with exit code %d for %+v, want %s, %d, %s", v.Verdict, v.ExitCode, r.Reasons, tt.verdict, tt.code, tt.first)
			}
			if n := len(tt.parts); r.Requests.Total != 100*n || r.Requests.Background != n || len(r.Failures) != n {
				t.Errorf("requests %+v and %d failures of %d results", r.Requests, len(r.Failures), n)
			}
		})
	}
}

func TestReasonsNameTheirPlace(t *testing.T) {
	r, _ := Judge([]report.Part{part("eu", "fail"), part("us", "fail")}, false)
	want := []report.Reason{{Code: "code-of-eu", Message: "eu: so it was"}, {Code: "code-of-us", Message: "us: so it was"}}
	if diff := cmp.Diff(want, r.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ files, want []string }{
		{[]string{"in/eu/result.json", "in/us/result.json"}, []string{"eu", "us"}},
		{[]string{"in/eu/cutwatch-report/result.json", "in/us/cutwatch-report/result.json"}, []string{"eu", "us"}},
		{[]string{"eu.json", "us.json"}, []string{"eu", "us"}},
		{[]string{"a/result.json", "a/b/result.json"}, []string{"a", "a/b"}},
		{[]string{"a/result.json", "result.json"}, []string{"a", "result"}},
		{[]string{"in/eu/result.json"}, []string{"eu"}},
		{[]string{"a\n::error::/result.json", "b/result.json"}, []string{`"a\n::error::"`, "b"}},
	} {
		if diff := cmp.Diff(tt.want, names(tt.files)); diff != "" {
			t.Errorf("names of %q (-want +got):\n%s", tt.files, diff)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"eu/result.json": earnedPass, "eu/1/result.json": earnedPass, "us/deep/result.json": earnedPass, "us/other.json": "no",
		"old/result.json": `{"schema": 2}`, "empty/x": "",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := Read([]string{dir + "/eu", dir + "/us", dir + "/eu/result.json"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, []string{"eu", "us/deep"}) {
		t.Errorf("the results are of %q, want one of eu and one of us/deep", got)
	}
	for path, want := range map[string]string{"none": "cannot be read", "empty": "holds no result.json", "old": "of schema 2", "us/other.json": "is no result"} {
		if _, err := Read([]string{dir + "/" + path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", path, err, want)
		}
	}
}
