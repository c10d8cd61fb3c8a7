package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// boxCmd is `cutwatch box`: a scene's platform as a server of its own, that
// deploys when it is told to: by SIGUSR1, or by a request to its control address,
// which is answered once old has stopped. It tells its life on stdout, one JSON object a
// line with an event: ready (it serves; with the scene), deploying, deployed
// (old's stop included), and truth (what it dropped, by its own record) when
// SIGINT or SIGTERM ends it.
type boxCmd struct {
	Scene   string `name:"scene" default:"app-platform" help:"Which platform and deploy; see cutwatch demo --list."`
	Seed    int64  `name:"seed" default:"1" help:"Of what is random in a scene."`
	Listen  string `name:"listen" default:"0.0.0.0:8080" help:"Where to serve."`
	Control string `name:"control" help:"Where to take the request to deploy. Default: nowhere."`
}

func (c *boxCmd) main(ctx context.Context, p *program) (int, error) {
	scene, err := box.NewScene(c.Scene, c.Seed, false)
	if err != nil {
		return 0, &config.InputError{Input: "scene", Problem: err.Error()}
	}
	scene.Listen = c.Listen
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)

	b, err := box.Start(ctx, scene)
	if err != nil {
		return 0, err
	}
	l := &boxLife{box: b, out: p.out, deploy: make(chan struct{}), deployed: make(chan struct{})}
	go l.onSignal(ctx, signals)
	err = l.control(ctx, c.Control)
	if err == nil {
		err = l.live(ctx)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return 0, err
	}
	return 0, say(p.out, newBoxTruth(b.Truth()))
}

// boxLife is one box from its start to its end.
type boxLife struct {
	box      *box.Box
	out      io.Writer
	begin    sync.Once
	deploy   chan struct{} // closed when it is told to deploy
	deployed chan struct{} // closed when it has
}

// tell has it deploy; only the first time counts.
func (l *boxLife) tell() { l.begin.Do(func() { close(l.deploy) }) }

func (l *boxLife) onSignal(ctx context.Context, signals <-chan os.Signal) {
	select {
	case <-signals:
		l.tell()
	case <-ctx.Done():
	}
}

// control takes requests to deploy until ctx is done.
func (l *boxLife) control(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for control: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.tell()
		select {
		case <-l.deployed:
			fmt.Fprintln(w, "deployed")
		case <-r.Context().Done():
		}
	})}
	context.AfterFunc(ctx, func() { server.Close() }) //nolint:errcheck // the process ends
	go server.Serve(ln)                               //nolint:errcheck // until it is closed
	return nil
}

// live returns once ctx is done.
func (l *boxLife) live(ctx context.Context) error {
	if err := say(l.out, map[string]any{"event": "ready", "scene": l.box.Scene()}); err != nil {
		return err
	}
	err := l.roll(ctx)
	if ctx.Err() != nil {
		return nil // it was told to end, at whatever point
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// roll deploys when it is told to.
func (l *boxLife) roll(ctx context.Context) error {
	select {
	case <-l.deploy:
	case <-ctx.Done():
		return nil
	}
	if err := say(l.out, map[string]any{"event": "deploying"}); err != nil {
		return err
	}
	if err := l.box.Rollout().Run(ctx, func(sample.Signal) {}); err != nil {
		return err
	}
	if err := l.box.Wait(ctx); err != nil {
		return err
	}
	close(l.deployed)
	return say(l.out, map[string]any{"event": "deployed"})
}

// boxTruth is what a box knows of a deploy, for other programs. Times are
// milliseconds since its start; null: it did not happen.
type boxTruth struct {
	Event      string    `json:"event"`
	OldVersion string    `json:"old_version"`
	NewVersion string    `json:"new_version"`
	Requests   int       `json:"requests"` // without follow-ups
	Answered   int       `json:"answered"`
	Unfinished int       `json:"unfinished"` // in flight at the end, or given up by the client
	FollowUps  int       `json:"follow_ups"`
	Drops      []boxDrop `json:"drops"`
	Repeated   []string  `json:"repeated"` // ids that came more than once
	OverlapMS  *float64  `json:"overlap_ms"`
	DrainMS    *float64  `json:"drain_ms"`
}

type boxDrop struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"`
	Slow      bool    `json:"slow"`
	Owner     string  `json:"owner"`
	ArrivedMS float64 `json:"arrived_ms"`
	EndedMS   float64 `json:"ended_ms"`
}

func newBoxTruth(t box.Truth) boxTruth {
	out := boxTruth{
		Event: "truth", OldVersion: t.OldVersion, NewVersion: t.NewVersion,
		Requests: t.Requests, Answered: t.Answered, Unfinished: t.InFlight + t.Gone, FollowUps: t.FollowUps,
		Drops: []boxDrop{}, Repeated: append([]string{}, t.Repeated...),
		OverlapMS: millis(t.Overlap), DrainMS: millis(t.Drain),
	}
	for _, d := range t.Drops {
		out.Drops = append(out.Drops, boxDrop{d.ID, d.Kind, d.Slow, d.Owner, *millis(&d.Arrived), *millis(&d.At)})
	}
	return out
}

func millis(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(float64(*d) / float64(time.Millisecond))
}

func say(out io.Writer, event any) error {
	if err := json.NewEncoder(out).Encode(event); err != nil {
		return fmt.Errorf("telling of the box: %w", err)
	}
	return nil
}
