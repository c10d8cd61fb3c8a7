package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// runnerUID owns a hosted runner's folders; steps in containers are root's.
const runnerUID = 1001

// stepTimeout bounds one step; none here waits for a quarter as long.
const stepTimeout = 5 * time.Minute

// job is one job on a runner of its own.
type job struct {
	t         *testing.T
	image     string
	label     string // of the runner
	network   string // "": the engine's default
	work      string // the runner's folder
	workspace string
	inputs    map[string]string // of every step, by name
	noSocket  bool              // the runner has no engine to offer

	mu    sync.Mutex
	state map[string]string // what main steps saved for their post steps
}

// newJob is a job whose every trace is looked for at the end.
func newJob(t *testing.T) *job {
	t.Helper()
	j := &job{t: t, image: needImage(t), label: randomHex(3), work: t.TempDir(), inputs: map[string]string{}, state: map[string]string{}}
	j.workspace = filepath.Join(j.work, "repository")
	for _, dir := range []string{j.workspace, j.temp(), j.temp("_github_home"), j.temp("_github_workflow"), j.temp("_runner_file_commands")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, runnerUID, runnerUID); err != nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(j.temp("_github_workflow", "event.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.checkNothingLeft)
	return j
}

// newJobOnNetwork is a job with services: it has a network of its own.
func newJobOnNetwork(t *testing.T) *job {
	t.Helper()
	j := newJob(t)
	name := "github_network_" + randomHex(16)
	mustDocker(t, "network", "create", "--label", j.label, name)
	t.Cleanup(func() { j.tidy("network", "rm", name) })
	j.network = name
	return j
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // it never fails
	return hex.EncodeToString(b)
}

func (j *job) temp(names ...string) string {
	return filepath.Join(append([]string{j.work, "_temp"}, names...)...)
}

// tidy runs a command of the engine's in a test's cleanup.
func (j *job) tidy(args ...string) {
	if _, err := docker(context.Background(), args...); err != nil {
		j.t.Error(err)
	}
}

// checkNothingLeft fails the test for every container, network and file of the
// job that is still there.
func (j *job) checkNothingLeft() {
	j.t.Helper()
	j.checkEngine()
	var left []string
	for _, dir := range []string{j.temp("_github_home"), j.temp()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			j.t.Error(err)
		}
		for _, e := range entries {
			// The trace of a finished probe is for the job's later steps; the
			// runner empties the folder at the job's end.
			if !strings.HasPrefix(e.Name(), "_") && !strings.HasSuffix(e.Name(), ".finished.json") {
				left = append(left, filepath.Join(dir, e.Name()))
			}
		}
	}
	entries, err := os.ReadDir(j.workspace)
	if err != nil {
		j.t.Error(err)
	}
	for _, e := range entries {
		if e.Name() != "cutwatch-report" && e.Name() != "deployed" {
			left = append(left, filepath.Join(j.workspace, e.Name()))
		}
	}
	if len(left) > 0 {
		j.t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}

// checkEngine fails the test for every container and network with the runner's
// label, or its box's, and removes them.
func (j *job) checkEngine() {
	j.t.Helper()
	for _, label := range []string{j.label, j.label + boxLabel} {
		for kind, list := range map[string][]string{
			"container": {"ps", "--all", "--filter", "label=" + label, "--format", "{{.ID}} {{.Names}} {{.Status}}"},
			"network":   {"network", "ls", "--filter", "label=" + label, "--format", "{{.ID}} {{.Name}}"},
		} {
			out, err := docker(context.Background(), list...)
			if err != nil {
				j.t.Error(err)
			}
			for line := range strings.Lines(out) {
				j.t.Errorf("a %s was left behind: %s", kind, line)
				j.tidy(kind, "rm", strings.Fields(line)[0])
			}
		}
	}
}

// containers lists those of the runner's label, "ID NAMES STATUS" each.
func (j *job) containers(ctx context.Context) []string {
	out, err := docker(ctx, "ps", "--all", "--filter", "label="+j.label, "--format", "{{.ID}} {{.Names}} {{.Status}}")
	if err != nil {
		j.t.Error(err)
	}
	return slices.DeleteFunc(strings.Split(out, "\n"), func(s string) bool { return s == "" })
}

// step is a step of the action that runs or has run.
type step struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     syncBuffer
	done    chan struct{}
	code    int
	begun   time.Time
	took    time.Duration
	outputs map[string]string
	state   map[string]string
	summary string
}

// run runs the action's main entry point as one step, to its end.
func (j *job) run(inputs map[string]string) *step {
	j.t.Helper()
	return j.begin("", inputs).wait()
}

// post runs the action's post entry point.
func (j *job) post(inputs map[string]string) *step {
	j.t.Helper()
	return j.begin(postEntry, inputs).wait()
}

// begin starts a step. entrypoint replaces the image's, as a post step's does.
func (j *job) begin(entrypoint string, inputs map[string]string) *step {
	j.t.Helper()
	commands := randomHex(8)
	file := func(kind string) string { return j.temp("_runner_file_commands", kind+"_"+commands) }
	for _, kind := range []string{"set_output", "save_state", "step_summary", "set_env", "add_path"} {
		if err := os.WriteFile(file(kind), nil, 0o666); err != nil {
			j.t.Fatal(err)
		}
	}
	env := j.environment(commands, inputs)
	if entrypoint != "" {
		j.mu.Lock()
		for name, value := range j.state {
			env["STATE_"+name] = value
		}
		j.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.t.Context()), stepTimeout)
	s := &step{t: j.t, done: make(chan struct{}), begun: time.Now()}
	s.cmd = exec.CommandContext(ctx, "docker", j.arguments(env, entrypoint)...)
	s.cmd.Env = os.Environ()
	for name, value := range env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the tests is not the step's
	if err := s.cmd.Start(); err != nil {
		cancel()
		j.t.Fatal(err)
	}
	go func() {
		defer cancel()
		defer close(s.done)
		err := s.cmd.Wait()
		s.took, s.code = time.Since(s.begun), s.cmd.ProcessState.ExitCode()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			s.out.Write([]byte(err.Error())) //nolint:errcheck // it never fails
		}
		s.outputs = readCommands(j.t, file("set_output"))
		s.state = readCommands(j.t, file("save_state"))
		summary, err := os.ReadFile(file("step_summary"))
		if err != nil {
			j.t.Error(err)
		}
		s.summary = string(summary)
		for _, kind := range []string{"set_output", "save_state", "step_summary", "set_env", "add_path"} {
			if err := os.Remove(file(kind)); err != nil {
				j.t.Error(err)
			}
		}
		if entrypoint == "" {
			j.mu.Lock()
			maps.Copy(j.state, s.state)
			j.mu.Unlock()
		}
	}()
	return s
}

// environment is what a runner gives a container action: the inputs with their
// defaults, and its own variables with paths as the container sees them.
func (j *job) environment(commands string, inputs map[string]string) map[string]string {
	env := map[string]string{
		"HOME":                    "/github/home",
		"GITHUB_JOB":              "deploy",
		"GITHUB_RUN_ID":           j.label + "0001",
		"GITHUB_RUN_NUMBER":       "7",
		"GITHUB_RUN_ATTEMPT":      "1",
		"GITHUB_REPOSITORY":       "octo-org/shop",
		"GITHUB_REPOSITORY_OWNER": "octo-org",
		"GITHUB_ACTOR":            "octocat",
		"GITHUB_WORKFLOW":         "deploy",
		"GITHUB_EVENT_NAME":       "push",
		"GITHUB_EVENT_PATH":       "/github/workflow/event.json",
		"GITHUB_REF":              "refs/heads/main",
		"GITHUB_SHA":              strings.Repeat("0123456789", 4),
		"GITHUB_SERVER_URL":       "https://github.invalid",
		"GITHUB_API_URL":          "https://api.github.invalid",
		"GITHUB_GRAPHQL_URL":      "https://api.github.invalid/graphql",
		"GITHUB_ACTION":           "cutwatch",
		"GITHUB_WORKSPACE":        "/github/workspace",
		"GITHUB_OUTPUT":           "/github/file_commands/set_output_" + commands,
		"GITHUB_STATE":            "/github/file_commands/save_state_" + commands,
		"GITHUB_STEP_SUMMARY":     "/github/file_commands/step_summary_" + commands,
		"GITHUB_ENV":              "/github/file_commands/set_env_" + commands,
		"GITHUB_PATH":             "/github/file_commands/add_path_" + commands,
		"RUNNER_OS":               "Linux",
		"RUNNER_ARCH":             "X64",
		"RUNNER_NAME":             "runner-" + j.label,
		"RUNNER_ENVIRONMENT":      "self-hosted",
		"RUNNER_TOOL_CACHE":       "/opt/hostedtoolcache",
		"RUNNER_TEMP":             "/github/runner_temp",
		"RUNNER_WORKSPACE":        j.work,
	}
	given := actionDefaults(j.t)
	given["job-status"] = "success" // its default is an expression
	maps.Copy(given, j.inputs)
	maps.Copy(given, inputs)
	for name, value := range given {
		env["INPUT_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_"))] = value
	}
	return env
}

// arguments are those of docker that a runner launches a container action with.
func (j *job) arguments(env map[string]string, entrypoint string) []string {
	name := strings.NewReplacer(":", "", "-", "").Replace(j.image) + "_" + randomHex(3)
	args := []string{"run", "--name", name, "--label", j.label, "--workdir", "/github/workspace", "--rm"}
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "-e", variable)
	}
	args = append(args, "-e", "GITHUB_ACTIONS=true", "-e", "CI=true")
	if entrypoint != "" {
		args = append(args, "--entrypoint", entrypoint)
	}
	if j.network != "" {
		args = append(args, "--network", j.network)
	}
	mounts := [][2]string{
		{"/var/run/docker.sock", "/var/run/docker.sock"},
		{j.temp(), "/github/runner_temp"},
		{j.temp("_github_home"), "/github/home"},
		{j.temp("_github_workflow"), "/github/workflow"},
		{j.temp("_runner_file_commands"), "/github/file_commands"},
		{j.workspace, "/github/workspace"},
	}
	if j.noSocket {
		mounts = mounts[1:]
	}
	for _, m := range mounts {
		args = append(args, "-v", m[0]+":"+m[1])
	}
	return append(append(args, j.image), actionArguments...)
}

// wait waits for the step's end.
func (s *step) wait() *step {
	<-s.done
	return s
}

// signal signals the client, as a runner does at a cancellation.
func (s *step) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// want fails the test where the step ended otherwise, or did not say what it must.
func (s *step) want(code int, says ...string) *step {
	s.t.Helper()
	<-s.done
	if s.code != code {
		s.t.Errorf("the step's exit code is %d, want %d:\n%s", s.code, code, s.out.String())
		return s
	}
	for _, text := range says {
		if !strings.Contains(s.out.String(), text) {
			s.t.Errorf("the step does not say %q:\n%s", text, s.out.String())
		}
	}
	return s
}

// syncBuffer is a buffer that can be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it; it never fails.
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
