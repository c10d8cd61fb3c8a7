package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	maxResultFile = 16 << 20 // bytes: 1,000 failures take about 1 MB
	maxHistory    = 1000     // results
	maxRequests   = 1 << 40  // of one run
	episodeGap    = 10       // requests: failures no further apart are one episode
)

// ReadHistory gathers what earlier results, files named result.json in dir or
// folders below it, say of failures that were no deploy's, and the headlines of
// the last of them. A file that cannot
// be used is left out and named in passed; an error means that dir cannot be
// read.
func ReadHistory(dir string) (h *sample.History, passed []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder of earlier results", format.Quote(dir, 200))
	}
	past := map[pastKey]*sample.Past{}
	h = &sample.History{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || d.Name() != "result.json" || h.Runs >= maxHistory {
			return nil
		}
		r, err := ReadResult(path)
		if err != nil {
			passed = append(passed, fmt.Sprintf("%s: %v", path, err))
			return nil
		}
		for _, one := range r.single() {
			gather(h, past, one)
		}
		return nil
	})
	if err != nil {
		return nil, passed, fmt.Errorf("the folder of earlier results cannot be read: %w", err)
	}
	finishHistory(h, past)
	return h, passed, nil
}

// AddHistory adds results to a history that may be nil; without results it is
// given back as it is.
func AddHistory(h *sample.History, results []*Result) *sample.History {
	if len(results) == 0 {
		return h
	}
	out, past := &sample.History{}, map[pastKey]*sample.Past{}
	if h != nil {
		*out = *h
		out.Deploys, out.Kinds = slices.Clone(h.Deploys), nil
		for _, k := range h.Kinds {
			past[pastKey{k.Class, k.Status, k.By}] = &k
		}
	}
	for _, r := range results {
		gather(out, past, r)
	}
	finishHistory(out, past)
	return out
}

// single is the results of single runs that a result is of.
func (r *Result) single() []*Result {
	if len(r.Runs) == 0 {
		return []*Result{r}
	}
	var out []*Result
	for _, one := range append(slices.Clone(r.Runs), r.Control) {
		if one != nil && sensible(one) {
			out = append(out, one)
		}
	}
	return out
}

// gather takes one run into a history.
func gather(h *sample.History, past map[pastKey]*sample.Past, r *Result) {
	h.Runs++
	h.Requests += r.Requests.Total
	if headline := AsPast(r); Sane(headline) {
		h.Deploys = append(h.Deploys, headline)
	}
	gatherPast(past, r)
}

func finishHistory(h *sample.History, past map[pastKey]*sample.Past) {
	h.Deploys = lastDeploys(h.Deploys)
	for _, p := range past {
		h.Kinds = append(h.Kinds, *p)
	}
	slices.SortFunc(h.Kinds, func(a, b sample.Past) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Status, b.Status), cmp.Compare(a.By, b.By))
	})
}

// sensible tells whether a result's counts can be those of a run.
func sensible(r *Result) bool {
	return r.Requests.Total >= 0 && r.Requests.Total <= maxRequests && r.DurationMS >= 0
}

// ReadResult reads a result.json of any Cutwatch of this schema. What it holds is
// not trusted.
func ReadResult(path string) (*Result, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	text, err := io.ReadAll(io.LimitReader(f, maxResultFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxResultFile {
		return nil, fmt.Errorf("it is larger than %s bytes", format.Count(maxResultFile))
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("it is not a result: %w", err)
	}
	if r.Schema != 1 {
		return nil, fmt.Errorf("it is of schema %d, not 1", r.Schema)
	}
	if !sensible(&r) {
		return nil, errors.New("its counts make no sense")
	}
	return &r, nil
}

// pastKey is what makes failures of earlier runs alike.
type pastKey struct {
	class  sample.Class
	status int
	by     string
}

func keyOf(f Failure) pastKey {
	k := pastKey{class: sample.Class(f.Class)}
	if f.Status != nil {
		k.status = *f.Status
	}
	if f.AnsweredBy != nil {
		k.by = *f.AnsweredBy
	}
	return k
}

// gatherPast counts the episodes of one result's background.
func gatherPast(past map[pastKey]*sample.Past, r *Result) {
	gap := 0.0
	if r.Requests.Total > 0 {
		gap = episodeGap * r.DurationMS / float64(r.Requests.Total)
	}
	type open struct {
		until float64
		size  int
	}
	now := map[pastKey]*open{}
	for _, f := range r.Failures { // in order of start
		if f.Attribution != "background" {
			continue
		}
		k := keyOf(f)
		p, e := past[k], now[k]
		if p == nil {
			p = &sample.Past{Class: k.class, Status: k.status, By: k.by}
			past[k] = p
		}
		if e == nil || f.StartedMS > e.until+gap {
			e = &open{}
			now[k] = e
			p.Episodes++
		}
		e.size++
		e.until = max(e.until, f.EndedMS)
		p.Largest = max(p.Largest, e.size)
	}
}
