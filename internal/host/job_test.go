package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cutwatch/cutwatch/internal/host/sidecar"
	"github.com/cutwatch/cutwatch/internal/run"
)

// at is the surroundings of a process with that environment.
func at(env map[string]string) Surroundings {
	return Surroundings{Getenv: func(name string) string { return env[name] }}
}

func TestMarksFolder(t *testing.T) {
	job := map[string]string{"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "deploy", "GITHUB_WORKSPACE": "/github/workspace", "RUNNER_TEMP": "/github/runner_temp"}
	with := func(name, value string) map[string]string {
		out := map[string]string{name: value}
		for k, v := range job {
			if k != name {
				out[k] = v
			}
		}
		return out
	}
	const mounts = "1 2 0:1 / / rw - overlay overlay rw\n3 1 8:1 /work/_temp /github/runner_temp rw - ext4 /dev/sda1 rw\n"
	inContainer := func(env map[string]string, mountinfo string) Surroundings {
		s := at(env)
		s.Dockerenv, s.Place = true, sidecar.Place{Mountinfo: mountinfo}
		return s
	}
	for _, tt := range []struct {
		name   string
		where  Surroundings
		prefix string
	}{
		{"a runner's container", inContainer(job, mounts), "/github/runner_temp/cutwatch-"},
		{"below a mount", inContainer(with("RUNNER_TEMP", "/github/runner_temp/x"), mounts), "/github/runner_temp/x/cutwatch-"},
		{"a container whose temporary folder is its own", inContainer(with("RUNNER_TEMP", "/tmp"), mounts), "/github/workspace/.cutwatch-"},
		{"a container without one", inContainer(with("RUNNER_TEMP", ""), mounts), "/github/workspace/.cutwatch-"},
		{"the machine itself", at(with("RUNNER_TEMP", "/tmp/_temp")), "/tmp/_temp/cutwatch-"},
		{"no job", at(nil), filepath.Join(os.TempDir(), "cutwatch-")},
	} {
		if got := tt.where.MarksFolder("web"); !strings.HasPrefix(got, tt.prefix) || !strings.HasSuffix(got, "web") {
			t.Errorf("%s: %s, want it to begin with %s", tt.name, got, tt.prefix)
		}
	}
	seen := map[string]string{}
	for _, env := range []map[string]string{job, with("GITHUB_RUN_ID", "8"), with("GITHUB_RUN_ATTEMPT", "2"), with("GITHUB_JOB", "x"), with("GITHUB_WORKSPACE", "/w")} {
		for _, id := range []string{"", "web"} {
			dir := at(env).MarksFolder(id)
			if other, twice := seen[dir]; twice {
				t.Errorf("%s is the folder of %v and of %s", dir, env, other)
			}
			seen[dir] = env["GITHUB_RUN_ID"] + id
		}
	}
}

func TestMakeMarksFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cutwatch-1", "probe")
	for range 2 { // it may be there
		if err := MakeMarksFolder(dir); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700: the task in it holds secrets", info.Mode(), err)
	}
}

func TestMarksFolderThatIsALinkIsRefused(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	link := filepath.Join(parent, "cutwatch-1")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if err := MakeMarksFolder(filepath.Join(link, "probe")); err == nil {
		t.Error("a folder behind a link was taken")
	}
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

func TestReportIsOwnedLikeItsWorkspace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	workspace := t.TempDir()
	dir := filepath.Join(workspace, "out", "report")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{run.ResultFile, run.SamplesFile, run.HTMLFile, "of-others"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(workspace, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if err := at(map[string]string{"GITHUB_WORKSPACE": workspace}).OwnReport(dir); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"out": 1234, "out/report": 1234, "out/report/" + run.ResultFile: 1234, "out/report/" + run.SamplesFile: 1234, "out/report/" + run.HTMLFile: 1234, "out/report/of-others": 0,
	} {
		if got := ownerOf(t, filepath.Join(workspace, path)); got != want {
			t.Errorf("%s belongs to %d, want %d", path, got, want)
		}
	}
	outside := t.TempDir()
	if err := at(map[string]string{"GITHUB_WORKSPACE": workspace}).OwnReport(outside); err != nil || ownerOf(t, outside) != 0 {
		t.Errorf("a folder outside of the workspace was given away (%v)", err)
	}
}

func TestTraces(t *testing.T) {
	s := at(map[string]string{"GITHUB_RUN_ID": "7", "RUNNER_TEMP": t.TempDir(), "GITHUB_WORKSPACE": t.TempDir()})
	if _, ok := s.Finished("web"); ok {
		t.Error("finished before it was")
	}
	s.Leave("web", Trace{Headline: "PASS", ExitCode: 3, Outputs: map[string]string{"verdict": "pass"}}, silent)
	got, ok := s.Finished("web")
	if !ok || got.ExitCode != 3 || got.Headline != "PASS" || got.Outputs["verdict"] != "pass" {
		t.Errorf("trace %+v, %v", got, ok)
	}
	if _, ok := s.Finished("api"); ok {
		t.Error("another probe's trace was taken")
	}
	if err := s.Forget("web"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Finished("web"); ok {
		t.Error("not forgotten")
	}
	if err := s.Forget("web"); err != nil {
		t.Errorf("forgotten twice: %v", err)
	}
}

// silent is a log that nobody reads.
var silent = Log{Note: func(string) {}, Probe: func(string) {}}
