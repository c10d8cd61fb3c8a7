package sidecar

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type entry struct {
	name string
	kind byte
	data string
}

func tarOf(t *testing.T, entries []entry) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o777, Size: int64(len(e.data))}
		if e.kind == tar.TypeSymlink {
			h.Linkname = "/etc/passwd"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestExtractTakesTheReportsFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := extract(tarOf(t, []entry{
		{"report/", tar.TypeDir, ""},
		{"report/result.json", tar.TypeReg, "new"},
		{"report/samples.ndjson.zst", tar.TypeReg, "samples"},
		{"report/.result-123", tar.TypeReg, "half written"},
		{"report/link", tar.TypeSymlink, ""},
		{"report/../evil", tar.TypeReg, "x"},
		{"/report/evil", tar.TypeReg, "x"},
		{"report/sub/evil", tar.TypeReg, "x"},
		{"report/..", tar.TypeReg, "x"},
		{"evil", tar.TypeReg, "x"},
	}), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "result.json"), filepath.Join(dir, "samples.ndjson.zst")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	got := map[string]string{}
	for _, d := range must(os.ReadDir(dir)) {
		got[d.Name()] = string(must(os.ReadFile(filepath.Join(dir, d.Name()))))
	}
	if diff := cmp.Diff(map[string]string{"result.json": "new", "samples.ndjson.zst": "samples"}, got); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestExtractOfWhatBreaksOff(t *testing.T) {
	dir := t.TempDir()
	whole := tarOf(t, []entry{{"report/a", tar.TypeReg, strings.Repeat("a", 3000)}, {"report/b", tar.TypeReg, strings.Repeat("b", 3000)}}).Bytes()
	files, err := extract(bytes.NewReader(whole[:5000]), dir)
	if err == nil || len(files) != 1 {
		t.Errorf("files %v, error %v", files, err)
	}
	if left := must(os.ReadDir(dir)); len(left) != 1 || left[0].Name() != "a" {
		t.Errorf("the folder holds %v, want a alone", left)
	}
}

func TestExtractIsBounded(t *testing.T) {
	var many []entry
	for i := range maxFiles + 1 {
		many = append(many, entry{"report/f" + strings.Repeat("x", i), tar.TypeReg, ""})
	}
	if files, err := extract(tarOf(t, many), t.TempDir()); err == nil || len(files) != maxFiles {
		t.Errorf("%d files, error %v", len(files), err)
	}
}

func TestArchive(t *testing.T) {
	got, err := archive([]File{{Path: "/cutwatch/"}, {Path: "/cutwatch/task.json", Data: []byte("secret")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	in := tar.NewReader(got)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Typeflag == tar.TypeReg && h.Mode != 0o600 {
			t.Errorf("%s has mode %o, want 600: it holds secrets", h.Name, h.Mode)
		}
	}
	if diff := cmp.Diff([]string{"cutwatch/", "cutwatch/task.json"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestEachLine(t *testing.T) {
	var got []string
	long := strings.Repeat("x", 3*maxLine)
	if err := eachLine(strings.NewReader("one\r\n\n"+long+"\ntwo"), func(s string) { got = append(got, s) }); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "", long[:maxLine], "two"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("report/a", byte('0'), "x")
	f.Add("report/../a", byte('0'), "x")
	f.Add("report/a", byte('2'), "")
	f.Fuzz(func(t *testing.T, name string, kind byte, data string) {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if w.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Size: int64(len(data)), Linkname: "/etc/passwd"}) != nil {
			return
		}
		_, _ = w.Write([]byte(data)) // kinds without data refuse it
		parent := t.TempDir()
		dir := filepath.Join(parent, "report")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		_, _ = extract(bytes.NewReader(out.Bytes()), dir) // what it writes, and where, counts here
		if all := must(os.ReadDir(parent)); len(all) != 1 {
			t.Errorf("%q was written beside the folder: %v", name, all)
		}
		for _, d := range must(os.ReadDir(dir)) {
			if !d.Type().IsRegular() {
				t.Errorf("%q became %v", name, d)
			}
		}
	})
}
