package analysis

import (
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// edgeAnswers is a deploy through App Platform's edge in which requests of the
// cutover are answered so.
func edgeAnswers(t *testing.T, change func(*sample.Platform), make func(*sample.Sample)) *Analysis {
	t.Helper()
	w := onAppPlatform(at(18), change)
	noise(w, func(s *sample.Sample) {
		bad502(s)
		s.Edge = "app-platform"
		make(s)
	}, row(at(16), 3)...)
	w.probe(0, at(35))
	return w.analyse(t)
}

func TestWhatTheEdgeSays(t *testing.T) {
	headers := func(h ...string) func(*sample.Sample) {
		return func(s *sample.Sample) {
			s.Headers = map[string]string{"x-do-app-origin": "6f9d…"}
			for i := 0; i < len(h); i += 2 {
				s.Headers[h[i]] = h[i+1]
			}
		}
	}
	page := func(status int, text string) func(*sample.Sample) {
		return func(s *sample.Sample) {
			s.Status, s.Excerpt = status, text
			s.Headers = map[string]string{"x-do-app-origin": "6f9d…"}
		}
	}
	for _, tt := range []struct {
		name string
		make func(*sample.Sample)
		want string
	}{
		{"the instance was gone", headers("x-do-failure-code", "UC", "x-do-orig-status", "503"), "the instance was gone: it closed the connection before it answered (503 UC)"},
		{"no healthy instance", headers("x-do-failure-code", "UH", "x-do-orig-status", "503", "x-do-failure-msg", "no_healthy_upstream"), "there was no healthy instance (503 UH, no_healthy_upstream)"},
		{"the app itself", headers("x-do-failure-code", "-", "x-do-orig-status", "503", "x-do-failure-msg", "via_upstream"), "the app itself answered so (503 -, via_upstream)"},
		{"a flag that is not known", headers("x-do-failure-code", "ZZ\x1b[1m"), `flag "ZZ\x1b`},
		{"its page", page(504, "<p>DETAIL no_healthy_upstream (503 UH)</p>"), "there was no healthy instance (503 UH, no_healthy_upstream)"},
		{"its page, with a reason in braces", page(504, "upstream_reset_before_response_started{connection_termination} (503 UC)"), "the instance was gone"},
		{"its page for the app's own answer", page(504, "via_upstream (503 -)"), "the app itself answered so"},
		{"another status behind it", headers("x-do-orig-status", "503"), "the edge made it of a 503 from behind it"},
		{"its status alone", page(504, "error code: 504"), "the edge itself answered, and names no failure behind it"},
		{"Cloudflare alone", func(s *sample.Sample) {
			s.Status, s.Edge, s.Headers = 522, "cloudflare", map[string]string{"server": "cloudflare", "cf-cache-status": "DYNAMIC"}
		}, "Cloudflare's own page: the request did not reach App Platform (cf-cache-status DYNAMIC)"},
	} {
		a := edgeAnswers(t, nil, tt.make)
		if len(a.Failures) != 3 {
			t.Errorf("%s: %d failures", tt.name, len(a.Failures))
			continue
		}
		holds(t, a.Failures[0].Evidence, tt.want)
	}
}

// An answer of the app's own has nothing of the edge's in its evidence.
func TestTheAppsOwnAnswer(t *testing.T) {
	a := edgeAnswers(t, nil, func(s *sample.Sample) {
		failStatus(s, 500, sample.ByApp)
		s.Headers = map[string]string{"x-do-app-origin": "6f9d…"}
	})
	if len(a.Failures) != 3 {
		t.Fatalf("%d failures", len(a.Failures))
	}
	for _, f := range a.Failures {
		if f.Attribution != ByDeploy || strings.Contains(f.Evidence, "the edge") {
			t.Errorf("%+v", f)
		}
	}
}

// What the edge refuses without asking the app says nothing of the deploy.
func TestRefusedByTheEdge(t *testing.T) {
	status := func(n int, edge string, headers map[string]string, text string) func(*sample.Sample) {
		return func(s *sample.Sample) { s.Status, s.Edge, s.Headers, s.Excerpt = n, edge, headers, text }
	}
	cloudflare, origin := map[string]string{"server": "cloudflare"}, map[string]string{"x-do-app-origin": "6f9d…"}
	sleeps := func(p *sample.Platform) { p.SleepSeconds = ptr(600) }
	threats := func(p *sample.Platform) { p.ThreatControl = true }
	for _, tt := range []struct {
		name   string
		change func(*sample.Platform)
		make   func(*sample.Sample)
		by     string
	}{
		{"an unknown host", nil, status(403, "cloudflare", cloudflare, ""), ByConfig},
		{"threat control", threats, status(403, "app-platform", origin, ""), ByConfig},
		{"a 403 from behind the edge", nil, status(403, "app-platform", origin, ""), ByDeploy},
		{"a page while it wakes", sleeps, status(503, "app-platform", origin, "<html>"), ByConfig},
		{"a page that says so", nil, status(503, "app-platform", origin, "The app is waking up"), ByConfig},
		{"a 503 of one that sleeps, with its failure", sleeps, status(503, "app-platform", map[string]string{"x-do-failure-code": "UH"}, ""), ByDeploy},
		{"a 503 of one that never sleeps", nil, status(503, "app-platform", origin, "<html>"), ByDeploy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := edgeAnswers(t, tt.change, tt.make)
			reason := ReasonInCutover
			if tt.by == ByConfig {
				reason = ReasonBlocked
			}
			only(t, a, 3, tt.by, reason)
		})
	}
}
