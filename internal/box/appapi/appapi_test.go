package appapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"
)

// serve starts an API that ends with the test, and a client without retries.
func serve(t *testing.T, o Options) (*API, *godo.Client) {
	t.Helper()
	a, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	c := godo.NewClient(&http.Client{Transport: bearer{o.Token}})
	if c.BaseURL, err = url.Parse(a.URL()); err != nil {
		t.Fatal(err)
	}
	return a, c
}

// bearer sends the token.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func sampleApp() App {
	return App{Name: "shop", LiveURL: "http://127.0.0.1:8080", Instances: 2, DrainSeconds: 60, HealthPath: "/healthz"}
}

// godo reads the app, its spec and its deployments.
func TestGodoReadsTheApp(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp(), Others: []string{"blog"}, Token: "secret"})
	ctx := t.Context()
	apps, _, err := c.Apps.List(ctx, nil)
	if err != nil || len(apps) != 2 || apps[0].Spec.Name != "shop" || apps[1].Spec.Name != "blog" {
		t.Fatalf("apps %v, %v", apps, err)
	}
	got, _, err := c.Apps.Get(ctx, a.App())
	if err != nil {
		t.Fatal(err)
	}
	s := got.Spec.Services[0]
	if got.LiveURL != "http://127.0.0.1:8080" || s.InstanceCount != 2 || s.Termination.DrainSeconds != 60 || s.Termination.GracePeriodSeconds != 0 || s.HealthCheck.HTTPPath != "/healthz" {
		t.Errorf("the app as read: %v", got)
	}
	if got.ActiveDeployment == nil || got.PendingDeployment != nil || got.InProgressDeployment != nil {
		t.Errorf("active %v, pending %v, in progress %v; want one that is active", got.ActiveDeployment, got.PendingDeployment, got.InProgressDeployment)
	}
	instances, _, err := c.Apps.GetAppInstances(ctx, a.App(), nil)
	if err != nil || len(instances) != 2 {
		t.Errorf("instances %v, %v; want 2", instances, err)
	}
}

// A deployment goes through its phases, and its steps with it.
func TestDeployment(t *testing.T) {
	var seen []string
	through := make(chan struct{})
	a, c := serve(t, Options{App: sampleApp(), Deploy: func(_ context.Context, d *Deployment) {
		for _, phase := range []string{Building, PendingDeploy, Deploying, Active} {
			d.Enter(phase)
			seen = append(seen, phase)
		}
		close(through)
	}})
	made, _, err := c.Apps.CreateDeployment(t.Context(), a.App(), &godo.DeploymentCreateRequest{ForceBuild: true})
	if err != nil {
		t.Fatal(err)
	}
	if made.Phase != godo.DeploymentPhase_PendingBuild || made.Progress.PendingSteps != made.Progress.TotalSteps || made.PreviousDeploymentID == "" {
		t.Errorf("made as %v with %v", made.Phase, made.Progress)
	}
	<-through
	d, _, err := c.Apps.GetDeployment(t.Context(), a.App(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d.Phase != godo.DeploymentPhase_Active || d.Progress.SuccessSteps != d.Progress.TotalSteps || d.Progress.Steps[1].EndedAt.IsZero() {
		t.Errorf("it ends as %v with %v", d.Phase, d.Progress)
	}
	list, resp, err := c.Apps.ListDeployments(t.Context(), a.App(), &godo.ListOptions{PerPage: 1})
	if err != nil || len(list) != 1 || list[0].ID != made.ID || resp.Meta.Total != 2 || resp.Links.IsLastPage() {
		t.Errorf("list %v, %v", list, err)
	}
	if first, _, err := c.Apps.GetDeployment(t.Context(), a.App(), made.PreviousDeploymentID); err != nil || first.Phase != godo.DeploymentPhase_Superseded {
		t.Errorf("the one before: %v, %v; want it superseded", first, err)
	}
	if diff := cmp.Diff(1, a.Posts()); diff != "" {
		t.Errorf("posts: %s", diff)
	}
}

// A failure is in the step that was under way.
func TestFailure(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp()})
	for phase, step := range map[string]int{Building: 0, Deploying: 1} {
		d := a.Create(Cause{Type: DeployOnPush})
		d.Enter(phase)
		d.Fail("SomeCode", "some message")
		got, _, err := c.Apps.GetDeployment(t.Context(), a.App(), d.ID())
		if err != nil {
			t.Fatal(err)
		}
		at := got.Progress.Steps[step].Steps[1].Steps[0]
		for len(at.Steps) > 0 {
			at = at.Steps[len(at.Steps)-1]
		}
		if got.Phase != godo.DeploymentPhase_Error || got.Progress.ErrorSteps != 1 && step == 1 || at.Reason == nil || at.Reason.Code != "SomeCode" {
			t.Errorf("in %s: %v with %v", phase, got.Phase, got.Progress)
		}
	}
}

func TestScript(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp()})
	d := a.Create(Cause{Type: Manual})
	a.Play(t.Context(), d, []Step{
		{Reused: true, Phase: Deploying}, {Phase: Superseded, Next: &Cause{Type: DeployOnPush}, Script: []Step{{Phase: Active}}},
	})
	got, _, err := c.Apps.GetDeployment(t.Context(), a.App(), d.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got.Phase != godo.DeploymentPhase_Superseded || got.Progress.Steps[0].Steps[1].Steps[0].Reason.Code != "PreviousBuildReused" {
		t.Errorf("%v with %v", got.Phase, got.Progress)
	}
	if ids := a.Deployments(); len(ids) != 3 {
		t.Errorf("%d deployments, want 3", len(ids))
	}
}

// A list may not have yet what there is.
func TestListLag(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp(), ListLag: time.Hour})
	d := a.Create(Cause{Type: Manual})
	list, _, err := c.Apps.ListDeployments(t.Context(), a.App(), nil)
	if err != nil || slices.ContainsFunc(list, func(x *godo.Deployment) bool { return x.ID == d.ID() }) {
		t.Errorf("list %v, %v", list, err)
	}
	if got, _, err := c.Apps.GetDeployment(t.Context(), a.App(), d.ID()); err != nil || got.ID != d.ID() {
		t.Errorf("by its id: %v, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp(), Token: "right", ReadOnly: true})
	status := func(err error) int {
		if e, ok := errors.AsType[*godo.ErrorResponse](err); ok {
			return e.Response.StatusCode
		}
		return 0
	}
	_, _, err := c.Apps.Get(t.Context(), "nobody")
	if status(err) != http.StatusNotFound {
		t.Errorf("another app: %v", err)
	}
	if _, _, err = c.Apps.Restart(t.Context(), a.App(), nil); status(err) != http.StatusForbidden {
		t.Errorf("a restart without the scope: %v", err)
	}
	c.HTTPClient.Transport = bearer{"wrong"}
	if _, _, err = c.Apps.Get(t.Context(), a.App()); status(err) != http.StatusUnauthorized {
		t.Errorf("another token: %v", err)
	}
}

func TestFaults(t *testing.T) {
	const restart = "/restart"
	tests := []struct {
		name   string
		fault  Fault
		status int    // 0: none that godo tells of
		text   string // in the error
		done   bool
	}{
		{"a limit", Fault{Status: 429, RetryAfter: "3"}, 429, "rate limit", false},
		{"an error after it was done", Fault{Status: 503, Done: true}, 503, "", true},
		{"a page of the edge's", Fault{Status: 524, HTML: true}, 524, "", false},
		{"cut short", Fault{Cut: true}, 0, "unexpected EOF", true},
		{"reset", Fault{Reset: true}, 0, "", false},
		{"never answered", Fault{Hang: true, Done: true}, 0, "deadline", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, c := serve(t, Options{App: sampleApp()})
			tt.fault.Method, tt.fault.Path, tt.fault.Count = http.MethodPost, restart, 1
			a.Break(tt.fault)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, resp, err := c.Apps.Restart(ctx, a.App(), nil)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %q in it", err, tt.text)
			}
			if resp != nil && resp.StatusCode != tt.status || resp == nil && tt.status != 0 {
				t.Errorf("answered %v, want %d", resp, tt.status)
			}
			if tt.fault.RetryAfter != "" && resp.Header.Get("Retry-After") != tt.fault.RetryAfter {
				t.Errorf("headers %v", resp.Header)
			}
			if done := len(a.Deployments()) == 2; done != tt.done {
				t.Errorf("carried out: %v, want %v", done, tt.done)
			}
			if _, _, err := c.Apps.Restart(t.Context(), a.App(), nil); err != nil {
				t.Errorf("once it is over: %v", err)
			}
			if got := a.Posts(); got != 2 {
				t.Errorf("%d posts in the record, want 2", got)
			}
		})
	}
}

func TestClockAndRecord(t *testing.T) {
	a, c := serve(t, Options{App: sampleApp(), Skew: 90 * time.Second})
	_, resp, err := c.Apps.Get(t.Context(), a.App())
	if err != nil {
		t.Fatal(err)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if ahead := time.Until(date); err != nil || ahead < 85*time.Second || ahead > 91*time.Second {
		t.Errorf("its clock is %v ahead (%v), want 90 s", ahead, err)
	}
	want := []Request{{Method: http.MethodGet, Path: "/v2/apps/" + a.App(), Status: http.StatusOK}}
	got := a.Record()
	got[0].At = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if n := a.Busiest(time.Minute); n != 1 {
		t.Errorf("busiest %d, want 1", n)
	}
}
