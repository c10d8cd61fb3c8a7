package appapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// publishedEnv is the folder with App Platform's published schema: the models
// (app.yml, apps_deployment.yml, …) of github.com/digitalocean/openapi, and its
// example answers as examples.yml.
const publishedEnv = "CUTWATCH_DIGITALOCEAN_OPENAPI"

// published is that folder; a test that needs it is skipped without.
func published(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(publishedEnv)
	if dir == "" {
		dir = "../../../../shared/data/digitalocean-openapi"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "app.yml")); err != nil {
		t.Skipf("App Platform's published schema is not there (%v): set %s to a folder that holds it", err, publishedEnv)
	}
	return dir
}

// readYAML reads a file as JSON would be read.
func readYAML(path string) (any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	text, err = json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
}

// models loads the models; those that are not in the folder take anything.
type models struct{ missing map[string]bool }

func (m models) Load(address string) (any, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	doc, err := readYAML(u.Path)
	if errors.Is(err, fs.ErrNotExist) {
		m.missing[filepath.Base(u.Path)] = true
		return map[string]any{}, nil
	}
	return doc, err
}

// unmodelled are what App Platform sends, or takes, and its published model lacks.
var unmodelled = []string{
	"cause_details", "previous_deployment_id", // of a deployment
	"links", "meta", // of a list
}

// answers are the API's, in every phase of a deployment.
func answers(t *testing.T) map[string]any {
	t.Helper()
	a, _ := serve(t, Options{App: sampleApp(), Others: []string{"blog"}})
	out := map[string]any{}
	take := func(name, path string) {
		resp, err := http.Get(strings.TrimSuffix(a.URL(), "/") + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil {
			out[name], err = jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
		}
	}
	app := "/v2/apps/" + a.App()
	for _, phase := range []string{Unknown, PendingBuild, Building, PendingDeploy, Deploying, Active, Superseded, Failed, Canceled} {
		d := a.Create(Cause{Type: Manual, Action: "CREATE_DEPLOYMENT", Text: "manual", ClonedFrom: a.Active()})
		switch phase {
		case Active:
			d.Reused()
		case Failed:
			d.Enter(Deploying)
			d.Fail("DeployContainerExitNonZero", "the container exited")
		}
		d.Enter(phase)
		take("app while "+phase, app)
		take("deployment while "+phase, app+"/deployments/"+d.ID())
	}
	take("apps", "/v2/apps")
	take("deployments", app+"/deployments")
	take("instances", app+"/instances")
	return out
}

// What is served is what the published schema describes, and nothing else.
func TestServesWhatIsPublished(t *testing.T) {
	dir := published(t)
	m := models{map[string]bool{}}
	c := jsonschema.NewCompiler()
	c.UseLoader(m)
	c.AssertFormat()
	c.AssertVocabs()
	model := func(name string) map[string]any { return map[string]any{"$ref": "file://" + dir + "/" + name} }
	list := func(name string) map[string]any { return map[string]any{"type": "array", "items": model(name)} }
	of := map[string]map[string]any{
		"app": model("app.yml"), "apps": list("app.yml"), "instances": list("app_instance.yml"),
		"deployment": model("apps_deployment.yml"), "deployments": list("apps_deployment.yml"),
	}
	for name, answer := range answers(t) {
		key, _, _ := strings.Cut(name, " ")
		address := "file:///answers/" + key
		if err := c.AddResource(address, map[string]any{
			"type": "object", "required": []any{key}, "properties": map[string]any{key: of[key]},
		}); err != nil && !strings.Contains(err.Error(), "already") {
			t.Fatal(err)
		}
		s, err := c.Compile(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(answer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, path := range strangers(s, answer, "") {
			t.Errorf("%s: the schema has no %s", name, path)
		}
	}
	if len(m.missing) > 0 {
		t.Logf("not in the folder, so that what they describe was not checked: %v", slices.Sorted(maps.Keys(m.missing)))
	}
}

// strangers are the paths in a value that its schema does not name.
func strangers(s *jsonschema.Schema, value any, path string) []string {
	var out []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if items := itemsOf(s); items != nil {
				out = append(out, strangers(items, item, path+"[]")...)
			}
		}
	case map[string]any:
		properties := propertiesOf(s)
		if len(properties) == 0 {
			return nil // it takes anything
		}
		for key, item := range v {
			p, described := properties[key]
			switch {
			case described:
				out = append(out, strangers(p, item, path+"."+key)...)
			case !slices.Contains(unmodelled, key):
				out = append(out, path+"."+key)
			}
		}
	}
	return out
}

// parts are a schema and all that it is made of.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	out := []*jsonschema.Schema{s}
	if s.Ref != nil {
		out = append(out, parts(s.Ref)...)
	}
	for _, part := range s.AllOf {
		out = append(out, parts(part)...)
	}
	return out
}

func propertiesOf(s *jsonschema.Schema) map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for _, part := range parts(s) {
		for name, p := range part.Properties {
			out[name] = p
		}
	}
	return out
}

func itemsOf(s *jsonschema.Schema) *jsonschema.Schema {
	for _, part := range parts(s) {
		if items, ok := part.Items.(*jsonschema.Schema); ok {
			return items
		}
		if part.Items2020 != nil {
			return part.Items2020
		}
	}
	return nil
}

// notInExamples are keys that the schema or godo has and no example shows.
var notInExamples = []string{
	".running_steps", ".error_steps", ".success_steps", ".reason", ".reason.code", ".reason.message",
	".cloned_from", ".termination", ".termination.drain_seconds", ".termination.grace_period_seconds",
	".health_check", ".health_check.http_path", ".cause_details", ".previous_deployment_id", ".in_progress_deployment",
}

var deeper = regexp.MustCompile(`(\.steps\[\])+`)

// shapes are the paths of a value and what is there. What is the same at every
// depth (steps of steps, an app's deployments) has one path.
func shapes(value any, path string, out map[string]string) {
	path = deeper.ReplaceAllString(path, ".steps[]")
	for _, d := range []string{".active_deployment", ".pending_deployment", ".in_progress_deployment"} {
		path = strings.Replace(path, ".app"+d, ".deployment", 1)
	}
	switch v := value.(type) {
	case map[string]any:
		out[path] = "object"
		for key, item := range v {
			shapes(item, path+"."+key, out)
		}
	case []any:
		out[path] = "list"
		for _, item := range v {
			shapes(item, path+"[]", out)
		}
	default:
		out[path] = fmt.Sprintf("%T", v)
	}
}

// singular makes one of an item in a list and one that stands alone.
func singular(doc map[string]any) map[string]string {
	out := map[string]string{}
	for key, value := range doc {
		items, list := value.([]any)
		switch name := strings.TrimSuffix(key, "s"); {
		case !list:
			shapes(value, "."+key, out)
		default:
			for _, item := range items {
				shapes(item, "."+name, out)
			}
		}
	}
	return out
}

// What is served looks as the published examples do.
func TestServesWhatTheExamplesShow(t *testing.T) {
	doc, err := readYAML(filepath.Join(published(t), "examples.yml"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, name := range []string{"apps", "app", "deployments", "deployment", "app_instances"} {
		example := doc.(map[string]any)[name].(map[string]any)["value"].(map[string]any)
		for path, kind := range singular(example) {
			shown[path] = kind
		}
	}
	for name, answer := range answers(t) {
		for path, kind := range singular(answer.(map[string]any)) {
			if strings.HasPrefix(path, ".links") || strings.HasPrefix(path, ".meta") || excused(path) {
				continue
			}
			if want, there := shown[path]; !there || want != kind {
				t.Errorf("%s: %s is %s, in the examples %q", name, path, kind, want)
			}
		}
	}
}

func excused(path string) bool {
	return strings.Contains(path, ".cause_details") ||
		slices.ContainsFunc(notInExamples, func(end string) bool { return strings.HasSuffix(path, end) })
}
