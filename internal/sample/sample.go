package sample

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/config"
)

// Line is one line of samples.ndjson.zst: exactly one of its fields is set.
type Line struct {
	Run      *Run      `json:"run,omitempty"`       // the first line
	Sample   *Sample   `json:"sample,omitempty"`    // a request that ended
	Skip     *Skip     `json:"skip,omitempty"`      // requests that could not be sent in time
	FollowUp *FollowUp `json:"follow_up,omitempty"` // a probe fired at once on a failure
	Signal   *Signal   `json:"signal,omitempty"`    // something about the deploy
	Platform *Platform `json:"platform,omitempty"`  // what the platform is set to; of several the last counts
	End      *End      `json:"end,omitempty"`       // the last line; missing when the probe died
}

// Run is the head of the file: what was asked for, and when it began.
type Run struct {
	Schema    int           `json:"schema"` // 1
	Cutwatch  string        `json:"cutwatch"`
	ID        string        `json:"id"`         // <run> of the request ids
	StartedAt string        `json:"started_at"` // RFC 3339, UTC, milliseconds
	Config    config.Config `json:"config"`
	// Deploy says what tells the deploy's life: "command", "digitalocean",
	// "box", or "" where nothing does and the first cutover ends the run.
	Deploy  string   `json:"deploy,omitempty"`
	Command []string `json:"command,omitempty"` // argv[0] only, never its arguments: they may hold secrets
	// History is what earlier runs saw of the background; nil: none was given.
	History *History `json:"history,omitempty"`
}

// History is what earlier runs saw of failures that were no deploy's, and what
// became of their deploys.
type History struct {
	Runs     int       `json:"runs"`
	Requests int       `json:"requests"` // sent in all of them
	Kinds    []Past    `json:"kinds,omitempty"`
	Deploys  []PastRun `json:"deploys,omitempty"` // the last 20, in order of their start
}

// PastRun is the headline of an earlier run. Its figures are those of
// result.json; nil is unknown.
type PastRun struct {
	StartedAt   string   `json:"started_at"` // RFC 3339, UTC, milliseconds
	Verdict     string   `json:"verdict"`    // pass, fail, inconclusive
	Requests    int      `json:"requests"`
	Failed      int      `json:"failed"`
	Deploy      int      `json:"deploy"` // of Failed, the deploy's
	OverlapMS   *float64 `json:"overlap_ms,omitempty"`
	DrainMS     *float64 `json:"drain_ms,omitempty"`    // the least that it can have been
	DrainExact  bool     `json:"drain_exact,omitempty"` // and the most
	P99BeforeMS *float64 `json:"p99_before_ms,omitempty"`
	P99DuringMS *float64 `json:"p99_during_ms,omitempty"`
	P99AfterMS  *float64 `json:"p99_after_ms,omitempty"`
}

// Past is one kind of failure in earlier runs.
type Past struct {
	Class    Class  `json:"class"`
	Status   int    `json:"status,omitempty"`
	By       string `json:"by,omitempty"`
	Episodes int    `json:"episodes"`
	Largest  int    `json:"largest"` // failures of the largest
}

// Lane is one stream of probes of one shape.
type Lane string

const (
	Kept    Lane = "kept"    // keep-alive connections, reused
	Fresh   Lane = "fresh"   // a new connection for every request
	Slow    Lane = "slow"    // held open for seconds, on a connection of its own
	Control Lane = "control" // another host
)

// Class is the kind of a failure; "" is an answer that was good.
type Class string

const (
	OK             Class = ""
	DNS            Class = "dns"
	ConnectRefused Class = "connect-refused" // refused, unreachable, or reset while connecting
	ConnectTimeout Class = "connect-timeout"
	TLS            Class = "tls"
	Reset          Class = "reset"     // no byte of the answer came: RST or a failed write
	EOF            Class = "eof"       // no byte of the answer came: FIN
	IdleRace       Class = "idle-race" // set by the analysis, never by the probe
	Timeout        Class = "timeout"
	Truncated      Class = "truncated" // the answer ended early or does not parse
	Status         Class = "status"
	Body           Class = "body"
	// Local is a failure of the prober's own machine: no descriptors, no
	// route, no port. It is attributed to the prober.
	Local Class = "local"
)

// Phase is where in a request's life a failure happened.
type Phase string

const (
	PhaseDNS      Phase = "dns"
	PhaseConnect  Phase = "connect"
	PhaseTLS      Phase = "tls"
	PhaseWrite    Phase = "write"
	PhaseResponse Phase = "response" // written; waiting for the head
	PhaseBody     Phase = "body"
)

// Who answered.
const (
	ByApp     = "app"     // the answer carried a version or instance id
	ByEdge    = "edge"    // a proxy's or platform's own answer
	ByUnknown = "unknown" // an answer that says neither
)

// Sample is the record of one request, written as it ends.
type Sample struct {
	N    int64 `json:"n"` // its id is cw-<run>-<n>
	Lane Lane  `json:"lane"`

	Scheduled int64 `json:"sched"`            // its place in the schedule; latency counts from here. In a closed loop: Started
	Late      int64 `json:"late,omitempty"`   // how long after its time the prober woke up
	Queued    int64 `json:"queued,omitempty"` // waited for a kept connection that the service still held
	Started   int64 `json:"start"`            // the dial or the write began
	Connected int64 `json:"conn,omitempty"`   // absent on a reused connection
	TLSDone   int64 `json:"tls,omitempty"`
	Wrote     int64 `json:"wrote,omitempty"`
	FirstByte int64 `json:"first,omitempty"`
	Ended     int64 `json:"end"`

	Conn      int64  `json:"cid,omitempty"`       // connection id, unique in the run; absent where none was made
	Before    int    `json:"before,omitempty"`    // requests before it on that connection; > 0: reused
	Idle      int64  `json:"idle,omitempty"`      // age of the connection's last answer at Started; reused only
	Reconnect string `json:"reconnect,omitempty"` // kept lane, first request of a connection that replaces one: "idle-close" (seen before the write), "connection-close" (announced), "failure"
	LocalPort int    `json:"lport,omitempty"`
	Remote    string `json:"remote,omitempty"` // address:port dialled
	RTT       int64  `json:"rtt,omitempty"`    // smoothed round trip by TCP_INFO; on failures

	Proto    string   `json:"proto,omitempty"`
	Status   int      `json:"status,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`       // of the body
	BodyHash uint64   `json:"hash,omitempty,string"` // FNV-1a 64 of the body
	Close    bool     `json:"close,omitempty"`       // the answer said Connection: close
	Version  string   `json:"version,omitempty"`
	Instance string   `json:"instance,omitempty"`
	By       string   `json:"by,omitempty"`       // ByApp, ByEdge, ByUnknown; absent without an answer
	Edge     string   `json:"edge,omitempty"`     // the proxy that an answer names: "app-platform", "cloudflare", "nginx", "envoy", …
	Leaf     string   `json:"leaf,omitempty"`     // TLS: the first 16 hex digits of the leaf certificate's SHA-256, also where it was refused; on a new connection
	Addrs    []string `json:"addrs,omitempty"`    // the addresses that the name had, where they are others than before; on a new connection
	Broken   bool     `json:"broken,omitempty"`   // the body is not whole by its own grammar: JSON that does not parse, HTML without its end
	Unsized  bool     `json:"unsized,omitempty"`  // the answer had no Content-Length: where its body ended was its end
	Location string   `json:"location,omitempty"` // of an answer 3xx; untrusted text, at most 300 bytes
	CacheHit bool     `json:"hit,omitempty"`
	CacheAge int      `json:"age,omitempty"`     // the Age header, seconds
	Seconds  float64  `json:"seconds,omitempty"` // slow lane: the length asked for

	Class      Class  `json:"class,omitempty"`      // "": good
	Phase      Phase  `json:"phase,omitempty"`      // of the failure
	Error      string `json:"error,omitempty"`      // untrusted text, at most 300 bytes
	Unfinished bool   `json:"unfinished,omitempty"` // left by the prober at the end; not a failure

	// Of failures only: headers that tell who failed, and the body's
	// beginning. Untrusted text, at most 300 bytes a value.
	Headers map[string]string `json:"headers,omitempty"`
	Excerpt string            `json:"excerpt,omitempty"`
}

// Failed tells whether the request failed. One that was left unfinished did not.
func (s *Sample) Failed() bool { return s.Class != OK && !s.Unfinished }

// RequestID is the id that request n of a run carries.
func RequestID(run string, n int64) string { return fmt.Sprintf("cw-%s-%d", run, n) }

// Skip is requests that had their time but could not be sent within a second of it.
type Skip struct {
	Lane Lane  `json:"lane"`
	From int64 `json:"from"` // scheduled time of the first
	To   int64 `json:"to"`   // and of the last
	N    int   `json:"n"`
	// Prober: the prober itself woke too late; else every connection was held by the service.
	Prober bool `json:"prober,omitempty"`
}

// FollowUp is a probe fired at once on a failure. It counts as nothing but evidence.
type FollowUp struct {
	N        int64  `json:"n"`    // the failed request
	Kind     string `json:"kind"` // "fresh": a fresh connection to the same address; "control": control-url
	Started  int64  `json:"start"`
	Ended    int64  `json:"end"`
	Status   int    `json:"status,omitempty"`
	Version  string `json:"version,omitempty"`
	Instance string `json:"instance,omitempty"`
	Class    Class  `json:"class,omitempty"` // "": it succeeded
	Error    string `json:"error,omitempty"`
}

// Signal kinds.
const (
	SignalBaseline = "baseline" // the baseline is in; what comes after it may be the deploy's
	SignalStart    = "start"    // the deploy began
	SignalEnd      = "end"      // the deploy is over, with its outcome
	SignalPhase    = "phase"    // something in between, or about the run: told in the report
	SignalNote     = "note"     // the same, of no phase of its own: a step of one, what could not be followed
)

// NoDeployment is the name of the end of a deploy that did not come: its platform
// showed none. The outcome is unknown.
const NoDeployment = "no-deployment"

// Outcomes of a deploy.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
	TimedOut  = "timed-out"
	Unknown   = "unknown"
)

// Signal is something that happened in the deploy's life.
type Signal struct {
	At      int64  `json:"at"`
	Kind    string `json:"kind"`
	Source  string `json:"source"`            // "command", "box", "digitalocean", …
	Name    string `json:"name"`              // "deploy-started", "DEPLOYING", …
	Outcome string `json:"outcome,omitempty"` // of kind end
	Message string `json:"message,omitempty"` // untrusted text
	// Of a source with a clock of its own: how far that clock is ahead of the
	// run's (negative: behind), in ns. At has been corrected by it.
	Offset int64 `json:"offset,omitempty"`
	// Deployment is the platform's id of the deployment that it is about; ""
	// where it has none.
	Deployment string `json:"deployment,omitempty"`
}

// Platform is what the platform says of the app that is deployed, before the
// deploy: what old lives by. nil is unknown; the platform's defaults are applied.
type Platform struct {
	Kind               string `json:"kind"`             // "digitalocean", "github"
	App                string `json:"app"`              // its name; untrusted text
	AppID              string `json:"app_id,omitempty"` // the platform's id of it
	URL                string `json:"url,omitempty"`    // where the app answers
	Component          string `json:"component,omitempty"`
	DrainSeconds       *int   `json:"drain_seconds,omitempty"`        // from an instance's choice to its SIGTERM
	GracePeriodSeconds *int   `json:"grace_period_seconds,omitempty"` // from there to its SIGKILL
	InstanceCount      *int   `json:"instance_count,omitempty"`       // with autoscaling the least
	Autoscaling        bool   `json:"autoscaling,omitempty"`
	HealthCheck        string `json:"health_check,omitempty"`   // "http /path", "tcp"
	EdgeCache          *bool  `json:"edge_cache,omitempty"`     // the platform's cache may answer
	SleepSeconds       *int   `json:"sleep_seconds,omitempty"`  // without requests for so long it is put to sleep; absent: never
	ThreatControl      bool   `json:"threat_control,omitempty"` // its edge refuses what looks suspicious
}

// Why a run ended, in [End].
const (
	EndComplete       = "complete"        // the cutover, settle and tail are in
	EndNoAnswer       = "no-answer"       // nothing could be measured in the baseline
	EndCutoverTimeout = "cutover-timeout" // no sign of new in time
	EndDeployTimeout  = "deploy-timeout"
	EndMaxDuration    = "max-duration"
	EndSignal         = "signal"           // SIGINT or SIGTERM
	EndRecording      = "recording-failed" // the samples could not be written any more
)

// End closes the file.
type End struct {
	At      int64  `json:"at"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}
