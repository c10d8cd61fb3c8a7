package sidecar

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/cutwatch/cutwatch/internal/deploy/marker"
)

// Probe is a probe's container.
type Probe struct {
	ID      string
	Name    string
	Key     Key
	Created time.Time
	Running bool

	engine *Engine
}

// Find finds the probes of a key, the latest first.
func (e *Engine) Find(ctx context.Context, k Key) ([]*Probe, error) { return e.list(ctx, k.filters()) }

// Leftovers finds the probes of a key's workspace and id, those of other jobs too.
func (e *Engine) Leftovers(ctx context.Context, k Key) ([]*Probe, error) {
	return e.list(ctx, k.place())
}

func (e *Engine) list(ctx context.Context, f client.Filters) ([]*Probe, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	found, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: f})
	if err != nil {
		return nil, err
	}
	var out []*Probe
	for _, c := range found.Items {
		p := &Probe{
			ID: c.ID, Name: c.ID[:min(12, len(c.ID))], Created: time.Unix(c.Created, 0),
			Running: c.State == container.StateRunning || c.State == container.StatePaused, engine: e,
			Key: Key{c.Labels[labelRun], c.Labels[labelAttempt], c.Labels[labelJob], c.Labels[labelWorkspace], c.Labels[labelID]},
		}
		if len(c.Names) > 0 {
			p.Name = c.Names[0]
		}
		out = append(out, p)
	}
	return out, nil
}

// Options is what a probe's container is started with.
type Options struct {
	Key     Key
	Command []string // the program and its arguments
	Task    marker.Task
	Files   []File // beside the task
}

// Start starts a sibling of self: from the same image, on the same networks,
// with the same labels and the key's. The task is copied into it, so that no
// secret of it shows in the container's settings. What could not be started is
// removed again.
func (e *Engine) Start(ctx context.Context, self *Self, o Options) (*Probe, error) {
	name, err := newName(o.Key.ID)
	if err != nil {
		return nil, err
	}
	task, err := json.Marshal(o.Task)
	if err != nil {
		return nil, err
	}
	made, err := e.api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name: name, Config: self.config(o), HostConfig: self.hostConfig(), NetworkingConfig: self.networking(),
	})
	if err != nil {
		return nil, fmt.Errorf("the engine does not make the probe's container: %w", err)
	}
	p := &Probe{ID: made.ID, Name: name, Key: o.Key, Running: true, Created: time.Now(), engine: e}
	files := append([]File{
		{Path: Dir + "/"}, {Path: ReportDir + "/"},
		{Path: Dir + "/" + marker.TaskFile, Data: task},
	}, o.Files...)
	err = p.put(ctx, files)
	if err == nil {
		err = p.connect(ctx, self)
	}
	if err == nil {
		_, err = e.api.ContainerStart(ctx, p.ID, client.ContainerStartOptions{})
	}
	if err != nil {
		err = fmt.Errorf("the probe's container cannot be started: %w", err)
		if removeErr := p.Remove(context.WithoutCancel(ctx)); removeErr != nil {
			err = fmt.Errorf("%w (and not be removed: %w)", err, removeErr)
		}
		return nil, err
	}
	return p, nil
}

// newName is a name for a container that no other has.
func newName(id string) (string, error) {
	b := make([]byte, 4)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	if id != "" {
		id += "-"
	}
	return "cutwatch-" + id + hex.EncodeToString(b), nil
}

func (s *Self) config(o Options) *container.Config {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, o.Key.Labels())
	return &container.Config{
		Image: s.Image, User: s.user, Labels: labels,
		Entrypoint: o.Command[:1], Cmd: o.Command[1:], WorkingDir: "/",
	}
}

func (s *Self) hostConfig() *container.HostConfig {
	h := &container.HostConfig{
		NetworkMode: s.Mode,
		DNS:         s.host.DNS, DNSOptions: s.host.DNSOptions, DNSSearch: s.host.DNSSearch, ExtraHosts: s.host.ExtraHosts,
		UsernsMode: s.host.UsernsMode, SecurityOpt: s.host.SecurityOpt, Runtime: s.host.Runtime,
		// Logs that can be read again, whatever the engine does with others.
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "20m"}},
	}
	if s.Mode.IsContainer() {
		// What the network's owner has set holds.
		h.DNS, h.DNSOptions, h.DNSSearch, h.ExtraHosts = nil, nil, nil, nil
	}
	return h
}

// networking has the container begin on the first of several networks.
func (s *Self) networking() *network.NetworkingConfig {
	if !s.Mode.IsUserDefined() {
		return nil
	}
	return &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{string(s.Mode): {}}}
}

// connect puts the container on the other networks.
func (p *Probe) connect(ctx context.Context, s *Self) error {
	if s.Mode.IsHost() || s.Mode.IsContainer() || s.Mode.IsNone() {
		return nil
	}
	for _, name := range s.Networks {
		if name == s.Mode.NetworkName() || s.Mode.IsDefault() && name == "bridge" {
			continue
		}
		if _, err := p.engine.api.NetworkConnect(ctx, name, client.NetworkConnectOptions{Container: p.ID}); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits until the probe has ended and returns its exit code.
func (p *Probe) Wait(ctx context.Context) (int, error) {
	w := p.engine.api.ContainerWait(ctx, p.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case done := <-w.Result:
		return int(done.StatusCode), nil
	case err := <-w.Error:
		return 0, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Signal sends the probe a signal; that it has ended already is no error.
func (p *Probe) Signal(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err := p.engine.api.ContainerKill(ctx, p.ID, client.ContainerKillOptions{Signal: name})
	if ended(err) {
		return nil
	}
	return err
}

// Remove ends the probe, if it still runs, and removes its container.
func (p *Probe) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err := p.engine.api.ContainerRemove(ctx, p.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if Gone(err) {
		return nil
	}
	return err
}
