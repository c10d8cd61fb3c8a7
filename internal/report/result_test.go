package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// documented is every key of result.json and its JSON type; "[]" stands for an
// item of a list. It is written by hand: a program relies on it.
const documented = `
schema number, cutwatch string, started_at string, duration_ms number
verdict string, reasons[].code string, reasons[].message string
target.url string, target.address string, target.protocol string, target.edge string
versions[].id string, versions[].role string, versions[].first_ms number, versions[].last_start_ms number,
versions[].last_end_ms number, versions[].instances[] string
cutover.by string, cutover.start_ms number, cutover.end_ms number, cutover.overlap_ms number,
cutover.fresh_overlap_ms number, cutover.share_new number, cutover.old_stop_ms number,
cutover.drain_ms.lower number, cutover.drain_ms.upper number, cutover.drain_ms.exact bool
deploy.started_ms number, deploy.ended_ms number, deploy.window_ms[] number, deploy.outcome string,
deploy.signals[].at_ms number, deploy.signals[].source string, deploy.signals[].name string
requests.total number, requests.ok number, requests.failed number, requests.deploy number, requests.background number,
requests.prober number, requests.config number, requests.undecided number, requests.not_sent number,
requests.reconnects number, requests.hidden_retries number, requests.idle_race number, requests.idle_race_expected number
slow.total number, slow.completed number, slow.cut number, slow.failed number, slow.unfinished number,
slow.in_flight_at_last_accept number, slow.re_executed number, slow.longest_ok_ms number
latency_ms.before.n number, latency_ms.before.p50 number, latency_ms.before.p95 number, latency_ms.before.p99 number, latency_ms.before.max number
latency_ms.during.n number, latency_ms.during.p50 number, latency_ms.during.p95 number, latency_ms.during.p99 number, latency_ms.during.max number
latency_ms.after.n number, latency_ms.after.p50 number, latency_ms.after.p95 number, latency_ms.after.p99 number, latency_ms.after.max number
power.requests_in_cutover number, power.max_failure_rate_95 number, power.min_outage_ms number
failures[].id string, failures[].lane string, failures[].started_ms number, failures[].ended_ms number, failures[].class string,
failures[].status number, failures[].phase string, failures[].error string, failures[].answered_by string,
failures[].connection number, failures[].reused bool, failures[].version string, failures[].instance string,
failures[].attribution string, failures[].reason string, failures[].evidence string
failures_omitted number
diagnosis[].code string, diagnosis[].severity string, diagnosis[].summary string, diagnosis[].evidence string, diagnosis[].cure string
prober.late_p99_ms number, prober.late_max_ms number, prober.control_failures number
platform.kind string, platform.app string, platform.deployment_id string, platform.drain_seconds number, platform.grace_period_seconds number
`

// richResult is a result in which nothing is unknown.
func richResult() *report.Result {
	s := platformScene()
	r := report.NewResult(s.head, s.a, s.v)
	r.Platform = &report.Platform{
		Kind: "digitalocean", App: "shop", DeploymentID: ptr("3aa4d20e"), DrainSeconds: ptr(15), GracePeriodSeconds: ptr(120),
	}
	return r
}

func marshal(t *testing.T, r *report.Result) []byte {
	t.Helper()
	doc, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestResultGolden(t *testing.T) {
	golden(t, "platform.json", marshal(t, richResult()))
	s := probeDiedScene()
	golden(t, "probe-died.json", marshal(t, report.NewResult(s.head, s.a, s.v)))
}

func TestResultKeys(t *testing.T) {
	var doc any
	if err := json.Unmarshal(marshal(t, richResult()), &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	keys("", doc, found)
	var got []string
	for k := range found {
		got = append(got, k)
	}
	slices.Sort(got)
	var want []string
	for item := range strings.FieldsFuncSeq(documented, func(r rune) bool { return r == ',' || r == '\n' }) {
		if item = strings.TrimSpace(item); item != "" {
			want = append(want, item)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys and types of result.json, - documented + found:\n%s", diff)
	}
}

// keys finds the path and type of every value that is no object or list. A
// failure without an answer has nulls, which another failure's value goes with.
func keys(path string, v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			keys(strings.TrimPrefix(path+"."+k, "."), inner, found)
		}
	case []any:
		for _, inner := range v {
			keys(path+"[]", inner, found)
		}
	case nil:
		if !strings.HasPrefix(path, "failures[]") {
			found[path+" null"] = true
		}
	case float64:
		found[path+" number"] = true
	case bool:
		found[path+" bool"] = true
	case string:
		found[path+" string"] = true
	}
}

// TestResultUnknown: of an empty analysis everything is unknown, and nothing of
// that is a zero.
func TestResultUnknown(t *testing.T) {
	r := report.NewResult(sample.Run{Cutwatch: "0.1.0"}, &analysis.Analysis{}, verdict.Verdict{Verdict: verdict.Inconclusive})
	var doc map[string]any
	if err := json.Unmarshal(marshal(t, r), &doc); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"target.address", "target.protocol", "target.edge", "cutover", "deploy.started_ms", "deploy.ended_ms", "deploy.window_ms",
		"requests.idle_race_expected", "slow.in_flight_at_last_accept", "slow.longest_ok_ms", "latency_ms.before", "latency_ms.during", "latency_ms.after", "power",
		"prober.late_p99_ms", "prober.late_max_ms", "prober.control_failures", "platform",
	} {
		if v, ok := lookup(doc, path); !ok || v != nil {
			t.Errorf("%s = %v (there: %t), want null", path, v, ok)
		}
	}
	for _, path := range []string{"reasons", "versions", "deploy.signals", "failures", "diagnosis"} {
		if v, _ := lookup(doc, path); !cmp.Equal(v, []any{}) {
			t.Errorf("%s = %v, want an empty list", path, v)
		}
	}
	if v, _ := lookup(doc, "deploy.outcome"); v != "unknown" {
		t.Errorf("deploy.outcome = %v, want unknown", v)
	}
}

func lookup(doc map[string]any, path string) (any, bool) {
	head, rest, deeper := strings.Cut(path, ".")
	v, ok := doc[head]
	if inner, isMap := v.(map[string]any); deeper && isMap {
		return lookup(inner, rest)
	}
	return v, ok && !deeper
}

func TestResultNumbers(t *testing.T) {
	s := passScene()
	s.a.Duration = 1234567891 * time.Nanosecond
	s.a.Cutover.ShareNew = ptr(math.NaN())
	s.a.Power.MaxFailureRate95 = ptr(math.Inf(1))
	s.head.Config.URL = "https://me:secret@shop.example.com/?q=1"
	r := report.NewResult(s.head, s.a, s.v)
	if r.DurationMS != 1234.568 {
		t.Errorf("duration_ms = %v, want it to a thousandth: 1234.568", r.DurationMS)
	}
	if r.Cutover.ShareNew != nil || r.Power.MaxFailureRate95 != nil {
		t.Errorf("what is not a number = %v, %v, want null", r.Cutover.ShareNew, r.Power.MaxFailureRate95)
	}
	if strings.Contains(r.Target.URL, "secret") || !strings.Contains(r.Target.URL, "shop.example.com/?q=1") {
		t.Errorf("url = %q, want it without the password alone", r.Target.URL)
	}
	marshal(t, r)
}

func TestFailuresSampled(t *testing.T) {
	type kind struct{ attribution, class string }
	for _, c := range []struct {
		name    string
		have    map[kind]int
		want    map[kind]int
		omitted int
	}{
		{"all at the limit", map[kind]int{{"deploy", "eof"}: 900, {"background", "eof"}: 100},
			map[kind]int{{"deploy", "eof"}: 900, {"background", "eof"}: 100}, 0},
		{"one above", map[kind]int{{"deploy", "eof"}: 1001}, map[kind]int{{"deploy", "eof"}: 1000}, 1},
		// Half of the places, 250 to each of the two, and the other 500 to the deploy's.
		{"the deploy's first", map[kind]int{{"deploy", "eof"}: 5000, {"background", "status"}: 5000},
			map[kind]int{{"deploy", "eof"}: 750, {"background", "status"}: 250}, 9000},
		{"few of the deploy's", map[kind]int{{"deploy", "eof"}: 3, {"background", "status"}: 5000, {"prober", "local"}: 2},
			map[kind]int{{"deploy", "eof"}: 3, {"background", "status"}: 995, {"prober", "local"}: 2}, 4005},
		{"none of the deploy's", map[kind]int{{"background", "status"}: 1500}, map[kind]int{{"background", "status"}: 1000}, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &analysis.Analysis{}
			for k, n := range c.have {
				for i := range n {
					a.Failures = append(a.Failures, analysis.Failure{
						Attribution: k.attribution, Class: k.class, Started: time.Duration(i) * time.Millisecond, ID: fmt.Sprint(k, i),
					})
				}
			}
			slices.SortFunc(a.Failures, func(x, y analysis.Failure) int { return int(x.Started - y.Started) })
			r := report.NewResult(sample.Run{}, a, verdict.Verdict{})
			got, last := map[kind]int{}, map[kind]float64{}
			for _, f := range r.Failures {
				k := kind{f.Attribution, f.Class}
				got[k]++
				last[k] = f.StartedMS
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("kept of each kind, - want + got:\n%s", diff)
			}
			if r.FailuresOmitted != c.omitted {
				t.Errorf("failures_omitted = %d, want %d", r.FailuresOmitted, c.omitted)
			}
			for k, n := range c.have {
				if last[k] != float64(n-1) {
					t.Errorf("the last %v kept is of %v ms, want the last of all, %d ms", k, last[k], n-1)
				}
			}
			if !slices.IsSortedFunc(r.Failures, func(x, y report.Failure) int { return int(x.StartedMS - y.StartedMS) }) {
				t.Error("the failures are not in order of start")
			}
		})
	}
}

// FuzzJSON: whatever a service says, the document is safe to print and reads
// back as it was.
func FuzzJSON(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := richResult()
		r.Failures[0].Error, r.Versions[0].ID = s, s
		doc := marshal(t, r)
		for _, c := range string(doc) {
			if c != '\n' && c != unicode.ReplacementChar && !unicode.IsPrint(c) {
				t.Fatalf("%q holds %q", doc, c)
			}
		}
		if strings.Contains(string(doc), "##[") {
			t.Errorf("%q holds a workflow command", doc)
		}
		var back report.Result
		if err := json.Unmarshal(doc, &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); want == s && back.Failures[0].Error != s {
			t.Errorf("%q reads back as %q", s, back.Failures[0].Error)
		}
	})
}
