package run

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestNewID(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{6}$`)
	seen := map[string]bool{}
	for range 50 {
		id, err := newID()
		if err != nil {
			t.Fatal(err)
		}
		if !shape.MatchString(id) {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	if len(seen) < 45 {
		t.Errorf("%d different ids of 50", len(seen))
	}
}

func TestSilentEnd(t *testing.T) {
	broken := errors.New("no such app")
	tests := []struct {
		name        string
		begun, over bool
		err         error
		want        *sample.Signal
	}{
		{"told its end", true, true, nil, nil},
		{"told its end, then an error", true, true, broken, nil},
		{"could not begin", false, false, broken, &sample.Signal{Kind: sample.SignalEnd, Name: "deploy-not-begun", Outcome: sample.Failed, Message: "no such app"}},
		{"was lost sight of", true, false, broken, &sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.Unknown, Message: "no such app"}},
		{"told nothing", true, false, nil, &sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.Unknown, Message: "nothing told how it ended"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, silentEnd(tt.begun, tt.over, tt.err)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReplaceIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	for _, data := range []string{"first", "second"} {
		if err := replace(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != data {
			t.Errorf("got %q, %v, want %q", got, err, data)
		}
	}
	// A folder in its place cannot be replaced; nothing is left beside it.
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(filepath.Join(dir, "taken"), []byte("x")); err == nil {
		t.Error("replaced a folder")
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".result-") {
			t.Errorf("%s is left", f.Name())
		}
	}
}

func TestJudgeRefusesWhatIsNoSamplesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".missing"} {
		if _, err := Judge(p); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("Judge(%s) = %v, want an error that names the file", p, err)
		}
	}
}
