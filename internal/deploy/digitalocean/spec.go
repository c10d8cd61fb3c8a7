package digitalocean

import (
	"net/url"
	"strings"

	"github.com/digitalocean/godo"

	"github.com/cutwatch/cutwatch/internal/appspec"
	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// facts is what old lives by: the spec of the deployment that is active, which
// an update of the app's spec does not change. address is what is probed: its
// path tells which component answers.
func facts(app *godo.App, address string) sample.Platform {
	spec := app.Spec
	if app.ActiveDeployment != nil && app.ActiveDeployment.Spec != nil {
		spec = app.ActiveDeployment.Spec
	}
	p := sample.Platform{Kind: config.PlatformDigitalOcean, App: nameOf(app), AppID: app.ID, URL: liveURL(app)}
	if spec == nil {
		return p
	}
	cache := !spec.DisableEdgeCache
	p.EdgeCache, p.ThreatControl = &cache, spec.EnhancedThreatControlEnabled
	if address == "" {
		address = p.URL
	}
	if s := serving(spec, address); s != nil {
		service(&p, s)
	}
	return p
}

// service adds what one service is set to.
func service(p *sample.Platform, s *godo.AppServiceSpec) {
	p.Component = s.Name
	drain, grace, count := appspec.DefaultDrain, appspec.DefaultGrace, 1
	if t := s.Termination; t != nil {
		drain, grace = orDefault(t.DrainSeconds, drain), orDefault(t.GracePeriodSeconds, grace)
	}
	if s.InstanceCount > 0 {
		count = int(s.InstanceCount)
	}
	if a := s.Autoscaling; a != nil {
		p.Autoscaling = true
		count = max(1, int(a.MinInstanceCount))
	}
	p.DrainSeconds, p.GracePeriodSeconds, p.InstanceCount = sane(drain), sane(grace), sane(count)
	p.HealthCheck = "tcp" // what the platform does where the spec has no path
	if h := s.HealthCheck; h != nil {
		if path := h.HTTPPath + h.Path; path != "" {
			p.HealthCheck = "http " + path
		}
	}
	if z := s.InactivitySleep; z != nil && z.AfterSeconds > 0 {
		p.SleepSeconds = sane(int(z.AfterSeconds))
	}
}

// sane is a number that a spec can hold; nil where the answer holds another.
func sane(n int) *int {
	if n < 0 || n > sample.MaxCount {
		return nil
	}
	return &n
}

func orDefault(v int32, d int) int {
	if v > 0 {
		return int(v)
	}
	return d
}

// liveURL is where the app answers; "" where it does not yet.
func liveURL(app *godo.App) string {
	if app.LiveURL != "" {
		return app.LiveURL
	}
	return app.DefaultIngress
}

// serving is the service that answers at an address; nil where that is another
// kind of component, or cannot be told.
func serving(spec *godo.AppSpec, address string) *godo.AppServiceSpec {
	path := "/"
	if u, err := url.Parse(address); err == nil && u.Path != "" {
		path = u.Path
	}
	name, found, most := "", false, -1
	consider := func(component, prefix string, exact bool) {
		if fits(path, prefix, exact) && len(prefix) > most {
			name, found, most = component, true, len(prefix)
		}
	}
	if spec.Ingress != nil {
		for _, r := range spec.Ingress.Rules {
			if r != nil && r.Component != nil {
				prefix, exact := prefixOf(r.Match)
				consider(r.Component.Name, prefix, exact)
			}
		}
	}
	if !found {
		for _, s := range spec.Services {
			for _, r := range s.Routes {
				consider(s.Name, r.Path, false)
			}
		}
		for _, s := range spec.StaticSites {
			for _, r := range s.Routes {
				consider(s.Name, r.Path, false)
			}
		}
	}
	if !found && len(spec.Services) == 1 && len(spec.StaticSites)+len(spec.Functions) == 0 {
		return spec.Services[0]
	}
	for _, s := range spec.Services {
		if found && s.Name == name {
			return s
		}
	}
	return nil
}

// prefixOf is what a rule asks of a path; without a match that is anything.
func prefixOf(m *godo.AppIngressSpecRuleMatch) (prefix string, exact bool) {
	switch {
	case m == nil || m.Path == nil:
		return "", false
	case m.Path.Exact != nil:
		return *m.Path.Exact, true
	case m.Path.Prefix != nil:
		return *m.Path.Prefix, false
	}
	return "", false
}

// fits tells whether a path is the prefix, or is below it.
func fits(path, prefix string, exact bool) bool {
	if exact {
		return path == prefix
	}
	prefix = strings.TrimSuffix(prefix, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
