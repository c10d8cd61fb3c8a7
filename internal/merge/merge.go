// Package merge makes one verdict of the results of several probes that watched
// the same deploy from different places: from two regions, say, or inside and
// outside of a network.
//
// The sum is [report.Sum]'s: the worst verdict, with every reason behind the
// name of its place. What it adds is that the results belong together: those of
// two different deploys earn no pass.
package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Read reads results: files, or folders of them, of which every result.json is
// one that has no other above it. They are named by what tells their paths
// apart. An error names the path that is no result,
// or none that a run can have written, and its field.
func Read(paths []string) ([]report.Part, error) {
	var files []string
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	parts := make([]report.Part, len(files))
	for i, name := range names(files) {
		r, err := report.ReadResult(files[i])
		if err != nil {
			return nil, fmt.Errorf("%s is no result: %w", format.Quote(files[i], 200), err)
		}
		if err := check(r); err != nil {
			return nil, fmt.Errorf("%s cannot be merged: %w", format.Quote(files[i], 200), err)
		}
		parts[i] = report.Part{Name: name, Result: r}
	}
	return parts, nil
}

// resultFile is the name of a result in a folder.
const resultFile = "result.json"

// maxResults bounds what is read.
const maxResults = 100

// find is the results that a path names.
func find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", format.Quote(path, 200), err)
	}
	if !info.IsDir() {
		return []string{filepath.Clean(path)}, nil
	}
	var found []string
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		file := filepath.Join(at, resultFile)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if found = append(found, file); len(found) > maxResults {
			return fmt.Errorf("it holds over %d results", maxResults)
		}
		return fs.SkipDir // below it are the single runs of a series
	})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", format.Quote(path, 200), err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s holds no %s", format.Quote(path, 200), resultFile)
	}
	return found, nil
}

// names are short names for files: what is left of their paths without the
// folders that all of them share, before and behind.
func names(files []string) []string {
	split := make([][]string, len(files))
	for i, file := range files {
		file = strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(file), "/"+resultFile), ".json")
		split[i] = strings.Split(file, "/")
	}
	shared := func(at func([]string) string) bool {
		for _, s := range split {
			if len(s) < 2 || at(s) != at(split[0]) {
				return false
			}
		}
		return true
	}
	for shared(func(s []string) string { return s[0] }) {
		for i := range split {
			split[i] = split[i][1:]
		}
	}
	for shared(func(s []string) string { return s[len(s)-1] }) {
		for i := range split {
			split[i] = split[i][:len(split[i])-1]
		}
	}
	out := make([]string, len(files))
	for i, s := range split {
		out[i] = format.Name(strings.Join(s, "/"), 60)
	}
	return out
}

// Judge is the one result of all, and its exit code: that of the worst verdict,
// or that the deploy itself failed. warn lets an inconclusive one pass with 0.
// There must be at least one part.
func Judge(parts []report.Part, warn bool) (*report.Result, verdict.Verdict) {
	r := report.Sum(parts)
	if why := apart(parts); why != "" {
		reason := report.Reason{Code: "different-deploys", Message: why}
		switch r.Verdict {
		case verdict.Pass:
			r.Verdict, r.Reasons = verdict.Inconclusive, []report.Reason{reason}
		default: // a drop that was proven stays proven
			r.Reasons = append(r.Reasons, reason)
		}
	}
	v := verdict.Verdict{Verdict: r.Verdict, ExitCode: verdict.ExitInconclusive}
	for _, reason := range r.Reasons {
		v.Reasons = append(v.Reasons, verdict.Reason(reason))
	}
	switch {
	case r.Deploy.Outcome == sample.Failed:
		v.ExitCode = verdict.ExitDeployFailed
	case r.Verdict == verdict.Fail:
		v.ExitCode = verdict.ExitFail
	case r.Verdict == verdict.Pass, warn:
		v.ExitCode = verdict.ExitPass
	}
	return r, v
}

// apart says why results cannot be of one deploy; "" where nothing speaks
// against it.
func apart(parts []report.Part) string {
	for i, a := range parts {
		for _, b := range parts[:i] {
			if !overlap(a.Result, b.Result) {
				return fmt.Sprintf("%s and %s did not probe at the same time, so they did not see one deploy: merge the results of one run", b.Name, a.Name)
			}
			newA, newB := newIDs(a.Result), newIDs(b.Result)
			if len(newA) > 0 && len(newB) > 0 && !slices.ContainsFunc(newA, func(id string) bool { return slices.Contains(newB, id) }) {
				return fmt.Sprintf("%s saw %s as the new version, and %s saw %s: merge the results of one deploy", b.Name, format.Name(newB[0], 60), a.Name, format.Name(newA[0], 60))
			}
		}
	}
	return ""
}

// clocks is how far the clocks of two machines may be apart.
const clocks = 5 * time.Minute

// overlap tells whether two runs were under way at one time, or may have been.
func overlap(a, b *report.Result) bool {
	fromA, errA := time.Parse(time.RFC3339Nano, a.StartedAt)
	fromB, errB := time.Parse(time.RFC3339Nano, b.StartedAt)
	if errA != nil || errB != nil {
		return true // nothing speaks against it
	}
	return !fromA.After(end(fromB, b).Add(clocks)) && !fromB.After(end(fromA, a).Add(clocks))
}

func end(from time.Time, r *report.Result) time.Time {
	return from.Add(time.Duration(r.DurationMS * float64(time.Millisecond)))
}

func newIDs(r *report.Result) []string {
	var out []string
	for _, v := range r.Versions {
		if v.Role == "new" {
			out = append(out, v.ID)
		}
	}
	return out
}
