package sidecar

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Place is what a process can see of where it runs.
type Place struct {
	Environ   []string // "NAME=value"
	Mountinfo string   // of /proc/self/mountinfo
	Cgroup    string   // of /proc/self/cgroup
	Hostname  string
}

// ErrNoSelf tells that the engine runs no container that is the own one.
var ErrNoSelf = errors.New("the own container was not found")

// Self is the container that this process runs in.
type Self struct {
	ID    string
	Image string // the image's id
	// Workspace is the workspace's path on the engine's machine; "" where the
	// workspace is not mounted.
	Workspace string
	Labels    map[string]string
	Mode      container.NetworkMode
	Networks  []string // names

	host *container.HostConfig
	user string
}

// maxCompared bounds the containers whose environments are looked at.
const maxCompared = 50

// FindSelf finds the container that this process runs in. What the process can
// see of it are only candidates (under some runners they are another
// container's): one is taken if its environment is our own. Where no candidate
// is, all running containers are looked at. workspace is the workspace's path
// here. Its error is [ErrNoSelf] or the engine's.
func (e *Engine) FindSelf(ctx context.Context, p Place, workspace string) (*Self, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tried := map[string]bool{}
	try := func(ids []string) (*Self, error) {
		for _, id := range ids {
			if tried[id] {
				continue
			}
			tried[id] = true
			found, err := e.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
			if Gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if c := found.Container; c.Config != nil && c.HostConfig != nil && sameEnvironment(p.Environ, c.Config.Env) {
				return newSelf(c, workspace), nil
			}
		}
		return nil, nil
	}
	if self, err := try(p.Candidates()); self != nil || err != nil {
		return self, err
	}
	running, err := e.api.ContainerList(ctx, client.ContainerListOptions{})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range running.Items { // the latest first
		if _, ours := c.Labels[labelRun]; !ours && len(ids) < maxCompared {
			ids = append(ids, c.ID)
		}
	}
	self, err := try(ids)
	if err == nil && self == nil {
		err = ErrNoSelf
	}
	return self, err
}

func newSelf(c container.InspectResponse, workspace string) *Self {
	s := &Self{
		ID: c.ID, Image: c.Image, Labels: c.Config.Labels,
		Mode: c.HostConfig.NetworkMode, host: c.HostConfig, user: c.Config.User,
	}
	if c.NetworkSettings != nil {
		s.Networks = slices.Sorted(maps.Keys(c.NetworkSettings.Networks))
	}
	deepest := 0 // of the mounts that hold the workspace, the one that shows
	for _, m := range c.Mounts {
		rest, under := strings.CutPrefix(workspace, m.Destination)
		if under && len(m.Destination) > deepest && (rest == "" || rest[0] == '/') {
			s.Workspace, deepest = m.Source+rest, len(m.Destination)
		}
	}
	return s
}

var (
	containerPath = regexp.MustCompile(`/containers/([0-9a-f]{64})/`)
	containerID   = regexp.MustCompile(`[0-9a-f]{64}`)
	shortID       = regexp.MustCompile(`^[0-9a-f]{12}$`)
)

// Candidates are ids of containers that may be the own one, the likeliest first.
func (p Place) Candidates() []string {
	var out []string
	add := func(id string) {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, m := range containerPath.FindAllStringSubmatch(p.Mountinfo, -1) {
		add(m[1])
	}
	for _, id := range containerID.FindAllString(p.Cgroup, -1) {
		add(id)
	}
	if shortID.MatchString(p.Hostname) {
		add(p.Hostname)
	}
	return out
}

// sameEnvironment tells whether a process with the environment ours was started
// in a container configured with theirs. What an engine adds by itself is left
// out, and an environment without anything else proves nothing.
func sameEnvironment(ours, theirs []string) bool {
	a, b := environment(ours), environment(theirs)
	return len(a) > 0 && maps.Equal(a, b)
}

func environment(list []string) map[string]string {
	out := map[string]string{}
	for _, entry := range list {
		name, value, ok := strings.Cut(entry, "=")
		switch name {
		case "PATH", "HOSTNAME", "HOME", "TERM", "container":
			continue
		}
		if ok {
			out[name] = value
		}
	}
	return out
}

// OwnNetwork tells whether the container has a network of its own: not the
// machine's, and not another container's.
func (s *Self) OwnNetwork() bool { return !s.Mode.IsHost() && !s.Mode.IsContainer() }
