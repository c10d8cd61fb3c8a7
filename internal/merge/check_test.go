package merge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/report"
)

// earned is a pass as a run writes it, changed.
func earned(t *testing.T, change func(m map[string]any)) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(earnedPass), &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const earnedPass = `{
  "schema": 1, "started_at": "2026-11-30T12:00:00.000Z", "duration_ms": 60000, "verdict": "pass",
  "reasons": [{"code": "zero-drop", "message": "0 of 695 requests in the cutover failed"}],
  "versions": [{"id": "v1", "role": "old"}, {"id": "v2", "role": "new"}],
  "cutover": {"by": "version", "start_ms": 1000, "end_ms": 8000, "overlap_ms": 7000},
  "deploy": {"outcome": "succeeded"}, "requests": {"total": 4000, "ok": 4000},
  "latency_ms": {"before": {"n": 100}, "during": {"n": 100}, "after": {"n": 100}},
  "power": {"requests_in_cutover": 695, "max_failure_rate_95": 0.005, "min_outage_ms": 10}, "failures": []
}`

func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

// A result that proves nothing does not pass beside one that does.
func TestReadRefusesAPassThatWasNotEarned(t *testing.T) {
	in := func(object, name string, value any) func(map[string]any) {
		return func(m map[string]any) { m[object].(map[string]any)[name] = value }
	}
	for _, tt := range []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"no requests", set("requests", nil), "requests.total: got 0"},
		{"no deploy", set("deploy", nil), "deploy.outcome: got nothing"},
		{"no power", set("power", nil), "power: got null"},
		{"empty power", set("power", map[string]any{}), "power.requests_in_cutover: got 0"},
		{"no cutover", set("cutover", nil), "cutover: got null"},
		{"no cutover and no latency", func(m map[string]any) { m["cutover"], m["latency_ms"], m["power"] = nil, nil, nil }, "power: got null"},
		{"no reasons", set("reasons", []any{}), "reasons: there is none"},
		{"a reason against it", set("reasons", []any{map[string]any{"code": "no-cutover"}}), `reasons: the first is "no-cutover"`},
		{"no versions", set("versions", nil), "versions: got null"},
		{"no new version", set("versions", []any{}), "versions: none is new"},
		{"a drop", in("requests", "deploy", 5), "requests.deploy: got 5"},
		{"a drop that is not counted", set("failures", []any{map[string]any{"attribution": "deploy"}}), "requests.deploy: got 0"},
		{"a doubt", in("requests", "undecided", 1), "requests.undecided: got 1"},
		{"no time", set("started_at", "yesterday"), `started_at: got "yesterday"`},
		{"no verdict known", set("verdict", "great"), `verdict: got "great"`},
		{"a run that is none", set("runs", []any{nil}), "runs: got null"},
		{"a run that did not earn it", set("runs", []any{map[string]any{"verdict": "great"}}), `runs: verdict: got "great"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := earned(t, tt.change)
			_, err := Read([]string{earned(t, func(map[string]any) {}), path})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that names %s and says %s", err, path, tt.want)
			}
		})
	}
}

func TestReadTakesWhatRunsWrite(t *testing.T) {
	firstDeploy := func(m map[string]any) {
		m["cutover"], m["power"], m["latency_ms"] = nil, nil, nil
		m["versions"] = []any{map[string]any{"id": "v2", "role": "new"}}
	}
	byMarks := func(m map[string]any) {
		m["versions"], m["cutover"], m["power"] = []any{}, map[string]any{"by": "marks"}, map[string]any{}
	}
	let := func(m map[string]any) {
		m["reasons"] = []any{map[string]any{"code": "within-limit"}}
		m["requests"] = map[string]any{"total": 10, "deploy": 5}
	}
	for name, change := range map[string]func(map[string]any){
		"a pass": func(map[string]any) {}, "a first deploy": firstDeploy, "a cutover by marks": byMarks, "drops within the limit": let,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read([]string{earned(t, change)}); err != nil {
				t.Error(err)
			}
		})
	}
}

// What was merged can be merged again.
func TestReadTakesASum(t *testing.T) {
	parts, err := Read([]string{earned(t, func(map[string]any) {}), earned(t, func(map[string]any) {})})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := Judge(parts, false)
	if err := check(r); err != nil {
		t.Errorf("the sum: %v", err)
	}
	runs := *r
	runs.Runs = []*report.Result{parts[0].Result, parts[1].Result}
	if err := check(&runs); err != nil {
		t.Errorf("a series: %v", err)
	}
}
