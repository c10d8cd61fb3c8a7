package host

import "testing"

// inJob is the surroundings of a step with these variables.
func inJob(variables map[string]string) Surroundings {
	return Surroundings{Getenv: func(name string) string { return variables[name] }}
}

func TestJobURL(t *testing.T) {
	job := func(changes ...string) map[string]string {
		out := map[string]string{
			"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "octo/shop", "GITHUB_RUN_ID": "9000", "GITHUB_RUN_ATTEMPT": "2",
		}
		for i := 0; i+1 < len(changes); i += 2 {
			out[changes[i]] = changes[i+1]
		}
		return out
	}
	for _, tt := range []struct {
		name      string
		variables map[string]string
		want      string
	}{
		{"a run", job(), "https://github.com/octo/shop/actions/runs/9000/attempts/2"},
		{"a job", job("INPUT_CHECK-RUN-ID", "4711"), "https://github.com/octo/shop/actions/runs/9000/job/4711"},
		{"a job without a number", job("INPUT_CHECK-RUN-ID", "null"), "https://github.com/octo/shop/actions/runs/9000/attempts/2"},
		{"no attempt", job("GITHUB_RUN_ATTEMPT", ""), "https://github.com/octo/shop/actions/runs/9000"},
		{"another server", job("GITHUB_SERVER_URL", "http://git.local:8080"), "http://git.local:8080/octo/shop/actions/runs/9000/attempts/2"},
		{"no server", job("GITHUB_SERVER_URL", "javascript:alert(1)"), ""},
		{"no repository", job("GITHUB_REPOSITORY", "octo/shop) [x](y"), ""},
		{"no job at all", nil, ""},
	} {
		if got := inJob(tt.variables).JobURL(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCommentKey(t *testing.T) {
	s := inJob(map[string]string{"GITHUB_WORKFLOW": "release", "GITHUB_JOB": "deploy"})
	for _, tt := range []struct{ id, matrix, want string }{
		{"", "", "release/deploy"},
		{"", "null", "release/deploy"},
		{"", "{}", "release/deploy"},
		{"", "not JSON", "release/deploy"},
		{"web", "null", "release/deploy/web"},
		{"", "{\n  \"region\": \"fra1\",\n  \"n\": 2\n}", `release/deploy {"n":2,"region":"fra1"}`},
		{"web", `{"n": 2, "region": "fra1"}`, `release/deploy {"n":2,"region":"fra1"}/web`},
	} {
		if got := s.CommentKey(tt.id, tt.matrix); got != tt.want {
			t.Errorf("id %q, matrix %q: %q, want %q", tt.id, tt.matrix, got, tt.want)
		}
	}
}
