package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// recorded are runs of the demo's scenes: the samples of
// cutwatch demo --scene NAME --report-dir FOLDER.
const recorded = "testdata/scenes"

// mostBytes is the size of a page that no run may exceed.
const mostBytes = 2_000_000

// judged judges a recorded run.
func judged(t testing.TB, path string) html.Input {
	t.Helper()
	out, err := run.Judge(path)
	if err != nil {
		t.Fatal(err)
	}
	return html.Input{Head: out.Head, Analysis: out.Analysis, Verdict: out.Verdict, Result: out.Result, Samples: run.SamplesFile}
}

func scene(t testing.TB, name string) html.Input {
	t.Helper()
	return judged(t, filepath.Join(recorded, name+".ndjson.zst"))
}

func write(t testing.TB, in html.Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryDemoSceneIsRecorded(t *testing.T) {
	for _, s := range box.Scenes() {
		if _, err := os.Stat(filepath.Join(recorded, s.Name+".ndjson.zst")); err != nil {
			t.Errorf("%v: record it with cutwatch demo --scene %s --report-dir FOLDER", err, s.Name)
		}
	}
}

// The page says what the judgement says, and says it the same way twice.
func TestPage(t *testing.T) {
	for _, s := range box.Scenes() {
		t.Run(s.Name, func(t *testing.T) {
			in := scene(t, s.Name)
			page := write(t, in)
			if again := write(t, in); !bytes.Equal(page, again) {
				t.Error("the same run gives another page")
			}
			if len(page) > mostBytes/3 {
				t.Errorf("%d bytes for a run of seconds", len(page))
			}
			text := textOf(t, page)
			wants := []string{strings.ToUpper(in.Verdict.Verdict), in.Verdict.Reasons[0].Message, "cutwatch analyze " + run.SamplesFile, in.Head.Config.VersionFrom.String()}
			for _, f := range in.Analysis.Findings {
				wants = append(wants, f.Summary, f.Cure)
				if f.Paste != nil && !bytes.Contains(page, []byte(template.HTMLEscapeString(strings.Join(f.Paste.Lines, "\n")))) {
					t.Errorf("%q, to paste, is missing", f.Paste.Lines)
				}
			}
			for _, f := range in.Analysis.Failures[:min(len(in.Analysis.Failures), 300)] {
				wants = append(wants, f.ID, f.Evidence)
			}
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing", want)
				}
			}
		})
	}
}

// The policy lets run what is in the page, and nothing else.
func TestPolicy(t *testing.T) {
	page := string(write(t, scene(t, "gap")))
	hash := func(tag string) string {
		_, text, _ := strings.Cut(page, "<"+tag+">")
		text, _, found := strings.Cut(text, "</"+tag+">")
		if !found || len(text) < 500 {
			t.Fatalf("no <%s> in the page", tag)
		}
		sum := sha256.Sum256([]byte(text))
		return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	}
	want := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash("script"), hash("style"))
	if got := policyOf(t, page); got != want {
		t.Errorf("the policy is %q, want %q", got, want)
	}
}

// Nothing is invented for a run that recorded nothing.
func TestPageOfNothing(t *testing.T) {
	in := html.Input{Analysis: &analysis.Analysis{}, Verdict: verdict.Verdict{Verdict: verdict.Inconclusive}, Samples: run.SamplesFile}
	in.Result = report.NewResult(in.Head, in.Analysis, in.Verdict)
	text := textOf(t, write(t, in))
	for _, want := range []string{"INCONCLUSIVE for a reason that was not given", "there is no picture", "No request failed", "unknown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if strings.Contains(text, "0 ms") {
		t.Error("a length of 0 ms was measured by nobody")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteError(t *testing.T) {
	if err := html.Write(broken{}, scene(t, "no-op")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want the writer's", err)
	}
}

// crowd is the judgement of a run of an hour with a million requests, most of
// which failed, in the worst words that a service could find.
func crowd(text string) html.Input {
	a := &analysis.Analysis{Duration: time.Hour, Series: analysis.Series{Step: 100 * time.Millisecond}}
	for range 36000 {
		a.Series.Buckets = append(a.Series.Buckets, analysis.Bucket{Old: 12, Deploy: 10, NotDeploy: 6})
	}
	for range 3600 {
		a.Series.Seconds = append(a.Series.Seconds, &analysis.Latency{N: 280, P50: time.Millisecond, P99: time.Second})
	}
	owners := []string{analysis.ByDeploy, analysis.ByBackground, analysis.Undecided, analysis.ByProber, analysis.ByConfig}
	for i := range 60_000 {
		at := time.Duration(i) * time.Hour / 60_000
		f := analysis.Failure{
			N: int64(i), ID: fmt.Sprint(i, text), Lane: "slow", Started: at, Ended: at + time.Millisecond, Class: "reset", Error: text,
			Version: text, Instance: text, Attribution: owners[i%len(owners)], Reason: "in-cutover", Evidence: text,
		}
		a.Failures = append(a.Failures, f)
		if i%10 == 0 {
			a.Series.Bars = append(a.Series.Bars, analysis.Bar{From: max(0, at-20*time.Second), To: at + time.Millisecond, Role: analysis.Old, Outcome: []string{"cut", "completed"}[i%20/10], ID: f.ID})
		}
	}
	v := analysis.Version{ID: text, Role: analysis.Old, LastEnd: time.Hour}
	for i := range 500 {
		v.Instances = append(v.Instances, analysis.Instance{ID: fmt.Sprint(i, text), Role: analysis.Old, LastEnd: time.Hour})
		a.Deploy.Signals = append(a.Deploy.Signals, analysis.Signal{At: time.Duration(i) * time.Second, Name: text, Message: text})
		a.Versions = append(a.Versions, v)
	}
	began := time.Duration(0)
	a.Deploy.Started, a.Requests.Total, a.Requests.Failed = &began, 1_000_000, len(a.Failures)
	in := html.Input{Analysis: a, Verdict: verdict.Verdict{Verdict: verdict.Fail, Reasons: []verdict.Reason{{Message: text}}}, Samples: run.SamplesFile}
	in.Result = report.NewResult(in.Head, a, in.Verdict)
	return in
}

func TestPageStaysSmall(t *testing.T) {
	for name, text := range map[string]string{
		"plain": strings.Repeat("a word ", 30), "quotes": strings.Repeat(`"<&`, 700), "bytes": strings.Repeat("\xff", 2000), "wide": strings.Repeat("界", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			page := write(t, crowd(text))
			if len(page) > mostBytes {
				t.Errorf("%d bytes, want %d at most", len(page), mostBytes)
			}
			shown := textOf(t, page)
			for _, want := range []string{"more are left out here", "requests held open are not drawn", "instances are not drawn"} {
				if !strings.Contains(shown, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			t.Logf("%d bytes", len(page))
		})
	}
}

// A side that answers too shortly for its id still has its name in the picture.
func TestAShortSideIsNamedByItsRole(t *testing.T) {
	page := string(write(t, scene(t, "gap")))
	if !regexp.MustCompile(`<text class="on-new (?:always|wide)"[^>]*>new</text>`).MatchString(page) {
		t.Error("new is not named where it answers")
	}
}
