package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// actionlint lints workflows in a project's folder.
func actionlint(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(needTool(t, actionlintTool), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
}

func TestWorkflowsAreClean(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{".github/workflows/*.yml", "testdata/workflows/*.yml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s matches nothing (%v)", pattern, err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, rel)
		}
	}
	actionlint(t, root, files...)
}

var (
	yamlBlock = regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```$")
	usesUs    = regexp.MustCompile(`uses: OWNER/cutwatch@\S+`)
	// backgroundLine is a line with one of the keys of steps in the background,
	// which actionlint 1.7.12 does not know.
	backgroundLine = regexp.MustCompile(`(?m)^ *(- )?(background|wait|wait-all|cancel):.*\n`)
)

// The documents' examples are workflows that actionlint finds nothing in. Where
// they use the action, it is this repository's, so that the inputs are checked.
// Of steps in the background the keys are left out that actionlint takes for
// mistakes.
func TestExamplesAreClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workflows := filepath.Join(dir, ".github", "workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"action.yml", "Dockerfile", ".github/actionlint.yaml"} {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := output(exec.Command("git", "init", "--quiet", dir)); err != nil { // a project is a repository
		t.Fatal(err)
	}
	var files []string
	for _, document := range []string{"README.md", "CONTRIBUTING.md", ".github/SECURITY.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(block[1], "uses:") {
				continue // no workflow
			}
			if known := backgroundLine.ReplaceAllString(block[1], ""); known != block[1] {
				t.Logf("example %d of %s is linted without the keys of its steps in the background", i+1, document)
				block[1] = known
			}
			name := fmt.Sprintf("%s-%d.yml", filepath.Base(document), i+1)
			if err := os.WriteFile(filepath.Join(workflows, name), []byte(whole(block[1])), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, ".github/workflows/"+name)
		}
	}
	if len(files) == 0 {
		t.Fatal("no example was found")
	}
	t.Logf("%d examples", len(files))
	actionlint(t, dir, files...)
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode())
}

// whole makes a workflow of an example, which may be a part of one: steps, or jobs.
func whole(example string) string {
	example = usesUs.ReplaceAllString(example, "uses: ./")
	if strings.HasPrefix(example, "- ") {
		example = "steps:\n" + indent(example, 2)
	}
	if strings.HasPrefix(example, "steps:") {
		example = "jobs:\n  job:\n    runs-on: ubuntu-latest\n" + indent(example, 4)
	}
	if !regexp.MustCompile(`(?m)^on:`).MatchString(example) {
		example = "on: push\n" + example
	}
	return example
}

func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.Repeat(" ", by) + line)
	}
	return out.String()
}
