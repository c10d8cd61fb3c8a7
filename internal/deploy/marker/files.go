package marker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// Names of the files in a marks folder.
const (
	TaskFile  = "task.json"  // [Task]: for the probe, which removes it
	BegunFile = "begun.json" // [Begun]: the probe's process is there; touched while it lives
	ReadyFile = "ready.json" // [Ready]: the baseline is in
	GoFile    = "go.json"    // [Go]: the deploy is about to begin
	StopFile  = "stop.json"  // [Stop]: the deploy is over
	DoneFile  = "done.json"  // [Done]: the probe has ended and its report is written
)

// Task is what a probe in the background is asked to do.
type Task struct {
	// Inputs are the config's inputs by their names, as the user wrote them;
	// those that are secrets are among them.
	Inputs map[string]string `json:"inputs"`
	// Strict: the deploy begins when the baseline is in, and Stop will come.
	// Otherwise both are waited for only once Go has come.
	Strict bool `json:"strict"`
	// ReportDir is the report folder as the user wrote it, where it is another
	// than that of the inputs.
	ReportDir string `json:"report_dir,omitempty"`
	// Environment is what the probe's process is to take for its environment, as
	// far as platforms are concerned.
	Environment map[string]string `json:"environment,omitempty"`
}

// Begun tells that a probe has begun, and where its record is.
type Begun struct {
	At          time.Time     `json:"at"`
	ReportDir   string        `json:"report_dir"` // as the user wrote it
	Baseline    time.Duration `json:"baseline_ns"`
	MaxDuration time.Duration `json:"max_duration_ns"`
}

// Ready tells what a probe saw in its baseline.
type Ready struct {
	At        time.Time `json:"at"`
	Requests  int       `json:"requests"`
	Failed    int       `json:"failed"`
	Versions  []string  `json:"versions"`  // untrusted text
	Instances []string  `json:"instances"` // untrusted text
}

// Go tells that the deploy is about to begin.
type Go struct {
	At time.Time `json:"at"`
}

// Stop tells that the deploy's step is over.
type Stop struct {
	// Outcome is the step's own word: [Success], [Failure], [Cancelled],
	// [Skipped], or "" where it is not known.
	Outcome string `json:"outcome"`
}

// Done tells how a probe ended.
type Done struct {
	ExitCode int    `json:"exit_code"`
	Message  string `json:"message,omitempty"` // of an error
}

// Outcomes of a step, in the words of GitHub's steps context.
const (
	Success   = "success"
	Failure   = "failure"
	Cancelled = "cancelled"
	Skipped   = "skipped"
)

// CheckOutcome tells whether s is an outcome of a step, or "".
func CheckOutcome(s string) error {
	switch s {
	case "", Success, Failure, Cancelled, Skipped:
		return nil
	}
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Errorf("%q is no step's outcome; write success, failure, cancelled or skipped, like ${{ steps.deploy.outcome }}", s)
}

// Write puts a mark into the folder, whole or not at all.
func Write(dir, name string, mark any) error {
	data, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	perm := os.FileMode(0o644) // a step may run as another user
	if name == TaskFile {
		perm = 0o600 // it holds secrets
	}
	return renameio.WriteFile(filepath.Join(dir, name), append(data, '\n'), perm, renameio.WithStaticPermissions(perm), renameio.WithTempDir(dir))
}

// maxMark is the longest mark that is read, in bytes: a task holds a body.
const maxMark = 16 << 20

// Read reads a mark into it and tells whether it was there. One that does not
// parse is an error: it may be about to be written by someone who does not
// write whole files at once, like a copy into a container.
func Read(dir, name string, mark any) (bool, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > maxMark {
		err = fmt.Errorf("%s is too long", path)
	}
	if err != nil {
		return false, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, mark); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

// Take reads the task of a folder and removes it, since it may hold secrets.
func Take(dir string, task *Task) (bool, error) {
	ok, err := Read(dir, TaskFile, task)
	if !ok || err != nil {
		return false, err
	}
	return true, os.Remove(filepath.Join(dir, TaskFile))
}
