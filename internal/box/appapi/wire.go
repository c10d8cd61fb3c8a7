package appapi

import "time"

// What is sent, named and shaped as App Platform's API has it. Times that are
// not known yet are sent as the year 1, as the API does.

type app struct {
	ID                   string      `json:"id"`
	OwnerUUID            string      `json:"owner_uuid,omitempty"`
	Spec                 spec        `json:"spec"`
	DefaultIngress       string      `json:"default_ingress,omitempty"`
	CreatedAt            time.Time   `json:"created_at"`
	UpdatedAt            time.Time   `json:"updated_at"`
	ActiveDeployment     *deployment `json:"active_deployment,omitempty"`
	InProgressDeployment *deployment `json:"in_progress_deployment,omitempty"`
	PendingDeployment    *deployment `json:"pending_deployment,omitempty"`
	LastDeploymentAt     *time.Time  `json:"last_deployment_created_at,omitempty"`
	LiveURL              string      `json:"live_url,omitempty"`
	LiveURLBase          string      `json:"live_url_base,omitempty"`
	LiveDomain           string      `json:"live_domain,omitempty"`
	Region               *region     `json:"region,omitempty"`
	TierSlug             string      `json:"tier_slug,omitempty"`
}

type region struct {
	Slug      string `json:"slug"`
	Label     string `json:"label"`
	Continent string `json:"continent"`
}

type spec struct {
	Name        string    `json:"name"`
	Region      string    `json:"region,omitempty"`
	Services    []service `json:"services,omitempty"`
	StaticSites []site    `json:"static_sites,omitempty"`
	NoEdgeCache bool      `json:"disable_edge_cache,omitempty"`
}

type site struct {
	Name string `json:"name"`
}

type service struct {
	Name          string       `json:"name"`
	Git           git          `json:"git"`
	Environment   string       `json:"environment_slug"`
	InstanceSize  string       `json:"instance_size_slug"`
	InstanceCount int          `json:"instance_count"`
	HTTPPort      int          `json:"http_port"`
	Health        *health      `json:"health_check,omitempty"`
	Termination   *termination `json:"termination,omitempty"`
}

type git struct {
	CloneURL string `json:"repo_clone_url"`
	Branch   string `json:"branch"`
}

type health struct {
	HTTPPath string `json:"http_path"`
}

type termination struct {
	DrainSeconds       int `json:"drain_seconds,omitempty"`
	GracePeriodSeconds int `json:"grace_period_seconds,omitempty"`
}

type deployment struct {
	ID                 string         `json:"id"`
	Spec               spec           `json:"spec"`
	Services           []source       `json:"services,omitempty"`
	PhaseLastUpdatedAt time.Time      `json:"phase_last_updated_at"`
	CreatedAt          time.Time      `json:"created_at"`
	UpdatedAt          time.Time      `json:"updated_at"`
	Cause              string         `json:"cause"`
	ClonedFrom         string         `json:"cloned_from,omitempty"`
	Progress           progress       `json:"progress"`
	Phase              string         `json:"phase"`
	TierSlug           string         `json:"tier_slug"`
	Previous           string         `json:"previous_deployment_id,omitempty"`
	CauseDetails       map[string]any `json:"cause_details"`
}

type source struct {
	Name   string `json:"name"`
	Commit string `json:"source_commit_hash"`
}

type progress struct {
	Pending int     `json:"pending_steps,omitempty"`
	Running int     `json:"running_steps,omitempty"`
	Success int     `json:"success_steps,omitempty"`
	Failed  int     `json:"error_steps,omitempty"`
	Total   int     `json:"total_steps"`
	Steps   []*step `json:"steps"`
}

type step struct {
	Name      string     `json:"name"`
	Status    string     `json:"status"`
	Steps     []*step    `json:"steps,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Reason    *reason    `json:"reason,omitempty"`
	Component string     `json:"component_name,omitempty"`
	Message   string     `json:"message_base,omitempty"`
}

type reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type instance struct {
	Component string `json:"component_name"`
	Type      string `json:"component_type"`
	Name      string `json:"instance_name"`
	Alias     string `json:"instance_alias"`
}

// appNow is the app as it stands; the API is locked.
func (a *API) appNow() app {
	out := app{
		ID: a.o.App.ID, OwnerUUID: "a4e16f25-cdd1-4483-b246-d77f283c9209",
		Spec: a.spec(), LiveURL: a.o.App.LiveURL, LiveURLBase: a.o.App.LiveURL, DefaultIngress: a.o.App.LiveURL,
		CreatedAt: a.made, UpdatedAt: a.made, TierSlug: "basic",
		Region: &region{Slug: "ams", Label: "Amsterdam", Continent: "Europe"},
	}
	for _, d := range a.deployments {
		w := d.wire()
		out.LastDeploymentAt = &w.CreatedAt
		switch {
		case d.phase == Active:
			out.ActiveDeployment = &w
		case Final(d.phase):
		case d.phase == PendingBuild:
			out.PendingDeployment = &w
		default:
			out.InProgressDeployment = &w
		}
	}
	return out
}

func (a *API) spec() spec {
	x := a.o.App
	out := spec{Name: x.Name, Region: "ams", NoEdgeCache: x.NoEdgeCache}
	if x.Static {
		out.StaticSites = []site{{Name: x.Component}}
		return out
	}
	s := service{
		Name: x.Component, Git: git{"https://github.com/example/app.git", "main"}, Environment: "go",
		InstanceSize: "apps-s-1vcpu-0.5gb", InstanceCount: x.Instances, HTTPPort: 8080,
	}
	if x.HealthPath != "" {
		s.Health = &health{x.HealthPath}
	}
	if x.DrainSeconds > 0 || x.GracePeriodSeconds > 0 {
		s.Termination = &termination{x.DrainSeconds, x.GracePeriodSeconds}
	}
	out.Services = []service{s}
	return out
}
