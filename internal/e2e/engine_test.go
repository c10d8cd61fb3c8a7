package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is the repository, seen from this package.
const root = "../.."

// commandTimeout bounds a question to the engine, which a starved machine
// answers late.
const commandTimeout = time.Minute

// runVar has the tests with containers run. They build images and play whole jobs
// for minutes, and want the engine to themselves.
const runVar = "CUTWATCH_E2E"

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

// runAll runs the tests, and looks for containers of the image that not even
// the tests' own labels would show.
func runAll(m *testing.M) int {
	flag.Parse()
	// These tests wait far more than they work, whatever the number of cores.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	before := everything()
	code := m.Run()
	if err := errors.Join(tools.remove(), image.remove(), before.grown()); err != nil {
		fmt.Fprintln(os.Stderr, "left behind:", err)
		code = 1
	}
	return code
}

// inventory is what an engine has, and the temporary files that are ours, each as
// it is called.
type inventory map[string]bool

// everything is what is there now; nothing where containers are not asked for.
func everything() inventory {
	found := inventory{}
	if os.Getenv(runVar) == "" {
		return found
	}
	for kind, list := range map[string][]string{
		"container": {"ps", "--all", "--format", "{{.ID}} {{.Names}} {{.Command}}"},
		"network":   {"network", "ls", "--format", "{{.ID}} {{.Name}}"},
		"volume":    {"volume", "ls", "--format", "{{.Name}}"},
	} {
		out, err := docker(context.Background(), list...)
		if err != nil {
			continue // without an engine nothing is run either
		}
		for line := range strings.Lines(out) {
			found[kind+" "+strings.TrimSpace(line)] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "cutwatch*"))
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, f := range files {
		found["file "+f] = true
	}
	return found
}

// grown is an error that names what there is now, and was not before.
func (before inventory) grown() error {
	var left []string
	for name := range everything() {
		if !before[name] {
			left = append(left, name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return errors.New(strings.Join(left, ", "))
}

// docker runs the engine's client and returns its standard output.
func docker(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	return output(exec.CommandContext(ctx, "docker", args...))
}

// output is a command's standard output; its error has what it said.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// mustDocker is docker for what cannot go wrong.
func mustDocker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := docker(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// needEngine skips a test that was not asked for, or for which there is no engine;
// for want of that it fails in CI.
func needEngine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("containers take their time, and -short was given")
	}
	if os.Getenv(runVar) == "" {
		t.Skipf("set %s=1 to build the image and play whole jobs with it", runVar)
	}
	_, err := exec.LookPath("docker")
	if err == nil {
		_, err = docker(t.Context(), "version", "--format", "{{.Server.Version}}")
	}
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must run this test, and there is no Docker engine: %v", err)
	}
	t.Skipf("there is no Docker engine: %v", err)
}

// built is the action's image, built once for all tests.
type built struct {
	once sync.Once
	tag  string
	took time.Duration
	err  error
}

var image built

// needImage builds the image where no test has yet, and returns its tag.
func needImage(t *testing.T) string {
	t.Helper()
	needEngine(t)
	image.once.Do(image.build)
	if image.err != nil {
		t.Fatal(image.err)
	}
	return image.tag
}

// buildTimeout bounds the base images and the build.
const buildTimeout = 10 * time.Minute

func (b *built) build() {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	bases := exec.CommandContext(ctx, root+"/.ci/base-images")
	bases.Stderr = os.Stderr
	if _, b.err = output2(bases); b.err != nil {
		return
	}
	begin := time.Now()
	stage, err := b.run(ctx, "--target", "build")
	if err != nil {
		b.err = err
		return
	}
	tag := fmt.Sprintf("cutwatch-e2e:%d", os.Getpid())
	if _, b.err = b.run(ctx, "--tag", tag); b.err != nil {
		return
	}
	b.tag, b.took = tag, time.Since(begin)
	b.err = dropStages(ctx, stage)
}

// output2 is output for a command whose standard error is shown.
func output2(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return string(out), err
}

// run builds as a runner does and returns the image's id. The classic builder is
// asked for: what it takes, BuildKit takes.
func (b *built) run(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"build", "--quiet"}, args...)
	cmd := exec.CommandContext(ctx, "docker", append(args, "--file", root+"/Dockerfile", root)...)
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	id, err := output(cmd)
	return strings.TrimSpace(id), err
}

// dropStages removes the build stages of earlier runs, which hold half a
// gigabyte each, and keeps the one of now: it makes the next build short.
func dropStages(ctx context.Context, keep string) error {
	out, err := docker(ctx, "image", "ls", "--no-trunc", "--quiet", "--filter", "dangling=true", "--filter", "label=org.cutwatch.stage=build")
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(out) {
		if id == keep {
			continue
		}
		if _, err := docker(ctx, "image", "rm", id); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the image. Its error names containers that still use it.
func (b *built) remove() error {
	if b.tag == "" {
		return nil
	}
	if err := removeAct(); err != nil {
		return err
	}
	left, err := docker(context.Background(), "ps", "--all", "--filter", "ancestor="+b.tag, "--format", "{{.ID}} {{.Names}} {{.Command}} {{.Status}}")
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("containers of the image: %s", left)
	}
	_, err = docker(context.Background(), "image", "rm", b.tag)
	return err
}
