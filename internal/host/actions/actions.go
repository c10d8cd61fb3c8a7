// Package actions speaks to the runner of a GitHub workflow: outputs, state,
// groups, masks, annotations and the job's summary. Outside of Actions, and
// where a file of the runner's is missing or cannot be written, nothing breaks:
// commands are not printed, and writing says what was lost.
//
// What it is given may hold text of the probed service. None of it can define an
// output, start a workflow command or break a line.
package actions

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"

	"github.com/cutwatch/cutwatch/internal/format"
)

// Runner is the runner that a step runs under.
type Runner struct {
	w      io.Writer
	getenv func(string) string
	lib    *githubactions.Action
}

// New is the runner that getenv tells of; its commands are printed to w.
func New(w io.Writer, getenv func(string) string) *Runner {
	quiet := forgiving{w}
	return &Runner{w: quiet, getenv: getenv, lib: githubactions.New(githubactions.WithWriter(quiet), githubactions.WithGetenv(getenv))}
}

// forgiving is a writer whose reader may go away: what it cannot write is lost.
// The library panics at a failed write.
type forgiving struct{ w io.Writer }

func (f forgiving) Write(p []byte) (int, error) {
	_, _ = f.w.Write(p)
	return len(p), nil
}

// On tells whether there is a runner that takes commands.
func (r *Runner) On() bool { return r.getenv("GITHUB_ACTIONS") == "true" }

// Input is an input of the action, without the blanks around it; "" where it was
// not given, or nothing but blanks. Names keep their hyphens in the environment,
// but where a shell stood between the runner and us. A body stays as it is.
func (r *Runner) Input(name string) string {
	variable := "INPUT_" + strings.ToUpper(name)
	value := r.getenv(variable)
	if value == "" {
		value = r.getenv(strings.ReplaceAll(variable, "-", "_"))
	}
	trimmed := strings.TrimSpace(value)
	if name == "body" && trimmed != "" {
		return value
	}
	return trimmed
}

// Mask has the runner hide a secret in all that is printed from now on.
// Without a runner nothing is printed.
func (r *Runner) Mask(secret string) {
	if !r.On() {
		return
	}
	for line := range strings.SplitSeq(secret, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			r.lib.AddMask(line)
		}
	}
}

// Group begins a fold of the log.
func (r *Runner) Group(title string) {
	if r.On() {
		r.lib.Group(format.Clean(title, maxTitle))
		return
	}
	r.Say(title)
}

// EndGroup ends it.
func (r *Runner) EndGroup() {
	if r.On() {
		r.lib.EndGroup()
	}
}

const (
	maxTitle   = 200
	maxMessage = 4000 // an annotation's limit is 4,096
	maxLine    = 4000
)

// Level is how loud an annotation is.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Notice  Level = "notice"
)

// Annotate leaves an annotation on the job's page. Without a runner it is a
// line of the log.
func (r *Runner) Annotate(level Level, title, message string) {
	title, message = format.Clean(title, maxTitle), clip(format.Clean(message, 0), maxMessage)
	if !r.On() {
		r.Say(title + ": " + message)
		return
	}
	r.lib.IssueCommand(&githubactions.Command{
		Name: string(level), Message: message,
		Properties: githubactions.CommandProperties{"title": title},
	})
}

// Say prints a line.
func (r *Runner) Say(line string) {
	_, _ = io.WriteString(r.w, Line(line)+"\n") // a forgiving writer: it has no error to give
}

// Line is text as one line that is safe to print.
func Line(text string) string { return format.Clean(text, maxLine) }

// clip is the beginning of s, at most n bytes of it.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Output sets an output of the step, for later ones.
func (r *Runner) Output(name, value string) error { return r.set("GITHUB_OUTPUT", name, value) }

// Save keeps a value for the post step.
func (r *Runner) Save(name, value string) error { return r.set("GITHUB_STATE", name, value) }

// Saved is what the main step saved; "" outside of the post step.
func (r *Runner) Saved(name string) string { return r.getenv("STATE_" + name) }

// set appends a value to a file of the runner's, between delimiters that no
// value can know. It does nothing without a runner.
func (r *Runner) set(file, name, value string) error {
	if !r.On() {
		return nil
	}
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return fmt.Errorf("no random numbers: %w", err)
	}
	mark := "cutwatch_" + hex.EncodeToString(b)
	return r.write(file, name+"<<"+mark+"\n"+value+"\n"+mark+"\n")
}

// maxSummary is how long a summary may be: over 1 MiB nothing of it is shown.
const maxSummary = 1<<20 - 1<<10

// Summary adds Markdown to the job's summary.
func (r *Runner) Summary(markdown string) error {
	if !r.On() {
		return nil
	}
	if len(markdown) > maxSummary {
		return fmt.Errorf("the summary has %d bytes, and %d are shown at most", len(markdown), maxSummary)
	}
	return r.write("GITHUB_STEP_SUMMARY", markdown+"\n")
}

func (r *Runner) write(variable, text string) (err error) {
	path := r.getenv(variable)
	if path == "" {
		return fmt.Errorf("%s is not set, so that the runner cannot be told", variable)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.WriteString(f, text); err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}
