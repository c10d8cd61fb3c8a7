package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Tools of the tests, by their packages. They are installed through the module
// proxy, with versions of their own: none of them is the module's to require.
const (
	actTool        = "github.com/nektos/act@v0.2.89"
	actionlintTool = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
)

// installed is the tools that were installed in this run.
type installed struct {
	mu   sync.Mutex
	dir  string
	errs map[string]error
}

var tools = installed{errs: map[string]error{}}

// needTool installs a tool and returns the path of its program. Where that is
// not possible, the test is skipped, and fails in CI.
func needTool(t *testing.T, tool string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a tool may have to be compiled, and -short was given")
	}
	program, err := tools.install(tool)
	if err == nil {
		return program
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must run this test: %v", err)
	}
	t.Skip(err)
	return ""
}

func (i *installed) install(tool string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dir == "" {
		dir, err := os.MkdirTemp("", "cutwatch-tools-")
		if err != nil {
			return "", err
		}
		i.dir = dir
	}
	name, _, _ := strings.Cut(path.Base(tool), "@")
	if _, known := i.errs[tool]; !known {
		ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "go", "install", tool)
		cmd.Env = append(os.Environ(), "GOBIN="+i.dir)
		_, err := output(cmd)
		if err != nil {
			err = fmt.Errorf("%s cannot be installed: %w", tool, err)
		}
		i.errs[tool] = err
	}
	return filepath.Join(i.dir, name), i.errs[tool]
}

func (i *installed) remove() error {
	if i.dir == "" {
		return nil
	}
	return os.RemoveAll(i.dir)
}
