package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
	"github.com/cutwatch/cutwatch/internal/run"
)

// ErrNoProbe tells that no probe of the job's goes on.
var ErrNoProbe = errors.New("no probe is running")

// Find finds the probe of that id in this job: a container, a process or another
// step. Its error is [ErrNoProbe], or that it could not be looked for.
func (s Surroundings) Find(ctx context.Context, id string, containers bool, log Log) (Probe, error) {
	var lost error
	if containers {
		p, err := s.findSibling(ctx, id, log)
		if p != nil {
			return p, nil
		}
		lost = err
	}
	if l, ok := FindLocal(s.MarksFolder(id)); ok {
		return l, nil
	}
	if lost != nil && !errors.Is(lost, sidecar.ErrNoEngine) {
		return nil, lost
	}
	if lost != nil {
		return nil, fmt.Errorf("%w (and a container cannot be looked for: %w)", ErrNoProbe, lost)
	}
	return nil, ErrNoProbe
}

// findSibling is the job's probe in a container; nil where there is none.
func (s Surroundings) findSibling(ctx context.Context, id string, log Log) (Probe, error) {
	e, self, err := s.engine(ctx)
	if err != nil && (e == nil || !errors.Is(err, sidecar.ErrNoSelf)) {
		return nil, err
	}
	key := s.Key(id)
	if self != nil {
		key.Workspace = self.Workspace
	}
	found, err := e.Find(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("the Docker engine cannot be asked for the probe: %w", err)
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
	default:
		if self == nil {
			return nil, fmt.Errorf("%d probes with this job's labels run on this machine, and the own container was not found to tell them apart", len(found))
		}
		for _, older := range found[1:] {
			log.note("removing a second probe of this job: %s", format.Clean(older.Name, 80))
			if err := older.Remove(ctx); err != nil {
				log.note("%v", err)
			}
		}
	}
	return Sibling{found[0]}, nil
}

// Finishing is what the step that finishes a probe says of it.
type Finishing struct {
	Outcome   string               // of the deploy's step
	ReportDir string               // as the user wrote it
	Policy    func(*config.Config) // changes the inputs that the run is judged by; nil: none
}

// Collect waits for the probe's end, brings its record into the report folder,
// judges it and removes the probe. An error means that there is no judgement.
func (s Surroundings) Collect(ctx context.Context, p Probe, f Finishing, log Log) (*run.Outcome, string, error) {
	steady := context.WithoutCancel(ctx)
	endErr := AwaitEnd(ctx, p, f.Outcome, log)
	out, dir, err := s.judge(steady, p, f, log)
	if err != nil {
		err = errors.Join(endErr, err)
	} else if endErr != nil {
		log.note("%v", endErr)
	}
	if removeErr := p.Remove(steady); removeErr != nil {
		log.note("the probe cannot be removed: %v", removeErr)
	}
	return out, dir, err
}

// fetchTimeout bounds the copying of a record.
const fetchTimeout = 2 * time.Minute

// judge judges what the probe recorded and says in which folder that is.
func (s Surroundings) judge(ctx context.Context, p Probe, f Finishing, log Log) (*run.Outcome, string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	var changes []func(*config.Config)
	if f.Policy != nil {
		changes = append(changes, f.Policy)
	}
	dir, err := s.fetch(ctx, p, f.ReportDir)
	sibling, isSibling := p.(Sibling)
	var out *run.Outcome
	switch {
	case err == nil:
		out, err = judgeFile(filepath.Join(dir, run.SamplesFile), changes)
	case isSibling: // a full disk, say: the verdict needs none
		log.note("the probe's record is judged, and lost: %v", err)
		out, err = sibling.judge(ctx, changes)
	}
	if err != nil {
		return nil, dir, err
	}
	// The judgement stands whether or not its files can be written.
	for _, err := range []error{run.WriteResult(dir, out.Result), run.WriteHTML(dir, out), s.OwnReport(dir)} {
		if err != nil {
			log.note("%v", err)
		}
	}
	return out, dir, nil
}

// fetch brings the probe's record into its folder.
func (s Surroundings) fetch(ctx context.Context, p Probe, given string) (string, error) {
	dir, err := s.recordDir(ctx, p, given)
	if err != nil {
		return dir, err
	}
	if err := p.Fetch(ctx, dir); err != nil {
		return dir, fmt.Errorf("what the probe recorded cannot be fetched: %w", err)
	}
	return dir, nil
}

func judgeFile(samples string, changes []func(*config.Config)) (*run.Outcome, error) {
	if _, err := os.Stat(samples); err != nil {
		return nil, fmt.Errorf("the probe recorded nothing: there is no %s", samples)
	}
	out, err := run.Judge(samples, changes...)
	if err != nil {
		return nil, fmt.Errorf("what the probe recorded cannot be judged: %w", err)
	}
	return out, nil
}

// judge judges what the probe recorded where it is, in its container.
func (s Sibling) judge(ctx context.Context, changes []func(*config.Config)) (*run.Outcome, error) {
	samples, err := s.Open(ctx, run.SamplesFile)
	if err != nil {
		return nil, fmt.Errorf("what the probe recorded cannot be read in its container: %w", err)
	}
	defer samples.Close()
	out, err := run.JudgeFrom(samples, run.SamplesFile, changes...)
	if err != nil {
		return nil, fmt.Errorf("what the probe recorded cannot be judged: %w", err)
	}
	return out, nil
}

// recordDir is the folder for the record. A probe on this machine has written it
// to the one of its own; that of a container goes to the one that this step was
// given, else to the one that its start was given.
func (s Surroundings) recordDir(ctx context.Context, p Probe, given string) (string, error) {
	var begun marker.Begun
	ok, err := p.Read(ctx, marker.BegunFile, &begun)
	if _, local := p.(Local); local {
		if err == nil && !ok {
			err = errors.New("its beginning is not marked")
		}
		if err != nil {
			return given, fmt.Errorf("where the probe's record is cannot be known: %w", err)
		}
		if filepath.IsAbs(begun.ReportDir) {
			return begun.ReportDir, nil
		}
		return filepath.Join(s.Workspace(), begun.ReportDir), nil
	}
	dir := given
	if err == nil && ok && begun.ReportDir != "" && given == config.Default().ReportDir {
		dir = begun.ReportDir
	}
	for _, name := range []string{run.SamplesFile, run.ResultFile, run.HTMLFile} { // of an earlier run
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return dir, &config.InputError{Input: "report-dir", Problem: fmt.Sprintf("an earlier record cannot be removed (%v); give another folder", err)}
		}
	}
	return dir, config.PrepareReportDir(dir)
}

// OwnReport gives the files of a report, and the folders of the workspace that
// lead to them, to the workspace's owner.
func (s Surroundings) OwnReport(dir string) error {
	workspace := s.Workspace()
	if workspace == "" {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var paths []string
	for _, folder := range append(run.Folders(dir), dir) {
		for _, name := range []string{run.SamplesFile, run.ResultFile, run.HTMLFile, "."} {
			path := filepath.Join(folder, name)
			if _, err := os.Lstat(path); err == nil {
				paths = append(paths, path)
			}
		}
	}
	rel, err := filepath.Rel(workspace, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil // not in the workspace: whoever owns that folder owns it
	}
	for ; rel != "."; rel = filepath.Dir(rel) {
		paths = append(paths, filepath.Join(workspace, rel))
	}
	return OwnLike(workspace, paths...)
}
