package event_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/host/event"
)

const (
	head   = "1111111111111111111111111111111111111111"
	merged = "3333333333333333333333333333333333333333" // GITHUB_SHA of each event here
)

const fixtures = "../../../testdata/events"

func env(name, file string) func(string) string {
	return func(variable string) string {
		return map[string]string{
			"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": file, "GITHUB_REPOSITORY": "octo/shop", "GITHUB_SHA": merged,
		}[variable]
	}
}

func TestEvents(t *testing.T) {
	const fork, bot = "a pull request from a fork gives its workflows a token that may only read",
		"a pull request of Dependabot's gives its workflows a token that may only read, unless they say more"
	for _, tt := range []struct {
		name, file string
		want       event.Event
	}{
		{"pull_request", "pull_request", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{12}}}},
		{"pull_request", "pull_request_fork", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{13}, ReadOnly: fork}}},
		{"pull_request", "pull_request_fork_gone", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{13}, ReadOnly: fork}}},
		{"pull_request", "pull_request_dependabot", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{14}, ReadOnly: bot}}},
		{"pull_request_target", "pull_request_target", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{13}}}},
		{"issue_comment", "issue_comment", event.Event{Pulls: event.Pulls{Numbers: []int{12}}}},
		{"merge_group", "merge_group", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{104}}}},
		{"push", "push", event.Event{SHA: merged, Pulls: event.Pulls{Commit: merged, Merged: true}}},
		{"push", "push_deleted", event.Event{SHA: merged}},
		{"workflow_run", "workflow_run", event.Event{SHA: head, Pulls: event.Pulls{Numbers: []int{12}}}},
		{"workflow_run", "workflow_run_fork", event.Event{SHA: head, Pulls: event.Pulls{Head: event.Head{Owner: "stranger", Branch: "faster", SHA: head}}}},
		{"workflow_run", "workflow_run_push", event.Event{SHA: head, Pulls: event.Pulls{Commit: head, Merged: true}}},
		{"workflow_run", "workflow_run_schedule", event.Event{SHA: head}},
		{"workflow_dispatch", "workflow_dispatch", event.Event{SHA: merged, Pulls: event.Pulls{Commit: merged}}},
		{"schedule", "schedule", event.Event{SHA: merged}},
		{"deployment", "deployment", event.Event{SHA: head, Deployment: 4200, Environment: "preview/12", Pulls: event.Pulls{Commit: head, Merged: true}}},
		{"deployment_status", "deployment_status", event.Event{
			SHA: head, Deployment: 4200, Environment: "preview/12", URL: "https://preview-12.example.com", Pulls: event.Pulls{Commit: head, Merged: true},
		}},
		{"issues", "push", event.Event{SHA: merged}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			tt.want.Name, tt.want.Owner, tt.want.Repo, tt.want.CheckedOut = tt.name, "octo", "shop", merged
			got, err := event.Read(env(tt.name, filepath.Join(fixtures, tt.file+".json")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("- want + got:\n%s", diff)
			}
			pulls := tt.want.Pulls
			if any := len(pulls.Numbers) > 0 || pulls.Commit != "" || pulls.Head.Branch != ""; got.Pulls.Any() != any {
				t.Errorf("it may have a pull request: %v", got.Pulls.Any())
			}
			if warned := got.Warning() != ""; warned != (tt.name == "pull_request_target") {
				t.Errorf("warning %q", got.Warning())
			}
		})
	}
}

// What a workflow runs on is deployed, or it is the base's.
func TestDeployed(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"pull_request", "pull_request", []string{head, merged}},
		{"pull_request_target", "pull_request_target", []string{head}},
		{"pull_request_target", "gone", nil},
		{"workflow_run", "workflow_run", []string{head}},
		{"workflow_run", "gone", nil},
		{"issue_comment", "issue_comment", nil},
		{"push", "push", []string{merged}},
		{"workflow_dispatch", "gone", []string{merged}},
		{"deployment_status", "deployment_status", []string{head}},
	} {
		got, err := event.Read(env(tt.name, filepath.Join(fixtures, tt.file+".json")))
		if (err != nil) != (tt.file == "gone") {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Deployed()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What a payload lacks, or does not mean as it says, is no fault.
func TestPoorPayloads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	for _, tt := range []struct{ name, text string }{
		{"pull_request", `{}`}, {"pull_request", `{"pull_request": {"number": -1, "head": {}}}`}, {"pull_request", `{"pull_request": null}`},
		{"merge_group", `{}`}, {"workflow_run", `{}`}, {"deployment_status", `{}`}, {"issue_comment", `{"issue": {"number": 3}}`},
		{"merge_group", `{"merge_group": {"head_ref": "refs/heads/pr-7-` + head + `"}}`},
		{"merge_group", `{"merge_group": {"head_ref": "refs/heads/gh-readonly-queue/main/pr-99999999999-` + head + `"}}`},
		{"merge_group", `{"merge_group": {"head_ref": "refs/heads/gh-readonly-queue/main/pr-0-` + head + `"}}`},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := event.Read(env(tt.name, file))
		if err != nil {
			t.Errorf("%s %s: %v", tt.name, tt.text, err)
		}
		if len(got.Pulls.Numbers) > 0 {
			t.Errorf("%s %s: pull requests %v", tt.name, tt.text, got.Pulls.Numbers)
		}
	}
}

func TestUnreadablePayloads(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"pull_request": {"number": "::error::x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{broken, dir, filepath.Join(dir, "none")} {
		got, err := event.Read(env("pull_request", file))
		if err == nil || !strings.Contains(err.Error(), "payload") {
			t.Errorf("%s: error %v, want one about the payload", file, err)
		}
		if got.SHA != merged || got.Repo != "shop" || got.Pulls.Any() {
			t.Errorf("%s: %+v, want what the variables say", file, got)
		}
	}
}

func TestRepositoriesThatAreNone(t *testing.T) {
	for _, text := range []string{"", "octo", "octo/", "/shop", "octo/shop/x", "octo/sh op", "octo/../x", "octo/..", "./shop", "octo/%2e"} {
		got, err := event.Read(func(name string) string { return map[string]string{"GITHUB_REPOSITORY": text}[name] })
		if err != nil || got.Owner != "" || got.Repo != "" {
			t.Errorf("%q is %q/%q, %v", text, got.Owner, got.Repo, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("fixtures: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "_fork")
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		file := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(file, payload, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := event.Read(env(name, file))
		if err != nil && got.Pulls.Any() {
			t.Errorf("%v, and yet %+v", err, got.Pulls)
		}
		if strings.Trim(got.SHA+got.Pulls.Commit, "0123456789abcdef") != "" {
			t.Errorf("commits %q, %q", got.SHA, got.Pulls.Commit)
		}
		for _, n := range got.Pulls.Numbers {
			if n <= 0 {
				t.Errorf("pull request %d", n)
			}
		}
	})
}
