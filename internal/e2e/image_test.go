package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// maxOwn is the size that the binary and our other layers may have together.
const maxOwn = 20_000_000

// The image holds a small static binary on a base that every kind of runner can
// start, and the entry points of action.yml.
func TestImage(t *testing.T) {
	t.Parallel()
	tag := needImage(t)
	t.Logf("built in %s", image.took.Round(1e8))

	var own, base int64
	dec := json.NewDecoder(strings.NewReader(mustDocker(t, "history", "--human=false", "--no-trunc", "--format", "{{json .}}", tag)))
	for dec.More() {
		var layer struct{ CreatedBy, Size string }
		if err := dec.Decode(&layer); err != nil {
			t.Fatal(err)
		}
		size := atoi(t, layer.Size)
		// The base's layers come last: they begin where a file system was added.
		if ours(layer.CreatedBy) {
			own += size
		} else {
			base += size
		}
		if size > 0 {
			t.Logf("%10d bytes: %.100s", size, layer.CreatedBy)
		}
	}
	t.Logf("our layers %d bytes, the base's %d", own, base)
	if own == 0 || own > maxOwn {
		t.Errorf("our layers have %d bytes together, want at most %d", own, maxOwn)
	}

	var config struct {
		User       string
		Entrypoint []string
		Cmd        []string
	}
	if err := json.Unmarshal([]byte(mustDocker(t, "image", "inspect", "--format", "{{json .Config}}", tag)), &config); err != nil {
		t.Fatal(err)
	}
	if config.User != "" || len(config.Entrypoint) != 1 || config.Entrypoint[0] != "/usr/local/bin/cutwatch" {
		t.Errorf("the image's configuration is %+v, want root and the program itself", config)
	}
}

// ours tells whether a step of an image's history is one of the Dockerfile's.
func ours(createdBy string) bool {
	for _, mark := range []string{"COPY file:", "ln -s cutwatch", "org.opencontainers.image.title", "ARG VERSION", "/usr/local/bin/cutwatch", `CMD ["action"]`} {
		if strings.Contains(createdBy, mark) {
			return true
		}
	}
	return false
}

// What a container of the image can do without any job.
func TestImageRuns(t *testing.T) {
	t.Parallel()
	tag := needImage(t)
	run := func(args ...string) string {
		return mustDocker(t, append([]string{"run", "--rm", "--network", "none"}, args...)...)
	}
	if got := run(tag, "--version"); got == "" || strings.ContainsAny(got, " \n") {
		t.Errorf("--version prints %q", got)
	}
	if got := run("--entrypoint", "sh", tag, "-c", "env | tail -n 1 >/dev/null && readlink "+postEntry); got != "cutwatch" {
		t.Errorf("the post entry point is a link to %q, want the program", got)
	}
	if got := run("--entrypoint", "tail", tag, "-c", "20", "/etc/ssl/certs/ca-certificates.crt"); !strings.Contains(got, "CERTIFICATE") {
		t.Errorf("the CA roots end in %q", got)
	}

	binary := filepath.Join(t.TempDir(), "cutwatch")
	id := mustDocker(t, "create", tag)
	t.Cleanup(func() { (&job{t: t}).tidy("rm", id) })
	mustDocker(t, "cp", id+":/usr/local/bin/cutwatch", binary)
	checkStatic(t, binary)
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the binary has %d bytes", info.Size())
}

// checkStatic holds a binary to need no library of its system, and to name no
// path of the machine that it was built on.
func checkStatic(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("the binary needs %q (%v), want no library", libraries, err)
	}
	if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
		t.Error("the binary holds symbols for a debugger, want none")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("/src/internal/")) {
		t.Error("the binary names the folder that it was built in")
	}
}

func atoi(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
