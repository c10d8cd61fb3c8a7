package box

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// faultHeader marks a spoilt answer, so that the front's record counts it
// among what failed. The prober knows nothing of it.
const faultHeader = "X-Box-Fault"

// Kinds of faults.
const (
	FaultStatus      = "status"      // an error status instead of the answer
	FaultTruncate    = "truncate"    // the connection ends in the middle of the body
	FaultMaintenance = "maintenance" // a page of another kind, with 200
	FaultLatency     = "latency"     // only slower
	FaultSlowStart   = "slow-start"  // accepts late
)

// Fault is something wrong with a version of the app, beyond how it stops. The
// zero value is a sound app.
type Fault struct {
	Kind   string          `json:"kind,omitempty"`
	Share  float64         `json:"share,omitempty"`  // of the answers that it spoils; 0: all
	Status int             `json:"status,omitempty"` // of kind status; 0: 500
	Delay  config.Duration `json:"delay,omitempty"`  // of kinds latency and slow-start
	For    config.Duration `json:"for,omitempty"`    // it ends this long after the app's start; 0: never
}

func (f Fault) validate() error {
	switch f.Kind {
	case "", FaultStatus, FaultTruncate, FaultMaintenance, FaultLatency, FaultSlowStart:
	default:
		return fmt.Errorf("fault %q: expected status, truncate, maintenance, latency or slow-start", f.Kind)
	}
	if f.Share < 0 || f.Share > 1 {
		return fmt.Errorf("fault %s: share must be from 0 to 1", f.Kind)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("fault %s: status must be from 200 to 599", f.Kind)
	}
	return nil
}

func (f Fault) startDelay() time.Duration {
	if f.Kind == FaultSlowStart {
		return time.Duration(f.Delay)
	}
	return 0
}

// strikes tells whether the fault hits the answer given now.
func (a *app) strikes() bool {
	f := a.cfg.Fault
	if f.Kind == "" || f.For > 0 && time.Since(a.started) > time.Duration(f.For) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return f.Share == 0 || a.rng.Float64() < f.Share
}

// spoil gives a good answer the app's fault.
func (a *app) spoil(good answer) answer {
	if !a.strikes() {
		return good
	}
	switch f := a.cfg.Fault; f.Kind {
	case FaultStatus:
		status := f.Status
		if status == 0 {
			status = http.StatusInternalServerError
		}
		bad := a.json(status, map[string]any{"ok": false})
		bad.fault = f.Kind
		return bad
	case FaultTruncate:
		good.cut, good.fault = true, f.Kind
	case FaultMaintenance:
		page := "<!doctype html><title>Back soon</title><p>Down for maintenance.</p>\n"
		return answer{status: http.StatusOK, kind: "text/html", body: []byte(page), fault: f.Kind}
	case FaultLatency:
		time.Sleep(time.Duration(f.Delay))
	}
	return good
}
