// Package run lives one run's life: baseline, deploy, cutover, settle, tail,
// judgement. It is where the clock, the signals and the files meet; what it
// records is judged by reading it back, so that `cutwatch analyze` of the same
// file gives the same judgement by construction.
package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/probe"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Names of the files in a report folder.
const (
	SamplesFile = "samples.ndjson.zst"
	ResultFile  = "result.json"
	HTMLFile    = "report.html"
)

// Options is what a run needs beside its inputs.
type Options struct {
	Config *config.Config // valid, its ReportDir prepared
	Deploy deploy.Source  // nil: the first cutover, or a signal, ends the run
	// Unsure: Deploy may never tell that the deploy begins. Until it does, the
	// first cutover ends the run, as without a source.
	Unsure bool
	// Ready, unless nil, is told what the baseline showed, once it is in and
	// before Deploy runs.
	Ready func(Seen)
	// GiveUp is how long a service may give no good answer at all before the
	// baseline is given up, where the deploy would not begin without one; 0: as
	// long as the baseline is.
	GiveUp time.Duration
	// Control: there is no deploy, and the run ends after this time; 0: it is a
	// run as any.
	Control time.Duration
	// Part: the result is part of a larger one and has no file of its own.
	Part bool
	// Earlier is results that count as history, beside those of the input.
	Earlier []*report.Result
	Version string   // of cutwatch, for the head of the samples
	Command []string // what Deploy runs; only its first word is recorded

	Platform *sample.Platform // what the platform that is followed is set to; nil: unknown

	Resolver *net.Resolver // nil: the system's

	Progress io.Writer // nil: silent
	Live     bool      // Progress is a terminal
}

// Seen is what the baseline showed.
type Seen struct {
	At                  time.Duration // since the run's start
	Requests, Failed    int
	Versions, Instances []string // in the order of the alphabet; untrusted text
}

// Run probes, deploys, records and judges. When ctx is done it stops probing,
// has the deploy ended and judges what there is. The outcome is complete even
// where result.json could not be written, which progress then says. An error
// means that there is no judgement; one of the user's doing is a
// [config.InputError].
func Run(ctx context.Context, o Options) (*Outcome, error) {
	r, p, err := begin(o)
	if err != nil {
		return nil, err
	}
	end, err := r.live(ctx, p)
	if closeErr := r.out.Close(end); closeErr != nil && r.lostErr == nil {
		r.progress.Note("the end of the samples could not be written: %v", closeErr)
	}
	r.progress.Close()
	if err != nil {
		return nil, fmt.Errorf("the run broke off; what was recorded until then is in %s: %w", r.path, err)
	}
	out, err := Judge(r.path)
	if err != nil {
		return nil, fmt.Errorf("what was recorded cannot be judged: %w", err)
	}
	if err := WriteHTML(o.Config.ReportDir, out); err != nil {
		r.progress.Note("%v", err)
	}
	if o.Part {
		return out, nil
	}
	if err := WriteResult(o.Config.ReportDir, out.Result); err != nil {
		r.progress.Note("%v", err)
	}
	return out, nil
}

// begin opens the samples file and makes the probe; nothing is sent.
func begin(o Options) (*runner, *probe.Probe, error) {
	dir := o.Config.ReportDir
	// An earlier run's result must not stand beside this run's samples.
	for _, file := range []string{ResultFile, HTMLFile} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &config.InputError{Input: "report-dir", Problem: fmt.Sprintf("an earlier result cannot be removed (%v); give another folder", err)}
		}
	}
	id, err := newID()
	if err != nil {
		return nil, nil, err
	}
	progress := newProgress(o.Progress, o.Live)
	history, err := readHistory(o.Config.History, progress)
	if err != nil {
		return nil, nil, err
	}
	history = report.AddHistory(history, o.Earlier)
	r := &runner{
		o: o, cfg: o.Config,
		path:     filepath.Join(dir, SamplesFile),
		start:    time.Now(),
		tracker:  newTracker(o.Config, o.Deploy != nil && !o.Unsure),
		progress: progress,
		history:  history,
		lost:     make(chan struct{}),
		deployed: make(chan any, 1),
	}
	if r.out, err = sample.Create(r.path, r.head(id)); err != nil {
		return nil, nil, &config.InputError{Input: "report-dir", Problem: fmt.Sprintf("the samples cannot be written (%v); give a folder that can be written to", err)}
	}
	p, err := probe.New(o.Config, id, r.start, r.record)
	if err != nil {
		return nil, nil, errors.Join(err, r.out.Close(sample.End{Reason: sample.EndNoAnswer, Message: "the probe could not be made"}))
	}
	if o.Resolver != nil {
		p.Resolve(o.Resolver)
	}
	if o.Platform != nil {
		r.record(sample.Line{Platform: o.Platform})
	}
	if timed, ok := o.Deploy.(deploy.Timed); ok {
		timed.StartedAt(r.start)
	}
	return r, p, nil
}

func (r *runner) head(id string) sample.Run {
	h := sample.Run{
		Schema:    1,
		Cutwatch:  r.o.Version,
		ID:        id,
		StartedAt: r.start.UTC().Format("2006-01-02T15:04:05.000Z"),
		Config:    r.cfg.Recorded(),
		History:   r.history,
	}
	if r.o.Deploy != nil && !r.o.Unsure {
		h.Deploy = r.o.Deploy.Name()
	}
	if len(r.o.Command) > 0 {
		h.Command = r.o.Command[:1]
	}
	return h
}

// readHistory reads the earlier results, if a folder of them was given.
func readHistory(dir string, progress *progress) (*sample.History, error) {
	if dir == "" {
		return nil, nil
	}
	h, passed, err := report.ReadHistory(dir)
	if err != nil {
		return nil, &config.InputError{Input: "history", Problem: fmt.Sprintf("%v; give a folder that holds result.json files, or none", err)}
	}
	for _, p := range passed {
		progress.Note("an earlier result is left out: %s", p)
	}
	return h, nil
}

// newID is a run's id: six hexadecimal digits.
func newID() (string, error) {
	b := make([]byte, 3)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("no random numbers for the run's id: %w", err)
	}
	return hex.EncodeToString(b), nil
}
