package report

import (
	"testing"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/sample"
)

func TestPlatformText(t *testing.T) {
	n := func(v int) *int { return &v }
	for _, tt := range []struct {
		p    *analysis.Platform
		want string
	}{
		{nil, ""},
		{&analysis.Platform{Platform: sample.Platform{Kind: "github"}, DeploymentID: "7"}, "github; deployment 7"},
		{&analysis.Platform{Platform: sample.Platform{Kind: "digitalocean", App: "shop"}}, "digitalocean, shop"},
		{&analysis.Platform{Platform: sample.Platform{Kind: "digitalocean", App: "a\x1bb", Component: "web", DrainSeconds: n(15), GracePeriodSeconds: n(120), InstanceCount: n(2)}, DeploymentID: "d-1"},
			`digitalocean, "a\x1bb"; web is set to drain 15 s, grace 120 s, instances 2; deployment d-1`},
	} {
		if got := platformText(tt.p); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A platform that showed no deployment has none, rather than one without a name.
func TestDeploymentIsNullWhereNoneWasSeen(t *testing.T) {
	if p := newPlatform(&analysis.Platform{}); p.DeploymentID != nil {
		t.Errorf("the deployment is %q, want null", *p.DeploymentID)
	}
	if p := newPlatform(&analysis.Platform{DeploymentID: "d-1"}); p.DeploymentID == nil || *p.DeploymentID != "d-1" {
		t.Errorf("the deployment is %v, want d-1", p.DeploymentID)
	}
}

// What a platform or a connection said is escaped once, by those who tell of it:
// the quotes in it, and line breaks that are already visible, stay as they are.
func TestWhatWasSaidIsNotEscapedAgain(t *testing.T) {
	const said = `a & b <c> | step "web 1" said\n"no"`
	d := analysis.Deploy{Signals: []analysis.Signal{{Name: "pod-ready", Message: "web-1"}, {Name: "ERROR", Message: said}}}
	if got, want := signalsText(d), "0:00.0 pod-ready web-1, 0:00.0 ERROR ("+said+")"; got != want {
		t.Errorf("signals:\ngot  %s\nwant %s", got, want)
	}
	g := group{failures: []analysis.Failure{{Lane: "kept", Error: said}}}
	if got, want := g.facts(), "lane kept; "+said; got != want {
		t.Errorf("facts:\ngot  %s\nwant %s", got, want)
	}
}
