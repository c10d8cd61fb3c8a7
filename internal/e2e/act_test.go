package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// actTimeout bounds one workflow.
const actTimeout = 8 * time.Minute

// workflow is one of testdata/workflows as act has run it.
type workflow struct {
	t       *testing.T
	name    string
	result  string                       // of the job
	steps   map[string]string            // id to result, of the main steps
	posts   map[string]string            // the same of the post steps
	outputs map[string]map[string]string // by step
	summary map[string]string            // by step
	log     string
}

// actLine is what the tests read of a line of act's log.
type actLine struct {
	Command, Name, Arg, Content string
	Stage                       string
	StepID                      []string
	StepResult, JobResult       string
	Msg                         string
}

// act runs a workflow. action.yml names an image, as it does in a release: that
// of these tests, which is built from the Dockerfile once and for all.
func act(t *testing.T, name string, vars map[string]string) *workflow {
	t.Helper()
	program, dir := needTool(t, actTool), actTree(t)
	args := []string{
		"workflow_dispatch", "--workflows", workflowsDir + "/" + name + ".yml", "--json", "--rm",
		// Steps run in a container of the action's own image: it has a shell, tail and wget.
		"--platform", "ubuntu-latest=" + needImage(t), "--pull=false",
	}
	for name, value := range vars {
		args = append(args, "--var", name+"="+value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), actTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it takes its containers along
	cmd.WaitDelay = commandTimeout
	home := t.TempDir() // it keeps a cache and settings there
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home)
	t.Cleanup(func() { checkActLeft(t, name) })
	out, err := cmd.CombinedOutput()
	w := readAct(t, name, string(out))
	if failed := err != nil; failed != (w.result == "failure") {
		t.Errorf("act ended with %v and the job with %q:\n%s", err, w.result, w.log)
	}
	return w
}

// readAct reads act's log.
func readAct(t *testing.T, name, text string) *workflow {
	w := &workflow{
		t: t, name: name, log: text,
		steps: map[string]string{}, posts: map[string]string{}, outputs: map[string]map[string]string{}, summary: map[string]string{},
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l actLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			continue // what act says before its log begins
		}
		if l.JobResult != "" {
			w.result = l.JobResult
		}
		if len(l.StepID) == 0 {
			continue
		}
		id := l.StepID[0]
		switch {
		case l.StepResult != "" && l.Stage == "Main":
			w.steps[id] = l.StepResult
		case l.StepResult != "" && l.Stage == "Post":
			w.posts[id] = l.StepResult
		case l.Command == "set-output":
			if w.outputs[id] == nil {
				w.outputs[id] = map[string]string{}
			}
			w.outputs[id][l.Name] = l.Arg
		case l.Command == "summary":
			w.summary[id] += l.Content
		}
	}
	return w
}

// want holds the job and some of its main steps to their results; "" is a step
// that did not run.
func (w *workflow) want(job string, steps map[string]string) {
	w.t.Helper()
	wrong := w.result != job
	for id, want := range steps {
		got := w.steps[id]
		if got == "skipped" {
			got = ""
		}
		wrong = wrong || got != want
	}
	if wrong {
		w.t.Errorf("%s: the job's result is %q and the steps' are %q, want %q and %q:\n%s", w.name, w.result, w.steps, job, steps, w.log)
	}
}

// wantTold holds a step to its verdict, in the outputs and in the summary.
func (w *workflow) wantTold(id, verdict, reason string) {
	w.t.Helper()
	out := w.outputs[id]
	if out["verdict"] != verdict || out["reason"] != reason {
		w.t.Errorf("%s: the outputs of %s are %q, want %s for %s", w.name, id, out, verdict, reason)
	}
	if !strings.Contains(w.summary[id], strings.ToUpper(verdict)) {
		w.t.Errorf("%s: the summary of %s does not say %s:\n%s", w.name, id, verdict, w.summary[id])
	}
}

// workflowsDir is where the workflows are.
const workflowsDir = "testdata/workflows"

// actTree is a repository with the workflows, and with the action as a release
// has it.
func actTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, workflowsDir), os.DirFS(filepath.Join(root, workflowsDir))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	released := strings.Replace(string(text), "\n  image: Dockerfile\n", "\n  image: docker://"+needImage(t)+"\n", 1)
	if released == string(text) {
		t.Fatal("action.yml names no Dockerfile")
	}
	if err := os.WriteFile(filepath.Join(dir, "action.yml"), []byte(released), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "--all"}, {"commit", "--quiet", "--message", "tree"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@cutwatch.invalid", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@cutwatch.invalid")
		if _, err := output(cmd); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// actVolume is where act keeps tools, of all runs.
const actVolume = "act-toolcache"

// checkActLeft looks for what a run of act left of its own, and removes it.
func checkActLeft(t *testing.T, name string) {
	for _, kind := range []string{"container", "volume", "network"} { // one that is in use cannot be removed
		list := []string{kind, "ls", "--filter", "name=act-" + name + "-", "--format", "{{.Name}}"}
		if kind == "container" {
			list = []string{kind, "ls", "--all", "--filter", "name=act-" + name + "-", "--format", "{{.Names}}"}
		}
		left, err := docker(context.Background(), list...)
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(left) {
			t.Errorf("act left behind a %s: %s", kind, line)
			if _, err := docker(context.Background(), kind, "rm", "--force", strings.TrimSpace(line)); err != nil {
				t.Error(err)
			}
		}
	}
}

// removeAct removes what act shares between runs, where it was used.
func removeAct() error {
	out, err := docker(context.Background(), "volume", "ls", "--filter", "name="+actVolume, "--format", "{{.Name}}")
	if err != nil || !slices.Contains(strings.Fields(out), actVolume) {
		return err
	}
	_, err = docker(context.Background(), "volume", "rm", actVolume)
	return err
}
