package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"time"
)

// boxServer is a platform in a box in a container of its own.
type boxServer struct {
	job     *job
	id      string
	url     string
	slow    string // address of slow requests
	control string // address of the request to deploy, which is answered when it has
	events  chan boxEvent
}

// boxEvent is what a box tells of its life; see `cutwatch box`.
type boxEvent struct {
	Event      string
	OldVersion string `json:"old_version"` // of truth, as are the following
	NewVersion string `json:"new_version"`
	Requests   int
	Answered   int
	Unfinished int
	Drops      []struct {
		ID    string
		Kind  string
		Owner string
		Slow  bool
	}
	Repeated []string
	Scene    struct {
		Probe struct {
			SlowSeconds float64 `json:"slow_seconds"`
		}
	}
}

// boxTimeout bounds the wait for each thing that a box does.
const boxTimeout = time.Minute

// boxLabel is added to the label of a job's runner for its boxes.
const boxLabel = "-box"

// Where a box serves.
const (
	boxPort     = "8080"
	controlPort = "8081"
)

// newBox starts a scene's platform on the job's network, and returns once it
// serves. It is no part of the job: a service that others run.
func (j *job) newBox(scene string) *boxServer {
	j.t.Helper()
	args := []string{"run", "--detach", "--label", j.label + "-box"}
	host := ""
	if j.network != "" {
		host = "shop"
		args = append(args, "--network", j.network, "--network-alias", host)
	}
	args = append(args, j.image, "box", "--scene", scene, "--listen", "0.0.0.0:"+boxPort, "--control", "0.0.0.0:"+controlPort)
	b := &boxServer{job: j, id: mustDocker(j.t, args...), events: make(chan boxEvent, 10)}
	j.t.Cleanup(func() { j.tidy("rm", "--force", "--volumes", b.id) })
	if host == "" {
		host = mustDocker(j.t, "inspect", "--format", "{{.NetworkSettings.IPAddress}}", b.id)
	}
	b.url = "http://" + host + ":" + boxPort + "/"
	b.slow = b.url + "slow?seconds={seconds}"
	b.control = "http://" + host + ":" + controlPort + "/"
	b.follow()
	b.await("ready")
	return b
}

// follow reads the box's events until its end.
func (b *boxServer) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "docker", "logs", "--follow", b.id)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		b.job.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(b.events)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var e boxEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				b.job.t.Errorf("the box says %q: %v", lines.Text(), err)
				return
			}
			b.events <- e
		}
	}()
	b.job.t.Cleanup(func() {
		cancel()
		<-read
		cmd.Wait() //nolint:errcheck // it was killed
	})
}

// await waits for an event.
func (b *boxServer) await(event string) boxEvent {
	b.job.t.Helper()
	timer := time.NewTimer(boxTimeout)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-b.events:
			if !ok {
				log, err := docker(context.Background(), "logs", b.id)
				b.job.t.Fatalf("the box ended before it was %s: %v %s", event, err, log)
			}
			if e.Event == event {
				return e
			}
		case <-timer.C:
			b.job.t.Fatalf("the box was not %s within %s", event, boxTimeout)
		}
	}
}

// deploy has the box deploy, and returns once old has stopped: the deploy step.
func (b *boxServer) deploy() {
	b.job.t.Helper()
	b.beginDeploy()
	b.await("deployed")
}

func (b *boxServer) beginDeploy() {
	b.job.t.Helper()
	mustDocker(b.job.t, "kill", "--signal", "USR1", b.id)
	b.await("deploying")
}

// truth ends the box and returns its own record.
func (b *boxServer) truth() boxEvent {
	b.job.t.Helper()
	mustDocker(b.job.t, "stop", "--time", "30", b.id)
	return b.await("truth")
}

// lost is the ids of the requests that the deploy dropped.
func (e boxEvent) lost() []string {
	var ids []string
	for _, d := range e.Drops {
		if d.Owner == "deploy" {
			ids = append(ids, d.ID)
		}
	}
	return ids
}
