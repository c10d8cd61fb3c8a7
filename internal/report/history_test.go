package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func writeResult(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadHistory(t *testing.T) {
	dir := t.TempDir()
	// 1,000 requests in 10 s: failures over 100 ms apart are two episodes.
	writeResult(t, filepath.Join(dir, "a"), `{"schema": 1, "duration_ms": 10000, "requests": {"total": 1000}, "failures": [
		{"class": "status", "status": 502, "answered_by": "edge", "attribution": "background", "started_ms": 1000, "ended_ms": 1005},
		{"class": "status", "status": 502, "answered_by": "edge", "attribution": "background", "started_ms": 1050, "ended_ms": 1055},
		{"class": "status", "status": 502, "answered_by": "edge", "attribution": "background", "started_ms": 1200, "ended_ms": 1205},
		{"class": "status", "status": 502, "answered_by": "edge", "attribution": "deploy", "started_ms": 2000, "ended_ms": 2005}]}`)
	writeResult(t, filepath.Join(dir, "b", "c"), `{"schema": 1, "duration_ms": 10000, "requests": {"total": 500}, "failures": [
		{"class": "eof", "status": null, "answered_by": null, "attribution": "background", "started_ms": 1, "ended_ms": 2}]}`)
	writeResult(t, filepath.Join(dir, "d"), `{"schema": 2}`)
	writeResult(t, filepath.Join(dir, "e"), `{"schema": 1, "requ`)

	endless := filepath.Join(dir, "f", "result.json")
	if err := os.Mkdir(filepath.Dir(endless), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}

	h, passed, err := ReadHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &sample.History{Runs: 2, Requests: 1500, Kinds: []sample.Past{
		{Class: sample.EOF, Episodes: 1, Largest: 1},
		{Class: sample.Status, Status: 502, By: sample.ByEdge, Episodes: 2, Largest: 2},
	}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
	if len(passed) != 3 || !strings.Contains(passed[0], "schema 2") || !strings.Contains(passed[1], "not a result") || !strings.Contains(passed[2], "no regular file") {
		t.Errorf("passed over %q, want the file of schema 2, the cut one and the endless one", passed)
	}
	if _, _, err := ReadHistory(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there was read")
	}
	if _, _, err := ReadHistory(filepath.Join(dir, "a", "result.json")); err == nil {
		t.Error("a file was taken for a folder")
	}
}
