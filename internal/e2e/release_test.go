package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a repository with the release script and what it reads.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	if err := os.MkdirAll(filepath.Join(r.dir, ".ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"action.yml", ".ci/release"} {
		if err := copyFile(filepath.Join(root, name), filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	changes := "# Changelog\n\n## Unreleased\n\n- soon\n\n## 1.3.0\n\n### Added\n\n- more\n\n## 1.2.0 - a date\n\n- much\n\n## 1.1.0\n"
	if err := os.WriteFile(filepath.Join(r.dir, "CHANGELOG.md"), []byte(changes), 0o644); err != nil {
		t.Fatal(err)
	}
	r.must("git", "init", "--quiet", "--initial-branch", "main")
	r.must("git", "add", "--all")
	r.must("git", "commit", "--quiet", "--message", "all")
	return r
}

func (r repository) run(args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@cutwatch.invalid", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@cutwatch.invalid")
	out, err := output(cmd)
	return strings.TrimSpace(out), err
}

func (r repository) must(args ...string) string {
	r.t.Helper()
	out, err := r.run(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r repository) refuses(says string, args ...string) {
	r.t.Helper()
	if _, err := r.run(append([]string{".ci/release"}, args...)...); err == nil || !strings.Contains(err.Error(), says) {
		r.t.Errorf("release %q: %v, want an error that says %q", args, err, says)
	}
}

// A release is a commit beside main that names an image by its digest; its tag
// stays, and the major version's moves.
func TestRelease(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	first := "ghcr.io/owner/cutwatch@sha256:" + strings.Repeat("1", 64)
	second := "ghcr.io/owner/cutwatch@sha256:" + strings.Repeat("2", 64)
	main := r.must("git", "rev-parse", "main")

	r.must(".ci/release", "tag", "1.2.0", first)
	v120 := r.must("git", "rev-parse", "v1.2.0")
	if got := r.must("git", "rev-parse", "v1"); got != v120 {
		t.Errorf("v1 is %s, want %s", got, v120)
	}
	r.must(".ci/release", "tag", "1.3.0", second)
	v130 := r.must("git", "rev-parse", "v1.3.0")
	for ref, want := range map[string]string{"main": main, "v1.2.0": v120, "v1": v130, "v1.3.0^": main} {
		if got := r.must("git", "rev-parse", ref); got != want {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
	if got := r.must("git", "show", "v1.2.0:action.yml"); !strings.Contains(got, "\n  image: docker://"+first+"\n") {
		t.Errorf("action.yml of v1.2.0 does not name %s:\n%s", first, got)
	}
	if got := r.must("git", "diff", "--name-only", "main", "v1.3.0"); got != "action.yml" {
		t.Errorf("the release differs from main in %q, want action.yml alone", got)
	}
	if got := r.must("git", "status", "--porcelain"); got != "" {
		t.Errorf("the work tree was changed: %s", got)
	}
	if got := r.must(".ci/release", "notes", "1.3.0"); got != "### Added\n\n- more" {
		t.Errorf("the notes are %q", got)
	}
	r.refuses("released already", "tag", "1.2.0", second)
	r.refuses("no section", "check", "1.1.0")
	r.refuses("no section", "check", "1.4.0")
	r.refuses("no version", "check", "v1.3.0")
	r.refuses("no version", "check", "1.3")
	r.refuses("no section", "tag", "1.4.0", first)
}
