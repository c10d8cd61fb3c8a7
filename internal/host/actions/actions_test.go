package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeRunner is a runner with its files in a temporary folder.
type fakeRunner struct {
	*Runner
	out bytes.Buffer
	env map[string]string
}

func newFake(t testing.TB) *fakeRunner {
	t.Helper()
	dir := t.TempDir()
	f := &fakeRunner{env: map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": filepath.Join(dir, "out"),
		"GITHUB_STATE": filepath.Join(dir, "state"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
	}}
	f.Runner = New(&f.out, f.getenv)
	return f
}

func (f *fakeRunner) getenv(name string) string { return f.env[name] }

// values reads one of the runner's files as the runner does.
func (f *fakeRunner) values(t testing.TB, variable string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(f.env[variable])
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseFile(string(text))
	if err != nil {
		t.Fatalf("%s: %v:\n%s", variable, err, text)
	}
	return got
}

// parseFile reads NAME=VALUE and NAME<<MARK ... MARK.
func parseFile(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		if heredoc < 0 || equals >= 0 && equals < heredoc {
			if equals < 0 {
				return nil, errors.New("a line is neither NAME=VALUE nor NAME<<MARK")
			}
			out[line[:equals]] = line[equals+1:]
			continue
		}
		name, mark := line[:heredoc], line[heredoc+2:]
		var value []string
		for i++; ; i++ {
			if i >= len(lines) {
				return nil, errors.New("a mark does not come again")
			}
			if lines[i] == mark {
				break
			}
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out, nil
}

func TestOutputsAndState(t *testing.T) {
	f := newFake(t)
	for name, value := range map[string]string{"verdict": "pass", "empty": "", "old-version": "a\nevil<<x\nb\nx"} {
		if err := f.Output(name, value); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"verdict": "pass", "empty": "", "old-version": "a\nevil<<x\nb\nx"}
	if diff := cmp.Diff(want, f.values(t, "GITHUB_OUTPUT")); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if err := f.Save("probe", "started"); err != nil {
		t.Fatal(err)
	}
	if got := f.values(t, "GITHUB_STATE"); got["probe"] != "started" {
		t.Errorf("state %v", got)
	}
	f.env["STATE_probe"] = "started"
	if got := f.Saved("probe"); got != "started" {
		t.Errorf("saved %q", got)
	}
}

// The library's delimiter is fixed; text that holds it must not define an output.
func TestNoTextDefinesAnOutput(t *testing.T) {
	f := newFake(t)
	text := "v1\n_GitHubActionsFileCommandDelimeter_\nverdict<<x\npass\nx"
	if err := f.Output("old-version", text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"old-version": text}, f.values(t, "GITHUB_OUTPUT")); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

func TestWithoutARunnerNothingBreaks(t *testing.T) {
	var out bytes.Buffer
	r := New(&out, func(string) string { return "" })
	r.Mask("s3cret")
	for what, err := range map[string]error{"output": r.Output("a", "b"), "state": r.Save("a", "b"), "summary": r.Summary("x")} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	r.Group("one")
	r.Annotate(Error, "Cutwatch", "two")
	r.EndGroup()
	if got, want := out.String(), "one\nCutwatch: two\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestUnwritableFilesAreErrors(t *testing.T) {
	f := newFake(t)
	for _, variable := range []string{"GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		for _, path := range []string{"", filepath.Join(t.TempDir(), "no", "such", "folder"), t.TempDir()} {
			f.env[variable] = path
			err := map[string]func() error{
				"GITHUB_OUTPUT":       func() error { return f.Output("a", "b") },
				"GITHUB_STATE":        func() error { return f.Save("a", "b") },
				"GITHUB_STEP_SUMMARY": func() error { return f.Summary("a") },
			}[variable]()
			if err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("%s at %q: error %v", variable, path, err)
			}
		}
	}
}

func TestSummaryThatWouldNotBeShownIsRefused(t *testing.T) {
	f := newFake(t)
	if err := f.Summary(strings.Repeat("x", 1<<20)); err == nil {
		t.Error("a summary of 1 MiB was written")
	}
	if err := f.Summary("small"); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(f.env["GITHUB_STEP_SUMMARY"])
	if err != nil || string(text) != "small\n" {
		t.Errorf("summary %q, %v", text, err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestLogThatIsGoneDoesNotPanic(t *testing.T) {
	r := New(closed{}, func(name string) string { return map[string]string{"GITHUB_ACTIONS": "true"}[name] })
	r.Mask("secret")
	r.Group("a")
	r.EndGroup()
	r.Annotate(Notice, "a", "b")
	r.Say("c")
}

func TestInputs(t *testing.T) {
	f := newFake(t)
	f.env["INPUT_SLOW-URL"] = " https://h/slow \n"
	f.env["INPUT_RATE"] = " \n"
	f.env["INPUT_BODY"] = " {}\n"
	f.env["INPUT_CA_CERT"] = "file"
	for name, want := range map[string]string{"slow-url": "https://h/slow", "rate": "", "body": " {}\n", "url": "", "ca-cert": "file"} {
		if got := f.Input(name); got != want {
			t.Errorf("input %s is %q, want %q", name, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	f := newFake(t)
	f.Mask("one\ntwo 100%\n")
	f.Group("a: b, c")
	f.EndGroup()
	f.Annotate(Error, "Cutwatch (web)", "FAIL: 2 of 5, 40 %")
	want := "::add-mask::one\n::add-mask::two 100%25\n::group::a: b, c\n::endgroup::\n::error title=Cutwatch (web)::FAIL: 2 of 5, 40 %25\n"
	if diff := cmp.Diff(want, f.out.String()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestLongAnnotationIsCut(t *testing.T) {
	f := newFake(t)
	f.Annotate(Warning, "t", strings.Repeat("é", 5000))
	line := strings.TrimSuffix(f.out.String(), "\n")
	if len(line) > 4096 || !strings.HasSuffix(line, "é…") {
		t.Errorf("%d bytes, ending in %q", len(line), line[len(line)-8:])
	}
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct{ id, want string }{
		{"", ""}, {"v1.2.3-rc+4", "v1.2.3-rc+4"}, {"web/1@sha256", "web/1@sha256"},
		{"-rf", `"-rf"`}, {"$(reboot)", `"\u0024\u0028reboot\u0029"`}, {"a b", `"a\u0020b"`},
		{"a\nb", `"a\u000ab"`}, {`a"b`, `"a\u0022b"`}, {"😀", `"\ud83d\ude00"`}, {"\xff", `"\ufffd"`},
	} {
		if got := ID(tt.id); got != tt.want {
			t.Errorf("ID(%q) = %s, want %s", tt.id, got, tt.want)
		}
	}
	for _, tt := range []struct {
		ids  []string
		want string
	}{{nil, ""}, {[]string{"v1"}, "v1"}, {[]string{"v1", "v$"}, `["v1","v\u0024"]`}} {
		if got := IDs(tt.ids); got != tt.want {
			t.Errorf("IDs(%q) = %s, want %s", tt.ids, got, tt.want)
		}
	}
}

func TestMillis(t *testing.T) {
	ms := 12.345
	if got := Millis(&ms); got != "12.345" {
		t.Errorf("got %q", got)
	}
	if got := Millis(nil); got != "" {
		t.Errorf("unknown is %q, want nothing", got)
	}
}

var nasty = []string{
	"v1", "", "a\nb", "::error::x", "##[error]x", " ::set-output name=verdict::pass", "a\r\n::stop-commands::x", "%0A::warning::x",
	"x<<y\nz\ny", "$(id)`id`", "\x1b[2J", "😀|@user #1 <b>", "\u2028::debug::x", "ghadelimiter_1", "-n", "\\n::error::",
	"@team", "#1", "a|b", "`", "<script>alert(1)</script>", "\u202eevil\u2066", "\xff\xfe\x00", strings.Repeat("x::error::\n", 1000),
}

func FuzzOutput(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := newFake(t)
		if err := r.Output("old-version", s); err != nil {
			t.Fatal(err)
		}
		if err := r.Output("new-version", ID(s)); err != nil {
			t.Fatal(err)
		}
		got := r.values(t, "GITHUB_OUTPUT")
		if len(got) != 2 || got["old-version"] != s {
			t.Errorf("outputs %q of %q", got, s)
		}
		id := got["new-version"]
		if strings.ContainsAny(id, "\r\n$`;&|<>()'!*?~{}# \t") || strings.HasPrefix(id, "-") {
			t.Errorf("ID(%q) = %s could mean something to a shell", s, id)
		}
		if strings.HasPrefix(id, `"`) && !json.Valid([]byte(id)) {
			t.Errorf("ID(%q) = %s is no JSON", s, id)
		}
	})
}

func FuzzLog(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := newFake(t)
		r.Say(s)
		said := r.out.String()
		if strings.Count(said, "\n") != 1 || command(said) {
			t.Errorf("Say(%q) printed %q", s, said)
		}
		r.out.Reset()
		r.Annotate(Notice, s, s)
		line := r.out.String()
		title, message, ok := strings.Cut(strings.TrimPrefix(line, "::notice title="), "::")
		if strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "::notice title=") || !ok ||
			strings.ContainsAny(title, ":,\r") || strings.Contains(message, "\r") || strings.Contains(line, "##[") {
			t.Errorf("Annotate(%q) printed %q", s, line)
		}
	})
}

// command tells whether a runner takes a line for a command.
func command(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.ContainsAny(line, "\r\u2028\u2029\u0085")
}
