//go:build linux

package fronts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
)

const (
	oldVersion = "v1"
	newVersion = "v2"
)

// app is one app process and where it records what it did.
type app struct {
	*box.AppProcess
	version string
	record  string
}

// startApp starts an app of a version. It exits at once on SIGTERM, whatever is
// in flight, so that it drops what a front gives it for too long.
func startApp(ctx context.Context, dir, version string) (*app, error) {
	a := &app{version: version, record: filepath.Join(dir, version)}
	p, err := box.StartApp(ctx, box.AppOptions{
		Version: version, Instance: "web-" + version, Latency: 5 * time.Millisecond,
		OnTerm: box.TermExit, Record: a.record,
	})
	a.AppProcess = p
	return a, err
}

func (a *app) end() {
	a.Kill()
	<-a.Exited()
}

// done is what an app recorded of one request; a zero time: it did not come to that.
type done struct {
	took, answering, answered time.Time
}

// records is what an app recorded, by request id.
type records map[string]done

// read reads an app's record as it stands.
func (a *app) read() (records, error) {
	data, err := os.ReadFile(a.record)
	if err != nil {
		return nil, err
	}
	r := records{}
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written, or was when the app was killed
		}
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("record of %s: %q", a.version, line)
		}
		ns, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("record of %s: %w", a.version, err)
		}
		if err := r.note(f[0], f[1], time.Unix(0, ns)); err != nil {
			return nil, fmt.Errorf("record of %s: %w", a.version, err)
		}
	}
	delete(r, "-") // the wait for the front to come up
	return r, nil
}

func (r records) note(event, id string, at time.Time) error {
	d := r[id]
	var to *time.Time
	switch event {
	case box.Took:
		to = &d.took
	case box.Answering:
		to = &d.answering
	case box.Answered:
		to = &d.answered
	default:
		return fmt.Errorf("event %q", event)
	}
	if !to.IsZero() && id != "-" {
		return fmt.Errorf("%s %s a second time", event, id)
	}
	*to = at
	r[id] = d
	return nil
}

// serving returns once an app has answered n requests.
func (a *app) serving(ctx context.Context, n int) error {
	var failed error
	err := until(ctx, func() bool {
		r, err := a.read()
		if os.IsNotExist(err) {
			return false
		}
		answered := 0
		for _, d := range r {
			if !d.answered.IsZero() {
				answered++
			}
		}
		failed = err
		return err != nil || answered >= n
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%s does not serve: %w", a.version, err)
	}
	return nil
}

// pair is the two apps of a deploy. The new one is started by the deploy.
type pair struct {
	t        *testing.T
	dir      string
	old, new *app
	stop     span // in which old died
}

// span is a time in which something happened, on the wall clock.
type span struct{ from, to time.Time }

func startOld(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, dir: t.TempDir()}
	var err error
	if p.old, err = startApp(t.Context(), p.dir, oldVersion); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.old.end)
	return p
}

// startNew starts the new app, which ends with the test.
func (p *pair) startNew(ctx context.Context) (err error) {
	p.new, err = startApp(ctx, p.dir, newVersion)
	if err == nil {
		p.t.Cleanup(p.new.end)
	}
	return err
}

// stopOld ends old, by a signal or with violence, and returns once it is gone.
func (p *pair) stopOld(stop func()) {
	p.stop.from = time.Now()
	stop()
	<-p.old.Exited()
	p.stop.to = time.Now()
}

// bothRead reads both records at the end of a run.
func (p *pair) bothRead() (old, new records) {
	p.t.Helper()
	for _, a := range []struct {
		*app
		to *records
	}{{p.old, &old}, {p.new, &new}} {
		r, err := a.read()
		if err != nil {
			p.t.Fatal(err)
		}
		*a.to = r
	}
	return old, new
}
