// Package appapi is a fake App Platform API on loopback: one app and its
// deployments, in App Platform's JSON, driven by a script, by a test, or by the
// box's rollout. It goes wrong when it is told to ([Fault]) and keeps a record of
// every request ([API.Record]), which is the truth that a client's own account
// is compared with.
//
// It serves at the root of its address, since godo ignores a path in its base
// url. It knows nothing of godo: what it sends is written from the published
// schema.
package appapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options are the app and how the API behaves.
type Options struct {
	App    App
	Others []string // names of further apps of the account

	Token    string        // the one that is taken; "": any
	ReadOnly bool          // the token lacks the scope app:update
	Skew     time.Duration // how far the API's clock is ahead of ours
	ListLag  time.Duration // how long after its creation a deployment appears in lists

	// Deploy plays a deployment that was asked for over the API, in a goroutine
	// of its own, and returns when it is through; ctx is done once the API is
	// closed. nil: it stays as it was created.
	Deploy func(ctx context.Context, d *Deployment)
}

// App is the app that there is. What is zero is not in its spec.
type App struct {
	ID, Name  string
	LiveURL   string
	Component string // its one service; "": web
	Instances int    // 0: 1

	DrainSeconds, GracePeriodSeconds int
	HealthPath                       string
	NoEdgeCache                      bool
	Static                           bool // it has a static site and no service
}

// API is a running fake.
type API struct {
	o      Options
	server *http.Server
	url    string
	served chan error

	ctx    context.Context // done when it closes
	cancel context.CancelFunc
	plays  sync.WaitGroup

	mu          sync.Mutex
	made        time.Time
	deployments []*Deployment // the oldest first
	serial      int           // of ids
	faults      []*fault
	requests    []Request
}

// Start serves an app that has one active deployment.
func Start(o Options) (*API, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("appapi: listen: %w", err)
	}
	a := &API{o: o.withDefaults(), url: "http://" + ln.Addr().String() + "/", served: make(chan error, 1), made: time.Now()}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	first := a.add(Cause{Type: Manual, Text: "initial deployment"})
	first.Enter(Active)
	a.server = &http.Server{Handler: a.handler(), ReadHeaderTimeout: 30 * time.Second}
	go func() { a.served <- a.server.Serve(ln) }()
	return a, nil
}

func (o Options) withDefaults() Options {
	if o.App.Component == "" {
		o.App.Component = "web"
	}
	if o.App.Instances == 0 {
		o.App.Instances = 1
	}
	if o.App.ID == "" {
		o.App.ID = "c2a93513-8d9b-4223-9d61-5e7272c81cf5"
	}
	return o
}

// URL is the API's base url.
func (a *API) URL() string { return a.url }

// App is the app's id.
func (a *API) App() string { return a.o.App.ID }

// SetLiveURL moves the app to another address.
func (a *API) SetLiveURL(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.App.LiveURL = url
}

// Close ends the API, the requests in hand and the deployments that are played.
func (a *API) Close() error {
	a.cancel()
	err := a.server.Close()
	if end := <-a.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("appapi: it ended early: %w", end))
	}
	a.plays.Wait()
	return err
}

// handler has every request recorded, made to suffer, allowed and answered.
func (a *API) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/apps", a.listApps)
	mux.HandleFunc("GET /v2/apps/{app}", a.ofApp(a.getApp))
	mux.HandleFunc("GET /v2/apps/{app}/deployments", a.ofApp(a.listDeployments))
	mux.HandleFunc("GET /v2/apps/{app}/deployments/{deployment}", a.ofApp(a.getDeployment))
	mux.HandleFunc("GET /v2/apps/{app}/instances", a.ofApp(a.listInstances))
	mux.HandleFunc("POST /v2/apps/{app}/deployments", a.ofApp(a.createDeployment))
	mux.HandleFunc("POST /v2/apps/{app}/restart", a.ofApp(a.restart))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
	return a.recorded(a.suffering(a.allowed(mux)))
}

// allowed lets none but the token's holder in.
func (a *API) allowed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := "Bearer " + a.o.Token
		if a.o.Token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) != 1 {
			problem(w, http.StatusUnauthorized, "unauthorized", "Unable to authenticate you")
			return
		}
		if a.o.ReadOnly && r.Method != http.MethodGet {
			problem(w, http.StatusForbidden, "forbidden", "You are not authorized to perform this operation")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ofApp answers for the app alone.
func (a *API) ofApp(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("app") != a.o.App.ID {
			notFound(w)
			return
		}
		next(w, r)
	}
}

// now is the API's clock.
func (a *API) now() time.Time { return time.Now().Add(a.o.Skew) }
