package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cutwatch/cutwatch/internal/host/sidecar"
)

// Surroundings is what a process can see of where it runs.
type Surroundings struct {
	Getenv func(string) string
	Place  sidecar.Place
	Routes string // of /proc/net/route
	Socket string // of the Docker engine
	// Dockerenv tells whether the file is there that an engine puts into its containers.
	Dockerenv bool
	// Program is the own program's path; "": it is asked for.
	Program string
}

// Here is where this process runs. What cannot be read is left empty: it is
// evidence of nothing then.
func Here(getenv func(string) string) Surroundings {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			return ""
		}
		return string(text)
	}
	hostname, err := os.Hostname()
	if err != nil {
		hostname = ""
	}
	_, err = os.Stat("/.dockerenv")
	return Surroundings{
		Getenv: getenv,
		Place: sidecar.Place{
			Environ: os.Environ(), Mountinfo: read("/proc/self/mountinfo"), Cgroup: read("/proc/self/cgroup"), Hostname: hostname,
		},
		Routes: read("/proc/net/route"), Socket: sidecar.Socket, Dockerenv: err == nil,
	}
}

// Workspace is the job's folder here; "" outside of a job.
func (s Surroundings) Workspace() string { return s.Getenv("GITHUB_WORKSPACE") }

// Key is what tells the probe of that id from others on the machine, but for
// the workspace.
func (s Surroundings) Key(id string) sidecar.Key {
	return sidecar.Key{
		Run: s.Getenv("GITHUB_RUN_ID"), Attempt: s.Getenv("GITHUB_RUN_ATTEMPT"), Job: s.Getenv("GITHUB_JOB"), ID: id,
	}
}

// MarksFolder is the folder in which the steps of this job leave each other
// marks about the probe of that id. In a job it is in the runner's temporary
// folder, or in the workspace where steps do not share the former; elsewhere it
// is the user's own.
func (s Surroundings) MarksFolder(id string) string {
	k := s.Key(id)
	if id == "" {
		id = "probe"
	}
	if k.Run == "" {
		return filepath.Join(os.TempDir(), fmt.Sprintf("cutwatch-%d", os.Getuid()), id)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Run, k.Attempt, k.Job, s.Workspace()}, "\x00")))
	name := "cutwatch-" + hex.EncodeToString(sum[:6]) + "-" + id
	temp := s.Getenv("RUNNER_TEMP")
	if temp != "" && (!s.inContainer() || mounted(temp, s.Place.Mountinfo)) || s.Workspace() == "" {
		return filepath.Join(temp, name)
	}
	return filepath.Join(s.Workspace(), "."+name)
}

func (s Surroundings) inContainer() bool { return s.Dockerenv || len(s.Place.Candidates()) > 0 }

// mounted tells whether a folder is on a mount of its own, not on the root.
func mounted(dir, mountinfo string) bool {
	dir = path.Clean(dir)
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if len(f) > 4 && f[4] != "/" && (dir == f[4] || strings.HasPrefix(dir, f[4]+"/")) {
			return true
		}
	}
	return false
}

// MakeMarksFolder makes it, for nobody else than the owner of the folder above,
// and refuses one that is somebody else's.
func MakeMarksFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := ownFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return OwnLike(filepath.Dir(dir), dir)
}

// ownFolder refuses a folder that another user can have prepared for us in a
// temporary folder that all users share.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || ok && os.Getuid() != 0 && int(stat.Uid) != os.Getuid() && strings.HasPrefix(filepath.Base(dir), "cutwatch-") {
		return fmt.Errorf("%s is not a folder of your own", dir)
	}
	return nil
}

// OwnLike gives files and folders, not what is in them, to the owner of a
// folder. Only root can, and for others there is nothing to do.
func OwnLike(folder string, paths ...string) error {
	if os.Getuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 && stat.Gid == 0 {
		return nil
	}
	for _, p := range paths {
		if err := os.Lchown(p, int(stat.Uid), int(stat.Gid)); err != nil {
			return err
		}
	}
	return nil
}
