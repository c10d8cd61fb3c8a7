package analysis

import (
	"fmt"
	"math"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
)

// words are cures in the language of the platform in use.
type words struct {
	longerDrain                       func(drain, need time.Duration) string
	graceful, prestop, keepalive, gap string
	noChange                          string
	ready                             string

	longerDrainLines                      func(drain, need time.Duration) *Paste
	prestopLines, gapLines, noChangeLines *Paste
	readyLines                            *Paste
}

// platform is what the service runs on: "app-platform" where that was followed or
// by its edge's headers, "kubernetes" where connections are pinned to one of old's
// several instances, "" otherwise.
func (s *state) platform() string {
	switch {
	case s.appPlatformTarget():
		return "app-platform"
	case s.pinned() && s.out.Target.Edge == "" && s.oldInstances() > 1:
		return "kubernetes"
	}
	return ""
}

// oldInstances is how many instances old had.
func (s *state) oldInstances() int {
	n := 0
	for _, v := range s.out.Versions {
		for _, i := range v.Instances {
			if i.Role == Old {
				n++
			}
		}
	}
	return n
}

func wordsFor(platform string) words {
	switch platform {
	case "app-platform":
		return appPlatform
	case "kubernetes":
		return kubernetes
	}
	return generic
}

// App Platform's limits: drain_seconds 1–110, default 15; grace_period_seconds
// 1–600, default 120 (the product's reference of the app spec).
const maxDrainSeconds = 110

// drainSeconds is a drain that the longest request fits into, with a quarter to spare.
func drainSeconds(drain, need time.Duration) int {
	return int(math.Ceil(max(need, drain).Seconds()*1.25)) + 1
}

var appPlatform = words{
	longerDrain: func(drain, need time.Duration) string {
		n := drainSeconds(drain, need)
		if n > maxDrainSeconds {
			return fmt.Sprintf("set termination.drain_seconds to its maximum of %d in the app spec; requests longer than that need the app to finish them after SIGTERM, within termination.grace_period_seconds", maxDrainSeconds)
		}
		return fmt.Sprintf("set termination.drain_seconds: %d in the app spec (15 unless set); a deploy takes up to that much longer. Or have the app finish its requests on SIGTERM, within termination.grace_period_seconds", n)
	},
	graceful:  "have the app finish its requests on SIGTERM before it exits, within termination.grace_period_seconds (120 unless set)",
	prestop:   "set termination.drain_seconds in the app spec, so that an instance is stopped only when nothing is sent to it any more",
	keepalive: "have the app answer with Connection: close while it drains",
	gap:       "run two instances or more (instance_count), and have health_check.http_path answer only when the app is ready",
	ready:     "have health_check.http_path answer only when the app is ready",
	noChange:  "if the change was in an environment variable alone the old build may have been reused: force a rebuild (doctl apps create-deployment --force-rebuild)",

	longerDrainLines: func(drain, need time.Duration) *Paste {
		return yaml(inService, "termination:",
			fmt.Sprintf("  drain_seconds: %d", min(drainSeconds(drain, need), maxDrainSeconds)))
	},
	readyLines:    yaml(inService, "health_check:", readyPath),
	gapLines:      yaml(inService, "instance_count: 2", "health_check:", readyPath),
	noChangeLines: &Paste{Language: "sh", Lines: []string{`doctl apps create-deployment "$APP_ID" --force-rebuild --wait`}},
}

var kubernetes = words{
	longerDrain: func(drain, need time.Duration) string {
		return fmt.Sprintf("raise terminationGracePeriodSeconds above %s, and have the app use it to finish its requests", format.Duration(max(need, drain)))
	},
	graceful:  "have the app finish its requests on SIGTERM before it exits (graceful shutdown), and set terminationGracePeriodSeconds above the longest of them",
	prestop:   "add a preStop delay (lifecycle.preStop.sleep.seconds: 5, or longer than the endpoint list lags), so that SIGTERM comes when no new connection does",
	keepalive: "close keep-alive connections while draining: answer with Connection: close from the moment the pod is told to stop",
	gap:       "roll instead of recreating: strategy RollingUpdate with maxUnavailable: 0, and a readiness probe that passes only when the app can answer",
	ready:     "have the readiness probe pass only when the app can answer",
	noChange:  "check that the image tag or the pod template really changed (kubectl rollout history), and that expect-version names what was built",

	longerDrainLines: func(drain, need time.Duration) *Paste {
		return yaml("# pod template, in spec", fmt.Sprintf("terminationGracePeriodSeconds: %d", drainSeconds(drain, need)))
	},
	prestopLines:  yaml("# pod template, in the container", "lifecycle:", "  preStop:", "    sleep:", "      seconds: 5"),
	gapLines:      yaml("# deployment, in spec", "strategy:", "  type: RollingUpdate", "  rollingUpdate:", "    maxUnavailable: 0"),
	noChangeLines: &Paste{Language: "sh", Lines: []string{`kubectl rollout history "deployment/$NAME"`}},
}

var generic = words{
	longerDrain: func(drain, need time.Duration) string {
		return fmt.Sprintf("keep old running for longer than its longest request (here %s) after it gets no new ones; it was given %s", format.Duration(max(need, drain)), format.Duration(drain))
	},
	graceful:  "have the app finish its requests on SIGTERM before it exits (graceful shutdown)",
	prestop:   "stop an instance only after the load balancer has stopped sending it new connections: a delay before SIGTERM longer than the load balancer's lag",
	keepalive: "close keep-alive connections while draining: answer with Connection: close from the moment the instance is told to stop",
	gap:       "start new and wait until it is ready before old is stopped",
	ready:     "have the readiness check pass only when the app can answer",
	noChange:  "check that what was deployed is a new build, and set expect-version to its id",

	longerDrainLines: func(drain, need time.Duration) *Paste { return nil },
}

// noCacheLines are inputs of ours.
var noCacheLines = yaml("# inputs of this action", "headers: |", "  Cache-Control: no-cache")

func yaml(lines ...string) *Paste { return &Paste{Language: "yaml", Lines: lines} }
