package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
)

// A container has none of our files: the event's payload goes with the probe
// that asks for it, and is not named to another.
func TestHandOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, []byte(`{"number": 12}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const there = sidecar.Dir + "/event.json"
	for _, tt := range []struct {
		name, platform, path string
		handed               bool
		noted                string
	}{
		{"asked for", config.PlatformGitHub, file, true, ""},
		{"by nobody", config.PlatformNone, file, false, ""},
		{"not there", config.PlatformGitHub, file + ".none", false, "the event's payload cannot be read"},
		{"no event", config.PlatformGitHub, "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var notes []string
			log := Log{Note: func(line string) { notes = append(notes, line) }}
			env := inJob(map[string]string{"GITHUB_EVENT_PATH": tt.path, "GITHUB_SHA": "abc", "GITHUB_TOKEN": "s3cret"}).environment()
			got, handed := handOver(&config.Config{Platform: tt.platform}, env, log)
			if handed != tt.handed || handed && (got.Path != there || string(got.Data) != `{"number": 12}`) {
				t.Errorf("handed over %v: %s %q", handed, got.Path, got.Data)
			}
			want := ""
			if tt.handed {
				want = there
			}
			if env["GITHUB_EVENT_PATH"] != want || env["GITHUB_SHA"] != "abc" || env["GITHUB_TOKEN"] != "" {
				t.Errorf("environment %v", env)
			}
			if said := strings.Join(notes, "\n"); !strings.Contains(said, tt.noted) || (said == "") != (tt.noted == "") {
				t.Errorf("notes %q", notes)
			}
		})
	}
}
