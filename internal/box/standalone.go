package box

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

// standaloneDeadline bounds the graceful shutdown of an app without a box.
const standaloneDeadline = 30 * time.Second

// Events in an app's record.
const (
	Took      = "took"      // a request was read whole
	Answering = "answering" // its answer is about to be written
	Answered  = "answered"  // its answer was written whole
)

// AppOptions is an app that runs without a box, behind a front of the caller's.
type AppOptions struct {
	Version  string
	Instance string
	Latency  time.Duration // of a fast answer
	OnTerm   string        // TermExit, TermGraceful or TermIgnore

	// Record is a file that the app appends one line an event to: "EVENT ID
	// TIME", with the request's X-Cutwatch-Id ("-" without one) and the wall
	// clock in Unix nanoseconds. Each line is written at once, so that the
	// record stands when the app is killed. "": none is kept.
	Record string
}

// AppProcess is an app that runs without a box. It ends with this process at
// the latest.
type AppProcess struct{ in *instance }

// StartApp starts an app and returns once it accepts on a port of 127.0.0.1. ctx
// bounds the start alone; it is the caller's to kill. The program must call
// [MaybeRunApp] first of all.
func StartApp(ctx context.Context, o AppOptions) (*AppProcess, error) {
	in, err := startInstance(ctx, appConfig{
		Version: o.Version, Instance: o.Instance, Record: o.Record,
		LatencyMin: o.Latency, OnTerm: o.OnTerm, Deadline: standaloneDeadline,
	}, false)
	if err != nil {
		return nil, err
	}
	return &AppProcess{in}, nil
}

// Addr is where it accepts, "127.0.0.1:port".
func (p *AppProcess) Addr() string { return p.in.addr }

// Terminate sends SIGTERM. An app that is gone already needs none.
func (p *AppProcess) Terminate() { p.in.terminate() }

// Kill sends SIGKILL. An app that is gone already needs none.
func (p *AppProcess) Kill() { p.in.kill() }

// Exited is closed once the process is gone and waited for.
func (p *AppProcess) Exited() <-chan struct{} { return p.in.exited }

// openRecord opens the app's record; nil where none is kept.
func openRecord(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	return f, nil
}

// note appends an event to the record. A record with a hole would be taken for
// the truth: the app ends where it cannot be written.
func (a *app) note(event string, req *http.Request) {
	if a.record == nil {
		return
	}
	id := req.Header.Get("X-Cutwatch-Id")
	if id == "" {
		id = "-"
	}
	if _, err := fmt.Fprintf(a.record, "%s %s %d\n", event, id, time.Now().UnixNano()); err != nil {
		fmt.Fprintln(os.Stderr, "box app: write the record:", err)
		os.Exit(1)
	}
}
