package scenario

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/cutwatch/cutwatch/internal/run"
)

// The judgement of every recording is, byte for byte, what it was: a change of
// judgement shows as a difference of goldens. -update writes them anew.
func TestRecorded(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(recorded, "*.ndjson.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { rejudge(t, path, *update) })
	}
}

func goldenOf(path string) string { return strings.TrimSuffix(path, ".ndjson.zst") + ".result.json" }

func rejudge(t *testing.T, path string, write bool) {
	t.Helper()
	out, err := run.Judge(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := out.Result.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if write {
		writeFile(t, goldenOf(path), got)
		return
	}
	want, err := os.ReadFile(goldenOf(path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("golden (-) and judgement (+); -update writes it anew:\n%s", diff)
	}
}

// maxGolden is the largest golden that is kept, in bytes: one with hundreds of
// failures alike says no more than one with fifty.
const maxGolden = 40_000

// keep puts a recording beside the others, in as few bytes as can be. One whose
// golden is too large is not kept.
func keep(t *testing.T, name, samples string) {
	t.Helper()
	path := filepath.Join(recorded, name+".ndjson.zst")
	writeFile(t, path, compressed(t, samples))
	rejudge(t, path, true)
	golden, err := os.Stat(goldenOf(path))
	if err != nil {
		t.Fatal(err)
	}
	if golden.Size() > maxGolden {
		for _, p := range []string{path, goldenOf(path)} {
			if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}

func compressed(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var lines bytes.Buffer
	if _, err := lines.ReadFrom(in); err != nil {
		t.Fatal(err)
	}
	out, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	return out.EncodeAll(lines.Bytes(), nil)
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
