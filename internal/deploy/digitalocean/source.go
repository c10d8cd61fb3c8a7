// Package digitalocean is the source of a deploy on DigitalOcean's App
// Platform: it reads what the app is set to, has it deploy where it is asked
// to, and follows the deployment through its phases.
//
// # What it tells
//
// The deployment that is followed is the one that the trigger made, or the
// first that was not there when the run started; never the newest of the list.
// A deployment that is superseded hands over to the one that superseded it. The
// deployment is judged by its phase alone.
//
// Its phases are signals named as the platform names them (PENDING_BUILD,
// BUILDING, PENDING_DEPLOY, DEPLOYING, ACTIVE, SUPERSEDED, ERROR, CANCELED); its
// steps are signals named "step " and the step's path ("step deploy/web/wait").
// At is the platform's time, moved by what the Date headers say of its clock.
//
// The signal of kind start is DEPLOYING, not the trigger and not the build: a
// build runs beside the app and can drop nothing, and a window that held it
// would take the background's failures of minutes for possible drops. Where
// DEPLOYING was never seen, it is what must have been it: the step "deploy".
// The signal of kind end is the last phase: ACTIVE succeeded; ERROR and CANCELED
// failed, with the reason's code and message.
//
// # What it does about trouble
//
// A GET is repeated, with waits that grow to 30 s or are what Retry-After says;
// a POST never: where its answer was lost, the deployment that it may have made
// is looked for, among those whose cause may be it. Ten minutes without an answer end the following, not the run.
// What was missed is told by signals (api-lost, api-back). The token is in no
// error and no signal.
package digitalocean

import (
	"context"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/deploy/clock"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// URLVariable is the environment variable that names another API than
// DigitalOcean's own: scheme and host alone. Only https, or http to the
// loopback, since the token is sent there.
const URLVariable = "DIGITALOCEAN_API_URL"

// Source is the deploy of one app. It may be run several times, one after the
// other.
type Source struct {
	// Note, unless nil, is told a line, safe to print, where Prepare has to wait
	// for the API.
	Note func(string)

	app     string // as given: id or name
	trigger string // config.Trigger…
	probed  probed
	api     *client
	clock   *clock.Clock

	mu    sync.Mutex
	start time.Time       // of the run
	id    string          // of the app; "" before Prepare
	since time.Time       // what was created before is not new
	known map[string]bool // deployments that are not the next one
}

// probed is what the run asks the app for.
type probed struct {
	url, slowURL string
	slow         time.Duration // the longest slow request; 0: none is sent
	versionOnly  bool          // a change of instances under one version cannot be seen
}

// Prepared is what can be known before anything is sent to the app.
type Prepared struct {
	Platform sample.Platform
	// Warnings are sentences for the user, safe to print.
	Warnings []string
}

var _ deploy.Timed = (*Source)(nil)

// New is the source for cfg's app, token and trigger, at DigitalOcean's API or
// the one that the environment names ([URLVariable]). It sends nothing. Its
// error is a [config.InputError].
func New(cfg *config.Config, getenv func(string) string) (*Source, error) {
	base, err := baseURL(getenv(URLVariable))
	if err != nil {
		return nil, err
	}
	s := &Source{
		app: cfg.App, trigger: cfg.Trigger, clock: &clock.Clock{},
		probed: probed{url: cfg.URL, slowURL: cfg.SlowURL, slow: longest(cfg), versionOnly: cfg.InstanceFrom.None() && !cfg.VersionFrom.None()},
		known:  map[string]bool{},
	}
	s.api, err = newClient(base, cfg.DigitalOceanToken, s.clock, realPace)
	return s, err
}

// Name is "digitalocean".
func (s *Source) Name() string { return config.PlatformDigitalOcean }

// StartedAt tells when the run started.
func (s *Source) StartedAt(start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start = start
}

// Prepare finds the app, reads what it is set to and notes its deployments, so
// that a new one can be told from them. It is called once, before the run; its
// error is a [config.InputError] where the token or the app is wrong.
func (s *Source) Prepare(ctx context.Context) (*Prepared, error) { return s.prepare(ctx) }

// Run has the app deploy, where there is a trigger, or waits for a new
// deployment, and follows it to its end. It tells an end of the outcome
// "unknown" where no deployment came before ctx was done, or where the platform
// did not answer any more. An error means that the trigger was refused.
func (s *Source) Run(ctx context.Context, emit deploy.Emit) error { return s.run(ctx, emit) }

// Hurry has every wait between two requests be that many times shorter, for a
// platform whose deployments take seconds: one in a box.
func (s *Source) Hurry(times float64) { s.api.pace = realPace.shorter(times) }
