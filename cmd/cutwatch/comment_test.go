package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
	"github.com/cutwatch/cutwatch/internal/host"
	"github.com/cutwatch/cutwatch/internal/host/actions"
	"github.com/cutwatch/cutwatch/internal/host/enginetest"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// job is a job on an engine in memory, in which a probe records what it is given.
type job struct {
	engine *enginetest.Engine
	env    map[string]string
	inputs map[string]string
	out    bytes.Buffer
	log    bytes.Buffer
}

const eventOf12 = `{"pull_request": {"number": 12, "user": {"login": "mona"}, "head": {"sha": "1111111111111111111111111111111111111111", "repo": {"full_name": "octo/shop"}}}}`

func newJob(t *testing.T, gh *githubtest.Server) *job {
	t.Helper()
	workspace, temp := t.TempDir(), t.TempDir()
	t.Chdir(workspace)
	samples := filepath.Join(temp, run.SamplesFile)
	if err := sampletest.Write(samples, sampletest.Options{Samples: 5000}); err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(samples)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(temp, "event.json"), []byte(eventOf12), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &job{
		engine: enginetest.New(t),
		env: map[string]string{
			"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "deploy", "GITHUB_WORKFLOW": "release",
			"GITHUB_REPOSITORY": "octo/shop", "GITHUB_API_URL": gh.URL, "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": filepath.Join(temp, "event.json"),
			"GITHUB_WORKSPACE": workspace, "RUNNER_TEMP": temp,
			"GITHUB_OUTPUT": filepath.Join(temp, "output"), "GITHUB_STATE": filepath.Join(temp, "state"), "GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"),
		},
		inputs: map[string]string{"url": "http://service/", "github-token": "workflow", "comment": "auto"},
	}
	j.engine.Add(&enginetest.Container{
		Name: "step", Config: container.Config{Env: []string{"STEP=1"}}, Host: container.HostConfig{NetworkMode: "job-net"}, Networks: []string{"job-net"},
		Mounts: []container.MountPoint{{Source: "/work/repo", Destination: workspace}},
	})
	j.engine.OnStart = func(c *enginetest.Container) {
		mark(t, c, marker.BegunFile, marker.Begun{At: time.Now(), ReportDir: "cutwatch-report", MaxDuration: time.Hour})
		mark(t, c, marker.ReadyFile, marker.Ready{Requests: 330, Versions: []string{"v1"}})
		c.Put(sidecar.ReportDir+"/"+run.SamplesFile, record)
	}
	j.engine.OnFile = func(c *enginetest.Container, name string) {
		if name == sidecar.Dir+"/"+marker.StopFile {
			c.Exit(0)
		}
	}
	return j
}

func mark(t *testing.T, c *enginetest.Container, name string, mark any) {
	data, err := json.Marshal(mark)
	if err != nil {
		t.Error(err)
	}
	c.Put(sidecar.Dir+"/"+name, data)
}

// step runs a step of the job and returns its exit code.
func (j *job) step(t *testing.T, mode string) int {
	t.Helper()
	code, err := j.try(t, mode)
	if err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, j.log.String())
	}
	return code
}

// try is step of one that may be refused.
func (j *job) try(t *testing.T, mode string) (int, error) {
	t.Helper()
	j.out.Reset()
	getenv := func(name string) string { return j.env[name] }
	p := &program{streams: streams{out: &j.out, err: &j.log}, getenv: getenv}
	s := &step{
		program: p, runner: actions.New(&j.out, getenv), inAction: true,
		here: host.Surroundings{Getenv: getenv, Place: sidecar.Place{Environ: []string{"STEP=1"}}, Socket: j.engine.Socket, Program: "/usr/local/bin/cutwatch"},
		input: func(name string) string {
			if name == host.ModeInput {
				return mode
			}
			return j.inputs[name]
		},
	}
	return s.do(t.Context(), false)
}

// output is what the last step that set an output set it to.
func (j *job) output(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(j.env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	_, last, found := strings.Cut(string(text[max(0, strings.LastIndex(string(text), name+"<<")):]), "\n")
	if !found {
		t.Fatalf("there is no output %s in:\n%s", name, text)
	}
	value, _, _ := strings.Cut(last, "\n")
	if strings.HasPrefix(value, "cutwatch_") {
		return ""
	}
	return value
}

// The step that finishes a probe leaves the comment, the next one edits it, and
// who asks again is told where it is.
func TestFinishLeavesTheComment(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Open(githubtest.Pull{Number: 12}, "")
	j := newJob(t, gh)
	for round := range 2 {
		if code := j.step(t, host.Start); code != 0 {
			t.Fatalf("start exits with %d:\n%s", code, j.log.String())
		}
		code := j.step(t, host.Finish)
		all := gh.Comments(12)
		if len(all) != 1 || !strings.HasPrefix(all[0].Body, "<!-- cutwatch:v1 ") {
			t.Fatalf("round %d: comments %+v\n%s", round, all, j.log.String())
		}
		if got := j.output(t, "comment-url"); got != all[0].URL {
			t.Errorf("comment-url is %q, want %q", got, all[0].URL)
		}
		if strings.Contains(j.out.String(), "no comment") {
			t.Errorf("printed %s", j.out.String())
		}
		asked := len(gh.Requests())
		if again := j.step(t, host.Finish); again != code {
			t.Errorf("a second finish exits with %d, the first with %d", again, code)
		}
		if got := j.output(t, "comment-url"); got != all[0].URL || len(gh.Requests()) != asked {
			t.Errorf("a second finish says %q and asks GitHub %d times", got, len(gh.Requests())-asked)
		}
	}
}

// A probe that is lost leaves no verdict of an earlier one beside a failed job, and
// no comment where there was none.
func TestALostProbeIsSaid(t *testing.T) {
	for _, before := range []bool{false, true} {
		gh := githubtest.Start(t)
		gh.Open(githubtest.Pull{Number: 12}, "")
		j := newJob(t, gh)
		if before {
			j.step(t, host.Start)
			j.step(t, host.Finish)
		}
		j.step(t, host.Start)
		j.engine.Fail("GET list", http.StatusInternalServerError)
		if code := j.step(t, host.Finish); code != exitInconclusive {
			t.Errorf("finish exits with %d, want %d", code, exitInconclusive)
		}
		summary, err := os.ReadFile(j.env["GITHUB_STEP_SUMMARY"])
		if err != nil {
			t.Fatal(err)
		}
		const said = "**INCONCLUSIVE** the probe was lost: "
		if !strings.Contains(string(summary), said) {
			t.Errorf("the summary is\n%s", summary)
		}
		all := gh.Comments(12)
		if before && (len(all) != 1 || !strings.Contains(all[0].Body, said)) || !before && len(all) > 0 {
			t.Errorf("with a comment before: %v; comments %+v\n%s", before, all, j.out.String())
		}
	}
}

// What the start of the probe was given holds, unless this step is given another.
func TestOwnInputs(t *testing.T) {
	for _, tt := range []struct{ given, begun, want string }{
		{"", "", "auto"}, {"auto", "", "auto"}, {"auto", "never", "never"}, {"always", "never", "always"}, {"never", "auto", "never"},
	} {
		s := &step{inAction: true, input: func(string) string { return tt.given }}
		if got := s.own("comment", tt.begun); got != tt.want {
			t.Errorf("given %q, begun with %q: %q, want %q", tt.given, tt.begun, got, tt.want)
		}
	}
}

// Nobody who did not ask for it gets a comment, or a word about one.
func TestFinishWithoutAComment(t *testing.T) {
	gh := githubtest.Start(t)
	gh.Open(githubtest.Pull{Number: 12}, "")
	j := newJob(t, gh)
	j.inputs["comment"] = "never"
	j.step(t, host.Start)
	j.step(t, host.Finish)
	if asked := gh.Requests(); len(asked) > 0 || strings.Contains(j.out.String(), "no comment") {
		t.Errorf("GitHub was asked %+v; printed\n%s", asked, j.out.String())
	}
}

// What the user got wrong is said before the probe is ended.
func TestFinishRefusesWrongInputs(t *testing.T) {
	gh := githubtest.Start(t)
	j := newJob(t, gh)
	j.step(t, host.Start)
	for name, value := range map[string]string{"comment": "sometimes", "comment-key": strings.Repeat("k", 300), "github-token": "two words"} {
		before := j.inputs[name]
		j.inputs[name] = value
		_, err := j.try(t, host.Finish)
		bad, ok := errors.AsType[*config.InputError](err)
		if !ok || bad.Input != name || strings.Contains(err.Error(), "two words") {
			t.Errorf("%s: %q: error %v", name, value, err)
		}
		j.inputs[name] = before
	}
	j.step(t, host.Finish)
	if j.output(t, "verdict") == "" {
		t.Error("the probe was not left to be finished")
	}
}

func TestFinishWithoutAToken(t *testing.T) {
	gh := githubtest.Start(t)
	j := newJob(t, gh)
	j.inputs["github-token"] = ""
	j.step(t, host.Start)
	j.step(t, host.Finish)
	if want := "::notice title=Cutwatch::no comment: github-token is empty; "; !strings.Contains(j.out.String(), want) || len(gh.Requests()) > 0 {
		t.Errorf("printed\n%s", j.out.String())
	}
}

// A GitHub in trouble changes nothing but that there is no comment.
func TestFinishWithoutGitHub(t *testing.T) {
	codes := map[bool]int{}
	for _, broken := range []bool{false, true} {
		gh := githubtest.Start(t)
		gh.Open(githubtest.Pull{Number: 12}, "")
		if broken {
			gh.Before = func(w http.ResponseWriter, r *http.Request) bool {
				githubtest.Refuse(w, http.StatusInternalServerError, "oops")
				return true
			}
		}
		j := newJob(t, gh)
		j.step(t, host.Start)
		codes[broken] = j.step(t, host.Finish)
		notice := "::notice title=Cutwatch::no comment on #12: GitHub had trouble of its own (500); the report is in the job's summary\n"
		if strings.Contains(j.out.String(), notice) != broken {
			t.Errorf("broken is %v: printed\n%s", broken, j.out.String())
		}
		if got := j.output(t, "comment-url"); (got == "") != broken {
			t.Errorf("broken is %v: comment-url is %q", broken, got)
		}
		if j.output(t, "verdict") == "" {
			t.Errorf("broken is %v: no verdict", broken)
		}
	}
	if codes[true] != codes[false] {
		t.Errorf("exit codes %v by whether GitHub is broken", codes)
	}
}
