package digitalocean

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func appOf(t *testing.T, text string) *godo.App {
	t.Helper()
	var app godo.App
	if err := json.Unmarshal([]byte(text), &app); err != nil {
		t.Fatal(err)
	}
	return &app
}

func TestFacts(t *testing.T) {
	n := func(v int) *int { return &v }
	yes, no := true, false
	for _, tt := range []struct {
		name, app, url string
		want           sample.Platform
	}{
		{"the defaults", `{"id":"1","live_url":"https://shop.example","spec":{"name":"shop","services":[{"name":"web"}]}}`, "",
			sample.Platform{URL: "https://shop.example", Component: "web", DrainSeconds: n(15), GracePeriodSeconds: n(120), InstanceCount: n(1), HealthCheck: "tcp", EdgeCache: &yes}},
		{"all that is set", `{"id":"1","default_ingress":"https://x.example","spec":{"name":"shop","disable_edge_cache":true,"enhanced_threat_control_enabled":true,"services":[{"name":"web","instance_count":3,
			"termination":{"drain_seconds":60,"grace_period_seconds":90},"health_check":{"http_path":"/ready"},"inactivity_sleep":{"after_seconds":600}}]}}`, "",
			sample.Platform{URL: "https://x.example", Component: "web", DrainSeconds: n(60), GracePeriodSeconds: n(90), InstanceCount: n(3), HealthCheck: "http /ready", EdgeCache: &no, SleepSeconds: n(600), ThreatControl: true}},
		{"one of two is set", `{"id":"1","spec":{"name":"shop","services":[{"name":"web","termination":{"drain_seconds":30},"autoscaling":{"min_instance_count":2,"max_instance_count":5}}]}}`, "",
			sample.Platform{Component: "web", DrainSeconds: n(30), GracePeriodSeconds: n(120), InstanceCount: n(2), Autoscaling: true, HealthCheck: "tcp", EdgeCache: &yes}},
		{"old lives by the active deployment's spec", `{"id":"1","spec":{"name":"shop","services":[{"name":"web","termination":{"drain_seconds":60}}]},
			"active_deployment":{"id":"d","spec":{"name":"shop","services":[{"name":"web"}]}}}`, "",
			sample.Platform{Component: "web", DrainSeconds: n(15), GracePeriodSeconds: n(120), InstanceCount: n(1), HealthCheck: "tcp", EdgeCache: &yes}},
		{"the path tells the service", `{"id":"1","spec":{"name":"shop","services":[{"name":"web"},{"name":"api","termination":{"drain_seconds":99}}],"ingress":{"rules":[
			{"match":{"path":{"prefix":"/"}},"component":{"name":"web"}},{"match":{"path":{"prefix":"/api"}},"component":{"name":"api"}}]}}}`, "https://shop.example/api/orders",
			sample.Platform{Component: "api", DrainSeconds: n(99), GracePeriodSeconds: n(120), InstanceCount: n(1), HealthCheck: "tcp", EdgeCache: &yes}},
		{"a path that only begins like it", `{"id":"1","spec":{"name":"shop","services":[{"name":"web"},{"name":"api"}],"ingress":{"rules":[
			{"match":{"path":{"prefix":"/"}},"component":{"name":"web"}},{"match":{"path":{"prefix":"/api"}},"component":{"name":"api"}}]}}}`, "https://shop.example/apiary",
			sample.Platform{Component: "web", DrainSeconds: n(15), GracePeriodSeconds: n(120), InstanceCount: n(1), HealthCheck: "tcp", EdgeCache: &yes}},
		{"routes of old", `{"id":"1","spec":{"name":"shop","services":[{"name":"web","routes":[{"path":"/"}]},{"name":"api","routes":[{"path":"/api"}]}]}}`, "https://shop.example/api",
			sample.Platform{Component: "api", DrainSeconds: n(15), GracePeriodSeconds: n(120), InstanceCount: n(1), HealthCheck: "tcp", EdgeCache: &yes}},
		{"a static site has no drain", `{"id":"1","spec":{"name":"shop","services":[{"name":"api"}],"static_sites":[{"name":"site"}],"ingress":{"rules":[
			{"match":{"path":{"prefix":"/"}},"component":{"name":"site"}},{"match":{"path":{"prefix":"/api"}},"component":{"name":"api"}}]}}}`, "https://shop.example/",
			sample.Platform{EdgeCache: &yes}},
		{"which of two is not known", `{"id":"1","spec":{"name":"shop","services":[{"name":"web"},{"name":"api"}]}}`, "", sample.Platform{EdgeCache: &yes}},
	} {
		tt.want.Kind, tt.want.App, tt.want.AppID = "digitalocean", "shop", "1"
		if diff := cmp.Diff(tt.want, facts(appOf(t, tt.app), tt.url)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := facts(&godo.App{ID: "1"}, ""); got.App != "1" || got.DrainSeconds != nil || got.EdgeCache != nil {
		t.Errorf("without a spec: %+v", got)
	}
}

func TestWarnings(t *testing.T) {
	const shop = `{"id":"1","live_url":"https://shop.example","spec":{"name":"shop","services":[{"name":"web"%s}]}%s}`
	for _, tt := range []struct {
		name, service, app, list string
		seconds                  config.Seconds
		trigger                  string
		want                     []string // of each warning a part, in order
	}{
		{"nothing to say", "", "", "", config.Seconds{10, 15}, "", nil},
		{"longer than the default drain", "", "", "", config.Seconds{5, 20}, "",
			[]string{"20.0 s outlives termination.drain_seconds, 15 (the default) for web: every deploy cuts it, unless the app finishes its requests on SIGTERM, within grace_period_seconds (120 (the default)); the cure is this line under the service in the app spec, with which a deploy takes up to 11 s longer: termination: {drain_seconds: 26, grace_period_seconds: 120}"}},
		{"longer than its own drain", `,"termination":{"drain_seconds":60,"grace_period_seconds":90}`, "", "", config.Seconds{80}, "", []string{"up to 41 s longer: termination: {drain_seconds: 101, grace_period_seconds: 90}"}},
		{"longer than any drain", "", "", "", config.Seconds{120}, "", []string{"the edge ends a request", "drain_seconds: 110, grace_period_seconds: 120}, which is the most and not enough"}},
		{"within its own drain", `,"termination":{"drain_seconds":60}`, "", "", config.Seconds{20}, "", nil},
		{"another deployment is under way", "", "", `{"id":"d1","phase":"BUILDING"},{"id":"d0","phase":"ACTIVE"}`, nil, "", []string{"d1 of shop is under way already (BUILDING)"}},
		{"pinned", "", `,"pinned_deployment":{"id":"d0"}`, "", nil, "deploy", []string{"pinned"}},
		{"a restart that cannot be seen", "", "", "", nil, "restart", []string{"instance-from is none"}},
		{"pinned, and only watched", "", `,"pinned_deployment":{"id":"d0"}`, "", nil, "none", nil},
	} {
		s := source(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/apps" {
				fmt.Fprintf(w, `{"apps":[%s]}`, fmt.Sprintf(shop, tt.service, tt.app))
				return
			}
			fmt.Fprintf(w, `{"deployments":[%s]}`, tt.list)
		}, func(c *config.Config) {
			c.Trigger = tt.trigger
			if tt.trigger == "restart" {
				c.InstanceFrom = config.Extractor{Kind: config.FromNone}
			}
			if tt.seconds != nil {
				c.SlowURL, c.SlowSeconds = "https://shop.example/slow?s={seconds}", tt.seconds
			}
		})
		p, err := s.Prepare(t.Context())
		if err != nil || len(p.Warnings) != len(tt.want) {
			t.Errorf("%s: %v, %v", tt.name, p, err)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(p.Warnings[i], want) {
				t.Errorf("%s: %s\nwant in it: %s", tt.name, p.Warnings[i], want)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	n := 15
	p := Prepared{Platform: sample.Platform{App: "shop", URL: "https://shop.example", Component: "web", DrainSeconds: &n}}
	cfg := config.Default()
	notes, err := p.Complete(cfg)
	if err != nil || len(notes) != 2 || cfg.URL != "https://shop.example" || time.Duration(cfg.DrainWindow) != 15*time.Second {
		t.Errorf("%q, %v: url %s, drain-window %s", notes, err, cfg.URL, cfg.DrainWindow)
	}
	cfg = config.Default()
	cfg.URL, cfg.DrainWindow = "https://other.example/", config.Duration(time.Minute)
	if notes, err := p.Complete(cfg); err != nil || len(notes) != 0 || cfg.URL != "https://other.example/" || time.Duration(cfg.DrainWindow) != time.Minute {
		t.Errorf("what is given was changed: %q, %v: %s, %s", notes, err, cfg.URL, cfg.DrainWindow)
	}
	p.Platform.URL = ""
	if _, err := p.Complete(config.Default()); err == nil || !strings.HasPrefix(err.Error(), "url: ") {
		t.Errorf("an app without an address: %v", err)
	}
}
