package sidecar_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"

	"github.com/cutwatch/cutwatch/internal/host/enginetest"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
)

var (
	idA = strings.Repeat("a", 64)
	idB = strings.Repeat("b", 64)
)

func TestCandidates(t *testing.T) {
	const mounts = "681 660 8:1 /var/lib/docker/containers/%/resolv.conf /etc/resolv.conf rw - ext4 /dev/sda1 rw\n" +
		"682 660 8:1 /var/lib/docker/containers/%/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n" +
		"683 660 8:1 /work/_temp /github/runner_temp rw - ext4 /dev/sda1 rw\n"
	for _, tt := range []struct {
		name  string
		place sidecar.Place
		want  []string
	}{
		{"nothing", sidecar.Place{Hostname: "runner-1"}, nil},
		{"mounts", sidecar.Place{Mountinfo: strings.ReplaceAll(mounts, "%", idA), Hostname: "runner-1"}, []string{idA}},
		{"cgroup v1", sidecar.Place{Cgroup: "9:pids:/docker/" + idB + "\n8:cpu:/docker/" + idB + "\n"}, []string{idB}},
		{"systemd", sidecar.Place{Cgroup: "0::/system.slice/docker-" + idB + ".scope\n"}, []string{idB}},
		{"a name of its own", sidecar.Place{Hostname: "0123456789ab"}, []string{"0123456789ab"}},
		{"all, each once", sidecar.Place{Mountinfo: strings.ReplaceAll(mounts, "%", idA), Cgroup: "1:x:/docker/" + idA, Hostname: idB[:12]}, []string{idA, idB[:12]}},
	} {
		if diff := cmp.Diff(tt.want, tt.place.Candidates()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func dial(t *testing.T, e *enginetest.Engine) *sidecar.Engine {
	t.Helper()
	out, err := sidecar.Dial(t.Context(), e.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out
}

// stepOf is a container of a step, with that environment.
func stepOf(id string, env ...string) *enginetest.Container {
	return &enginetest.Container{
		ID: id, Config: container.Config{Env: env, Labels: map[string]string{"runner": ""}},
		Host:   container.HostConfig{NetworkMode: "net1"},
		Mounts: []container.MountPoint{{Source: "/home", Destination: "/github"}, {Source: "/work/repo", Destination: "/github/workspace"}},
	}
}

func TestFindSelf(t *testing.T) {
	ours := []string{"PATH=/bin", "HOME=/root", "HOSTNAME=x", "INPUT_URL=http://h/", "GITHUB_ACTION=a"}
	for _, tt := range []struct {
		name  string
		a, b  []string // the environments of two containers; candidates point to a
		found string   // "": none
	}{
		{"the candidate", []string{"PATH=/other", "INPUT_URL=http://h/", "GITHUB_ACTION=a"}, nil, idA},
		{"the candidate is another's, as under act", []string{"INPUT_URL=http://other/", "GITHUB_ACTION=a"}, []string{"INPUT_URL=http://h/", "GITHUB_ACTION=a"}, idB},
		{"less than ours", []string{"INPUT_URL=http://h/"}, nil, ""},
		{"more than ours", []string{"INPUT_URL=http://h/", "GITHUB_ACTION=a", "MORE=1"}, nil, ""},
		{"nothing to compare", []string{"PATH=/bin"}, []string{"HOME=/root"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := enginetest.New(t)
			e.Add(stepOf(idA, tt.a...))
			e.Add(stepOf(idB, tt.b...))
			place := sidecar.Place{Environ: ours, Cgroup: "1:x:/docker/" + idA}
			self, err := dial(t, e).FindSelf(t.Context(), place, "/github/workspace")
			if tt.found == "" {
				if !errors.Is(err, sidecar.ErrNoSelf) {
					t.Errorf("found %+v, %v", self, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if self.ID != tt.found || self.Workspace != "/work/repo" || !self.OwnNetwork() {
				t.Errorf("found %+v", self)
			}
		})
	}
}

func TestAnEmptyEnvironmentIsNobodys(t *testing.T) {
	e := enginetest.New(t)
	e.Add(stepOf(idA))
	if self, err := dial(t, e).FindSelf(t.Context(), sidecar.Place{Hostname: idA[:12]}, ""); !errors.Is(err, sidecar.ErrNoSelf) {
		t.Errorf("found %+v, %v", self, err)
	}
}

func TestDialSaysWhatIsMissing(t *testing.T) {
	for _, socket := range []string{t.TempDir() + "/none", t.TempDir()} {
		if _, err := sidecar.Dial(t.Context(), socket); !errors.Is(err, sidecar.ErrNoEngine) || !strings.Contains(err.Error(), socket) {
			t.Errorf("%s: error %v", socket, err)
		}
	}
	e := enginetest.New(t)
	e.Stop()
	if _, err := sidecar.Dial(t.Context(), e.Socket); !errors.Is(err, sidecar.ErrNoEngine) {
		t.Errorf("an engine that went away: %v", err)
	}
}
