package digitalocean_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/digitalocean"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// examples are App Platform's published example answers, by name.
func examples(t *testing.T) map[string]map[string]any {
	t.Helper()
	const env = "CUTWATCH_DIGITALOCEAN_OPENAPI" // the folder that holds examples.yml
	dir := os.Getenv(env)
	if dir == "" {
		dir = "../../../../shared/data/digitalocean-openapi"
	}
	text, err := os.ReadFile(filepath.Join(dir, "examples.yml"))
	if os.IsNotExist(err) {
		t.Skipf("App Platform's published examples are not there (%v): set %s to a folder that holds them", err, env)
	}
	var doc map[string]struct {
		Value map[string]any `yaml:"value"`
	}
	if err == nil {
		err = yaml.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for name, example := range doc {
		out[name] = example.Value
	}
	return out
}

// publishing is an API of the published examples, whose deployment goes on by a
// phase at each look.
func publishing(t *testing.T, shown map[string]map[string]any) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(pattern, example string, change func()) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			change()
			if err := json.NewEncoder(w).Encode(shown[example]); err != nil {
				t.Error(err)
			}
		})
	}
	same := func() {}
	d := shown["deployment"]["deployment"].(map[string]any)
	phases := []string{"PENDING_BUILD", "PENDING_BUILD", "BUILDING", "DEPLOYING", "ACTIVE"}
	serve("GET /v2/apps", "apps", same)
	serve("GET /v2/apps/{app}/deployments", "deployments", same)
	serve("POST /v2/apps/{app}/deployments", "deployment", same)
	serve("GET /v2/apps/{app}/deployments/{deployment}", "deployment", func() {
		d["phase"], d["phase_last_updated_at"] = phases[0], time.Now().UTC().Format(time.RFC3339Nano)
		phases = phases[min(1, len(phases)-1):]
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// The published examples are read, and a deployment like theirs is followed.
func TestPublishedExamples(t *testing.T) {
	server := publishing(t, examples(t))
	cfg := config.Default()
	cfg.Platform, cfg.Trigger, cfg.App, cfg.DigitalOceanToken = config.PlatformDigitalOcean, config.TriggerDeploy, "sample-php", token
	source, err := digitalocean.New(cfg, func(string) string { return server.URL })
	if err != nil {
		t.Fatal(err)
	}
	source.Hurry(times)
	prepared, err := source.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := prepared.Platform
	if p.App != "sample-php" || p.URL != "https://sample-php.example.com" || p.Component != "sample-php" || *p.InstanceCount != 1 || *p.DrainSeconds != 15 || *p.GracePeriodSeconds != 120 {
		t.Errorf("the example's app is read as %+v", p)
	}
	source.StartedAt(time.Now())
	var phases []string
	err = source.Run(t.Context(), func(g sample.Signal) {
		if g.Kind != sample.SignalNote {
			phases = append(phases, g.Kind+" "+g.Name)
		}
		if g.Kind == sample.SignalEnd && (g.Outcome != sample.Succeeded || g.Deployment != "b6bdf840-2854-4f87-a36c-5f231c617c84") {
			t.Errorf("the end %+v", g)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"phase PENDING_BUILD", "phase BUILDING", "start DEPLOYING", "end ACTIVE"}
	if diff := cmp.Diff(want, phases); diff != "" {
		t.Errorf("want (-), told (+):\n%s", diff)
	}
}
