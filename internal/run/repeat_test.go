package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// repeated is the options of a run of several deploys of a service that counts
// its version up at each. ends says how the nth deploy ends, "" like any.
func repeated(t *testing.T, deploys int, ends func(n int) string) Options {
	t.Helper()
	var version atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Version", fmt.Sprint("v", version.Load()))
	}))
	t.Cleanup(server.Close)
	cfg := config.Default()
	for name, value := range map[string]string{
		"url": server.URL, "baseline": "3100ms", "settle": "100ms", "tail": "100ms", "cutover-timeout": "1s",
		"connections": "2", "report-dir": t.TempDir(), "repeat": strconv.Itoa(deploys),
	} {
		if err := cfg.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	return Options{Config: cfg, Version: "0.0.0", Deploy: source(func(_ context.Context, emit deploy.Emit) error {
		n++
		emit(sample.Signal{Kind: sample.SignalStart, Name: "begun"})
		end := sample.Signal{Kind: sample.SignalEnd, Name: "over", Outcome: sample.Succeeded}
		if outcome := ends(n); outcome != "" {
			end.Outcome = outcome
		} else {
			version.Add(1)
		}
		emit(end)
		return nil
	})}
}

func well(int) string { return "" }

func TestRepeat(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	o := repeated(t, 2, well)
	dir := o.Config.ReportDir
	stale := filepath.Join(dir, "3", SamplesFile)
	if err := os.MkdirAll(filepath.Dir(stale), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var earlier []int
	s, err := Repeat(t.Context(), o, func(n int, o *Options) error {
		if (n == 0) != (o.Deploy == nil) {
			t.Errorf("run %d has the deploy %v", n, o.Deploy)
		}
		earlier = append(earlier, len(o.Earlier))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, earlier); diff != "" { // control and the deploys before are history of each
		t.Errorf("earlier results, want (-), got (+):\n%s", diff)
	}
	r := s.Result
	if s.Analysis != nil || s.Head.Config.Repeat != 2 {
		t.Errorf("repeat %d in the head, analysis %v", s.Head.Config.Repeat, s.Analysis)
	}
	if s.Verdict.Verdict != verdict.Pass || s.Verdict.ExitCode != 0 || len(r.Runs) != 2 || r.Control == nil {
		t.Fatalf("%+v with %d runs, control %v", s.Verdict, len(r.Runs), r.Control != nil)
	}
	if want := "all 2 deploys passed: they lost 0 of"; !strings.Contains(r.Reasons[0].Message, want) || !strings.HasPrefix(r.Reasons[1].Message, "deploy 1: ") {
		t.Errorf("reasons %+v, want %q first", r.Reasons, want)
	}
	if sum := r.Runs[0].Requests.Total + r.Runs[1].Requests.Total; r.Requests.Total != sum || r.Control.Requests.Total < 300 {
		t.Errorf("%d requests, want the sum %d; %d in the control", r.Requests.Total, sum, r.Control.Requests.Total)
	}
	var roles []string
	for _, v := range r.Versions {
		roles = append(roles, v.ID+" "+v.Role)
	}
	if diff := cmp.Diff([]string{"v0 old", "v1 new", "v1 old", "v2 new"}, roles); diff != "" {
		t.Errorf("versions, want (-), got (+):\n%s", diff)
	}
	checkFiles(t, dir, r)
	if _, err := os.Stat(stale); err == nil {
		t.Error("an earlier run's third deploy is still there")
	}
}

// checkFiles compares a series' files with its result.
func checkFiles(t *testing.T, dir string, r *report.Result) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := r.JSON(); err != nil || !bytes.Equal(want, data) {
		t.Errorf("%s is not the result (%v)", ResultFile, err)
	}
	for n, want := range append([]*report.Result{r.Control}, r.Runs...) {
		folder := filepath.Join(dir, ControlDir)
		if n > 0 {
			folder = filepath.Join(dir, strconv.Itoa(n))
		}
		again, err := Judge(filepath.Join(folder, SamplesFile))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, again.Result); diff != "" {
			t.Errorf("%s judged again, want (-), got (+):\n%s", folder, diff)
		}
		if _, err := os.Stat(filepath.Join(folder, ResultFile)); err == nil {
			t.Errorf("%s has a result of its own, which a history would count twice", folder)
		}
	}
	h, passed, err := report.ReadHistory(dir)
	if err != nil || len(passed) > 0 || h.Runs != len(r.Runs)+1 || h.Requests != r.Requests.Total+r.Control.Requests.Total {
		t.Errorf("as a history: %+v, %v, %v", h, passed, err)
	}
}

// A deploy that fails ends the series: what comes after it is not made, and
// that is said.
func TestRepeatEndsWithADeployThatFails(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	s, err := Repeat(t.Context(), repeated(t, 3, func(n int) string {
		if n == 2 {
			return sample.Failed
		}
		return ""
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Verdict.ExitCode != verdict.ExitDeployFailed || s.Verdict.Verdict != verdict.Inconclusive || len(s.Result.Runs) != 2 {
		t.Errorf("%+v with %d runs", s.Verdict, len(s.Result.Runs))
	}
	at := slices.IndexFunc(s.Result.Reasons, func(r report.Reason) bool { return r.Code == "deploys-missing" })
	if at < 0 || s.Result.Reasons[at].Message != "1 of 3 deploys were not made: deploy 2 did not succeed (failed)" {
		t.Errorf("reasons %+v", s.Result.Reasons)
	}
}

// An interrupt keeps what there is.
func TestRepeatInterrupted(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	ctx, cancel := context.WithCancel(t.Context())
	o := repeated(t, 3, well)
	s, err := Repeat(ctx, o, func(n int, o *Options) error {
		if n == 2 {
			o.Ready = func(Seen) { cancel() }
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Verdict.Verdict != verdict.Inconclusive || s.Verdict.ExitCode != verdict.ExitInconclusive || len(s.Result.Runs) != 2 {
		t.Errorf("%+v with %d runs", s.Verdict, len(s.Result.Runs))
	}
	var onDisk report.Result
	data, err := os.ReadFile(filepath.Join(o.Config.ReportDir, ResultFile))
	if err == nil {
		err = json.Unmarshal(data, &onDisk)
	}
	if err != nil || len(onDisk.Runs) != 2 || onDisk.Runs[0].Verdict != verdict.Pass {
		t.Errorf("%v, %d runs on disk", err, len(onDisk.Runs))
	}
}

// Without a good answer in the control period nothing is deployed.
func TestRepeatWithoutAnswers(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	o := repeated(t, 2, func(int) string { t.Error("deployed"); return "" })
	o.Config.URL = "http://127.0.0.1:1/"
	s, err := Repeat(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Verdict.Verdict != verdict.Inconclusive || s.Verdict.ExitCode != verdict.ExitInconclusive || len(s.Result.Runs) != 0 {
		t.Errorf("%+v with %d runs", s.Verdict, len(s.Result.Runs))
	}
	if last := s.Result.Reasons[len(s.Result.Reasons)-1]; last.Code != "deploys-missing" || s.Result.Reasons[0].Code != "no-baseline" {
		t.Errorf("reasons %+v", s.Result.Reasons)
	}
}

// A run that cannot be recorded ends the series: what was judged before it stands.
func TestRepeatKeepsWhatWasJudged(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	o := repeated(t, 2, well)
	second := filepath.Join(o.Config.ReportDir, "2")
	s, err := Repeat(t.Context(), o, func(n int, _ *Options) error {
		if n != 1 {
			return nil
		}
		return os.WriteFile(second, nil, 0o644) // no folder can be there
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Verdict.Verdict != verdict.Inconclusive || s.Verdict.ExitCode != verdict.ExitInconclusive || len(s.Result.Runs) != 1 || s.Result.Runs[0].Verdict != verdict.Pass {
		t.Errorf("%+v with %d runs", s.Verdict, len(s.Result.Runs))
	}
	first := s.Result.Reasons[0]
	if want := "1 of 2 deploys were not made: deploy 2: report-dir: "; first.Code != "deploys-missing" || !strings.HasPrefix(first.Message, want) {
		t.Errorf("reasons %+v, want %q first", s.Result.Reasons, want)
	}
}

// max-duration bounds the whole.
func TestRepeatWithinMaxDuration(t *testing.T) {
	t.Parallel() // nearly all of it is waiting
	o := repeated(t, 20, well)
	if err := o.Config.Set("max-duration", "10s"); err != nil {
		t.Fatal(err)
	}
	s, err := Repeat(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Result.Runs); n < 1 || n > 3 || s.Verdict.ExitCode != verdict.ExitInconclusive {
		t.Errorf("%d runs, %+v", n, s.Verdict)
	}
}
