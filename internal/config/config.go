// Package config holds what a run was asked to do: every input of the action
// and flag of the commands, parsed and validated into one struct before
// anything is sent.
//
// It is the head of the flow config → probe → samples → analysis → verdict →
// report, and knows nothing of the packages behind it.
package config

import (
	"regexp"
	"strings"
	"time"
)

// Config is one run's inputs. The kong tags make the flags; their names are
// the action's input names. It is written, less the fields tagged json:"-", at
// the head of the samples file, so that a recorded run can be judged again as
// it was; secrets (headers' values, the body, tokens) therefore carry that tag.
type Config struct {
	ID  string `json:"id,omitempty" name:"id" placeholder:"NAME" help:"Tells several probes of one job apart."`
	URL string `json:"url" name:"url" placeholder:"URL" help:"What to probe."`

	SlowURL      string    `json:"slow_url,omitempty" name:"slow-url" placeholder:"URL" help:"An address that answers after many seconds, for requests in flight; {seconds} in it is replaced by the length of each."`
	SlowSeconds  Seconds   `json:"slow_seconds" name:"slow-seconds" sep:"none" default:"20" help:"Length(s) of slow requests in seconds, one or a comma list."`
	SlowInterval Duration  `json:"slow_interval" name:"slow-interval" default:"1s" help:"One slow request this often."`
	VersionFrom  Extractor `json:"version_from" name:"version-from" default:"header:x-version" help:"Where an answer names its version: header:NAME, json:PATH, regex:EXPR or none."`
	InstanceFrom Extractor `json:"instance_from" name:"instance-from" default:"header:x-instance" help:"Where an answer names its instance: header:NAME, json:PATH, regex:EXPR or none."`

	ExpectVersion string `json:"expect_version,omitempty" name:"expect-version" placeholder:"ID" help:"The version id that must answer at the end."`

	Connections int      `json:"connections" name:"connections" default:"20" help:"Size of the kept lane."`
	Rate        Rate     `json:"rate" name:"rate" default:"100/s" help:"Requests per second of the kept lane, like 100/s, or max for a closed loop. The fresh lane runs at a tenth of it."`
	Baseline    Duration `json:"baseline" name:"baseline" default:"30s" help:"How long to probe before the deploy."`
	Settle      Duration `json:"settle" name:"settle" default:"10s" help:"How long after old's end, or after a gap new's first answer, a failure is still the deploy's."`
	Tail        Duration `json:"tail" name:"tail" default:"10s" help:"How long to go on after that."`

	AllowNoBaseline bool     `json:"allow_no_baseline,omitempty" name:"allow-no-baseline" help:"A first deploy: nothing answers before it."`
	CutoverTimeout  Duration `json:"cutover_timeout" name:"cutover-timeout" default:"2m" help:"How long after the deploy's end to wait for a first sign of new."`
	DeployTimeout   Duration `json:"deploy_timeout" name:"deploy-timeout" default:"30m" help:"How long the deploy may take."`
	MaxDuration     Duration `json:"max_duration" name:"max-duration" default:"60m" help:"How long the whole run may take."`

	Method             string      `json:"method" name:"method" default:"GET" help:"Request method."`
	Headers            Headers     `json:"-" name:"headers" placeholder:"LINES" sep:"none" help:"Request headers, one 'Name: value' a line."`
	Body               string      `json:"-" name:"body" placeholder:"TEXT" help:"Request body."`
	ExpectStatus       StatusSet   `json:"expect_status" name:"expect-status" sep:"none" default:"200-399" help:"Status codes that are good, like 200-399 or 200,204."`
	ExpectBody         TextPattern `json:"expect_body,omitzero" name:"expect-body" placeholder:"TEXT" help:"A text the body must hold, or regex:EXPR."`
	Timeout            Duration    `json:"timeout" name:"timeout" default:"10s" help:"Timeout of a fast request; a slow one gets its length + 10 s."`
	CACert             string      `json:"-" name:"ca-cert" placeholder:"FILE" help:"Own certificate authority, a file or PEM text."`
	InsecureSkipVerify bool        `json:"insecure_skip_verify,omitempty" name:"insecure-skip-verify" help:"Do not verify the certificate."`
	ControlURL         string      `json:"control_url,omitempty" name:"control-url" placeholder:"URL" help:"A host that does not depend on the deploy, to tell the prober's own trouble from the service's."`

	DrainWindow       Duration `json:"drain_window,omitempty" name:"drain-window" help:"The drain you were promised, like 15s: a request in flight on old that ended later than last accept + this fails the job."`
	MaxDeployFailures int      `json:"max_deploy_failures" name:"max-deploy-failures" default:"0" help:"How many failures of the deploy's are let pass."`
	IdleRace          string   `json:"idle_race" name:"idle-race" default:"fail" help:"What a keep-alive close race of the deploy's counts as: fail or warn."`
	SilentRetry       string   `json:"silent_retry" name:"silent-retry" default:"warn" help:"What a request executed twice counts as: fail or warn."`
	OnInconclusive    string   `json:"on_inconclusive" name:"on-inconclusive" default:"fail" help:"fail, or warn: exit 0 with a warning."`

	Platform          string `json:"platform,omitempty" name:"platform" default:"none" help:"Follow the deploy on a platform: none, digitalocean (App Platform) or github (the repository's deployments)."`
	Trigger           string `json:"trigger,omitempty" name:"trigger" default:"none" help:"Have the platform deploy once the baseline is in: none, deploy, rebuild or restart."`
	Repeat            int    `json:"repeat,omitempty" name:"repeat" default:"1" help:"That many deploys in one run, one table and one verdict."`
	DigitalOceanToken string `json:"-" name:"digitalocean-token" placeholder:"TOKEN" env:"DIGITALOCEAN_ACCESS_TOKEN" help:"A token with the scope app:read, and app:update for trigger. A command reads it from DIGITALOCEAN_ACCESS_TOKEN too, where no process list shows it."`
	App               string `json:"app,omitempty" name:"app" placeholder:"NAME" help:"The App Platform app, its id or name; with platform github, the environment that is deployed to."`

	GitHubToken string `json:"-" name:"github-token" placeholder:"TOKEN" env:"GITHUB_TOKEN" help:"A token that may read deployments (platform github) and write comments on pull requests."`
	Comment     string `json:"comment,omitempty" name:"comment" default:"auto" help:"The comment on the pull request: auto, always, on-failure or never."`
	CommentKey  string `json:"comment_key,omitempty" name:"comment-key" placeholder:"NAME" help:"Tells several comments on one pull request apart; workflow, job, matrix leg and id, unless given."`

	ReportDir string `json:"-" name:"report-dir" placeholder:"FOLDER" default:"cutwatch-report" help:"Where report.html, result.json and the samples go."`
	History   string `json:"-" name:"history" placeholder:"FOLDER" help:"A folder of earlier results (result.json, in folders below it): what failed then, outside of deploys, tells noise from a drop."`
}

// Fast is the timeout of a fast request.
func (c *Config) Fast() time.Duration { return time.Duration(c.Timeout) }

// FreshRate is the fresh lane's requests per second: a tenth of the kept
// lane's. It is 0 for a closed loop.
func (c *Config) FreshRate() float64 { return c.Rate.PerSecond / 10 }

// Recorded is the config as it may be written down: without the values in the
// queries of its URLs, which may be tokens. The fields that are secrets as a
// whole are left out by their tags.
func (c *Config) Recorded() Config {
	out := *c
	out.URL, out.SlowURL, out.ControlURL = MaskQuery(c.URL), MaskQuery(c.SlowURL), MaskQuery(c.ControlURL)
	return out
}

var queryValue = regexp.MustCompile(`([?&][^=&#]*=)([^&#]*)`)

// MaskQuery replaces the values in a URL's query, which may be tokens.
func MaskQuery(url string) string {
	return queryValue.ReplaceAllStringFunc(url, func(s string) string {
		name, value, _ := strings.Cut(s, "=")
		if value == "" || value == secondsMark {
			return s
		}
		return name + "=***"
	})
}
