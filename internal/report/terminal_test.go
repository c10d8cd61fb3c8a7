package report_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

var update = flag.Bool("update", false, "write the goldens in testdata anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs, - want + got:\n%s", name, diff)
	}
}

func terminal(t *testing.T, s *scene, o report.TerminalOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Terminal(&b, o, s.head, s.a, s.v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTerminalGolden(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", terminal(t, s, report.TerminalOptions{}))
		})
	}
}

// hostile is what a service could say to take over a screen or a runner.
var hostile = []string{
	"v1", "", "\x1b[2J\x1b]0;title\x07", "a\r\n::error::b", "::set-output name=a::b", "##[error]x", "\u202Eevil\u2066", "\u009b31m",
	"\xff\xfe\x00", "e\u0301\u200d", "東京" + strings.Repeat("界", 60), strings.Repeat(":", 300), strings.Repeat("x ", 300),
	strings.Repeat("::a", 100), strings.Repeat("\x00", 20000), "a\u2028b\u3164", "15.0 s ::error::x",
}

// infect puts text wherever a report shows what came from outside.
func infect(s *scene, text string) {
	s.head.Config.URL, s.head.StartedAt = text, text
	s.a.Target.Protocol, s.a.Target.Edge, s.a.End, s.a.Deploy.Message = text, text, text, text
	for i := range s.a.Versions {
		s.a.Versions[i].ID = text
		for j := range s.a.Versions[i].Instances {
			s.a.Versions[i].Instances[j].ID = text
		}
	}
	for i := range s.a.Deploy.Signals {
		s.a.Deploy.Signals[i].Name, s.a.Deploy.Signals[i].Source = text, text
	}
	for i := range s.a.Failures {
		f := &s.a.Failures[i]
		f.ID, f.Error, f.Evidence, f.Version, f.Instance, f.Lane, f.Phase = text, text, text, text, text, text, text
		f.Class, f.Reason = text, text
	}
	for i := range s.a.Findings {
		s.a.Findings[i] = analysis.Finding{Code: text, Severity: text, Summary: text, Evidence: text, Cure: text}
	}
	for i := range s.v.Reasons {
		s.v.Reasons[i].Message = text
	}
}

// complaint is what is wrong with a line of a report that must be plain.
func complaint(line string, width int) string {
	for _, r := range line {
		if !unicode.IsPrint(r) || unicode.Is(unicode.M, r) {
			return fmt.Sprintf("it holds %q", r)
		}
	}
	switch {
	case !utf8.ValidString(line):
		return "it is not UTF-8"
	case strings.Contains(line, "##["), strings.HasPrefix(strings.TrimLeft(line, " "), "::"):
		return "it is a workflow command"
	case format.Width(line) > width:
		return fmt.Sprintf("it takes %d columns of %d", format.Width(line), width)
	}
	return ""
}

func check(t *testing.T, out []byte, width int) {
	t.Helper()
	for line := range strings.SplitSeq(string(out), "\n") {
		if why := complaint(line, width); why != "" {
			t.Errorf("%q: %s", line, why)
		}
	}
}

func TestTerminalWidth(t *testing.T) {
	for name, s := range scenes() {
		for _, w := range []int{1, 60, 80, 93, 120, 250} {
			out := terminal(t, s, report.TerminalOptions{Width: w})
			t.Run(fmt.Sprintf("%s/%d", name, w), func(t *testing.T) { check(t, out, max(w, 60)) })
		}
	}
}

// TestTerminalColor: colour adds nothing but colour.
func TestTerminalColor(t *testing.T) {
	escapes := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for name, s := range scenes() {
		plain := terminal(t, s, report.TerminalOptions{})
		colored := terminal(t, s, report.TerminalOptions{Color: true})
		if bytes.Equal(plain, colored) {
			t.Errorf("%s: no colour", name)
		}
		if diff := cmp.Diff(string(plain), escapes.ReplaceAllString(string(colored), "")); diff != "" {
			t.Errorf("%s: - plain + coloured without its escapes:\n%s", name, diff)
		}
	}
}

func FuzzTerminal(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []*scene{platformScene(), kubernetesScene(), restartScene()} {
			infect(s, text)
			check(t, terminal(t, s, report.TerminalOptions{}), 80)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTerminalWriteError(t *testing.T) {
	s := passScene()
	if err := report.Terminal(broken{}, report.TerminalOptions{}, s.head, s.a, s.v); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error = %v, want that of the writer", err)
	}
}

// TestTerminalNothing: an analysis of nothing is shown without inventing any.
func TestTerminalNothing(t *testing.T) {
	s := &scene{a: &analysis.Analysis{}, v: verdict.Verdict{Verdict: verdict.Inconclusive}}
	got := string(terminal(t, s, report.TerminalOptions{}))
	for _, absent := range []string{"0 ms", "latency", "failures", "overlap", "drain", "slow", "power", "prober", "deploy"} {
		if strings.Contains(got, absent) {
			t.Errorf("%q is in\n%s", absent, got)
		}
	}
	if !strings.HasPrefix(got, "INCONCLUSIVE  ") || !strings.Contains(got, "not seen") {
		t.Errorf("the verdict and that no cutover was seen are missing in\n%s", got)
	}
}
