package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// result is what the tests read of result.json.
type result struct {
	Schema  int
	Verdict string
	Reasons []struct{ Code, Message string }
	Target  struct{ URL string }

	Versions []struct{ ID, Role string }
	Cutover  *struct {
		By        string
		OverlapMS *float64 `json:"overlap_ms"`
	}
	Deploy   struct{ Outcome string }
	Requests struct{ Total, OK, Failed, Deploy, Background int }
	Failures []struct{ ID, Lane, Attribution, Reason string }
}

// result reads the report of a job and holds its files to be the runner's own.
func (j *job) result() result {
	j.t.Helper()
	return readResult(j.t, filepath.Join(j.workspace, "cutwatch-report"))
}

func readResult(t *testing.T, dir string) result {
	t.Helper()
	var r result
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.Schema != 1 {
		t.Errorf("schema %d, want 1", r.Schema)
	}
	return r
}

// wantOwned holds every file of the report, and its folder, to belong to the
// workspace's owner: later steps must be able to remove them.
func (j *job) wantOwned() {
	j.t.Helper()
	dir := filepath.Join(j.workspace, "cutwatch-report")
	entries, err := os.ReadDir(dir)
	if err != nil {
		j.t.Fatal(err)
	}
	names := []string{"."}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Contains(names, "result.json") || !slices.Contains(names, "samples.ndjson.zst") {
		j.t.Errorf("the report holds only %q", names)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			j.t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); os.Getuid() == 0 && (stat.Uid != runnerUID || stat.Gid != runnerUID) {
			j.t.Errorf("%s of the report is owned by %d:%d, want %d", name, stat.Uid, stat.Gid, runnerUID)
		}
	}
}

// wantVerdict holds a result to a verdict, whose first reason is one of codes.
func (r result) wantVerdict(t *testing.T, verdict string, codes ...string) {
	t.Helper()
	if r.Verdict != verdict {
		t.Errorf("the verdict is %s, want %s: %+v", r.Verdict, verdict, r.Reasons)
	}
	if len(codes) > 0 && (len(r.Reasons) == 0 || !slices.Contains(codes, r.Reasons[0].Code)) {
		t.Errorf("the reasons are %+v, want the first to be of %q", r.Reasons, codes)
	}
}

// agree compares a result with the box's own record: each request that the box
// says the deploy dropped is the deploy's failure, and no other is.
func agree(t *testing.T, r result, truth boxEvent) {
	t.Helper()
	var blamed []string
	for _, f := range r.Failures {
		if f.Attribution == "deploy" {
			blamed = append(blamed, f.ID)
		}
	}
	lost := truth.lost()
	slices.Sort(blamed)
	slices.Sort(lost)
	if !slices.Equal(blamed, lost) {
		t.Errorf("the deploy's failures are %q, and the box says it dropped %q", blamed, lost)
	}
	if len(truth.Repeated) > 0 {
		t.Errorf("requests were sent twice: %q", truth.Repeated)
	}
	for role, want := range map[string]string{"old": truth.OldVersion, "new": truth.NewVersion} {
		i := slices.IndexFunc(r.Versions, func(v struct{ ID, Role string }) bool { return v.Role == role })
		if i < 0 || r.Versions[i].ID != want {
			t.Errorf("the versions are %+v, and the box's %s is %s", r.Versions, role, want)
		}
	}
}

// wantSummary holds a step's summary to begin with the verdict.
func (s *step) wantSummary(verdict string) {
	s.t.Helper()
	if !strings.Contains(s.summary, strings.ToUpper(verdict)) {
		s.t.Errorf("the summary does not say %s:\n%s", strings.ToUpper(verdict), s.summary)
	}
}
