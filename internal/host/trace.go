package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/format"
)

// Trace is what stays of a probe that was finished, for the rest of the job.
type Trace struct {
	Headline string            `json:"headline"`
	ExitCode int               `json:"exit_code"`
	Outputs  map[string]string `json:"outputs"`
}

const traceFile = ".finished.json" // behind the marks folder's name

// Leave leaves a trace. Outside of a job nobody looks for one.
func (s Surroundings) Leave(id string, t Trace, log Log) {
	if s.Key(id).Run == "" {
		return
	}
	dir := s.MarksFolder(id)
	if err := marker.Write(filepath.Dir(dir), filepath.Base(dir)+traceFile, t); err != nil {
		log.note("later steps cannot be told that the probe was finished: %v", err)
	}
}

// Finished is the trace of a probe of that id in this job.
func (s Surroundings) Finished(id string) (Trace, bool) {
	var t Trace
	if s.Key(id).Run == "" {
		return t, false
	}
	dir := s.MarksFolder(id)
	ok, err := marker.Read(filepath.Dir(dir), filepath.Base(dir)+traceFile, &t)
	t.Headline = format.Clean(t.Headline, maxLine)
	return t, ok && err == nil
}

// Forget removes the marks and the trace of a probe that has ended.
func (s Surroundings) Forget(id string) error {
	dir := s.MarksFolder(id)
	err := os.Remove(dir + traceFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// OpenMarks makes the marks folder of a probe within this step.
func (s Surroundings) OpenMarks(id string) (string, error) {
	dir := s.MarksFolder(id)
	if l, ok := FindLocal(dir); ok && l.Alive() {
		return "", &config.InputError{Input: "id", Problem: Named(id) + " is running already; give each probe of a job an id of its own"}
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, MakeMarksFolder(dir)
}

// dismissWithin is how long a step may take to see that no deploy came.
const dismissWithin = 15 * time.Second

// Dismiss ends a probe whose deploy did not take place, without a judgement.
func (s Surroundings) Dismiss(ctx context.Context, p Probe) error {
	ctx, cancel := context.WithTimeout(ctx, dismissWithin)
	defer cancel()
	if l, ok := p.(Local); ok && l.Alive() {
		if err := l.Mark(ctx, marker.StopFile, marker.Stop{Outcome: marker.Skipped}); err != nil {
			return err
		}
		if _, err := l.Wait(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return p.Remove(ctx)
}
