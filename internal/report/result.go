// Package report shows a judgement: as result.json for programs, as a picture
// and text for a terminal. It computes nothing about the run; what it shows is
// what packages analysis and verdict found.
//
// # result.json
//
// [Result] is schema 1. Times are milliseconds since started_at, floats
// rounded to a thousandth. The shape is fixed: every key is always there, and
// null is "unknown", "not seen" or "not measured", never 0 or {}. So:
//
//   - cutover and power are null where no cutover was seen; cutover.drain_ms is
//     null where nothing is known of old's end, and its upper is null where it
//     has no bound;
//   - each of latency_ms's before, during and after is null where no good
//     answer of a fast lane fell into it;
//   - slow's counts are 0 where no slow requests were asked for, since none
//     were sent; prober.control_failures is null where no control host was;
//   - deploy is always an object; its times are null where nothing told them;
//   - versions, deploy.signals, failures and diagnosis are lists, empty where
//     there is nothing: [] is known, null is not;
//   - a failure's status, connection, answered_by, version and instance are
//     null where unknown; error is "" where there was none;
//   - failures_omitted is a count, 0 where failures holds every one;
//   - control and runs are there only where several deploys were made in one
//     run (repeat). Then the top level holds their sums ([Sum]).
package report

// Result is result.json, schema 1. See the package's documentation for what
// null means in it.
type Result struct {
	Schema     int       `json:"schema"`
	Cutwatch   string    `json:"cutwatch"`
	StartedAt  string    `json:"started_at"` // RFC 3339, UTC
	DurationMS float64   `json:"duration_ms"`
	Verdict    string    `json:"verdict"`
	Reasons    []Reason  `json:"reasons"`
	Target     Target    `json:"target"`
	Versions   []Version `json:"versions"` // in order of their first answer
	Cutover    *Cutover  `json:"cutover"`
	Deploy     Deploy    `json:"deploy"`
	Requests   Requests  `json:"requests"`
	Slow       Slow      `json:"slow"`
	Latency    Latencies `json:"latency_ms"`
	Power      *Power    `json:"power"`
	// Failures are in order of start: every one up to 1,000, else a sample of
	// each class and attribution, spread over the run.
	Failures        []Failure `json:"failures"`
	FailuresOmitted int       `json:"failures_omitted"`
	Diagnosis       []Finding `json:"diagnosis"`
	Prober          Prober    `json:"prober"`
	Platform        *Platform `json:"platform"`

	// Of several deploys in one run alone: see [Sum]. Control is the time
	// without a deploy before them, which is in no sum; its verdict says no more
	// than that nothing was deployed.
	Control *Result   `json:"control,omitempty"`
	Runs    []*Result `json:"runs,omitempty"`
}

// Reason is one reason of the verdict, the most important first.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Target is what was probed and who answered.
type Target struct {
	URL      string  `json:"url"` // without a password
	Address  *string `json:"address"`
	Protocol *string `json:"protocol"`
	Edge     *string `json:"edge"`
}

// Version is one version id.
type Version struct {
	ID          string   `json:"id"`
	Role        string   `json:"role"` // old, new, other
	FirstMS     float64  `json:"first_ms"`
	LastStartMS float64  `json:"last_start_ms"`
	LastEndMS   float64  `json:"last_end_ms"`
	Instances   []string `json:"instances"`
}

// Cutover is the change from old to new.
type Cutover struct {
	By             string   `json:"by"` // version, instance, marks
	StartMS        float64  `json:"start_ms"`
	EndMS          float64  `json:"end_ms"`
	OverlapMS      *float64 `json:"overlap_ms"` // negative where nothing overlapped; null by marks
	FreshOverlapMS *float64 `json:"fresh_overlap_ms"`
	ShareNew       *float64 `json:"share_new"`
	OldStopMS      *float64 `json:"old_stop_ms"`
	Drain          *Drain   `json:"drain_ms"`
}

// Drain is the interval that holds the drain window's length.
type Drain struct {
	Lower float64  `json:"lower"`
	Upper *float64 `json:"upper"`
	Exact bool     `json:"exact"`
}

// Deploy is the deploy's own life.
type Deploy struct {
	StartedMS *float64    `json:"started_ms"`
	EndedMS   *float64    `json:"ended_ms"`
	WindowMS  *[2]float64 `json:"window_ms"`
	Outcome   string      `json:"outcome"` // succeeded, failed, timed-out, unknown
	Signals   []Signal    `json:"signals"`
}

// Signal is one thing said about the deploy.
type Signal struct {
	AtMS   float64 `json:"at_ms"`
	Source string  `json:"source"`
	Name   string  `json:"name"`
}

// Requests counts them. Failed is the sum of the five attributions.
type Requests struct {
	Total            int      `json:"total"`
	OK               int      `json:"ok"`
	Failed           int      `json:"failed"`
	Deploy           int      `json:"deploy"`
	Background       int      `json:"background"`
	Prober           int      `json:"prober"`
	Config           int      `json:"config"`
	Undecided        int      `json:"undecided"`
	NotSent          int      `json:"not_sent"`
	Reconnects       int      `json:"reconnects"`
	HiddenRetries    int      `json:"hidden_retries"`
	IdleRace         int      `json:"idle_race"`
	IdleRaceExpected *float64 `json:"idle_race_expected"`
}

// Slow is what became of the slow requests.
type Slow struct {
	Total                int      `json:"total"` // completed + cut + failed + unfinished
	Completed            int      `json:"completed"`
	Cut                  int      `json:"cut"`
	Failed               int      `json:"failed"`
	Unfinished           int      `json:"unfinished"`
	InFlightAtLastAccept *int     `json:"in_flight_at_last_accept"`
	ReExecuted           int      `json:"re_executed"`
	LongestOKMS          *float64 `json:"longest_ok_ms"`
}

// Latencies are of the fast lanes' good answers, by when they began.
type Latencies struct {
	Before *Latency `json:"before"`
	During *Latency `json:"during"`
	After  *Latency `json:"after"`
}

// Latency is quantiles in milliseconds.
type Latency struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Power is the smallest harm that the run could not have missed.
type Power struct {
	RequestsInCutover int      `json:"requests_in_cutover"`
	MaxFailureRate95  *float64 `json:"max_failure_rate_95"` // a fraction
	MinOutageMS       *float64 `json:"min_outage_ms"`
}

// Failure is one failed request and whose it is.
type Failure struct {
	ID          string  `json:"id"`
	Lane        string  `json:"lane"`
	StartedMS   float64 `json:"started_ms"`
	EndedMS     float64 `json:"ended_ms"`
	Class       string  `json:"class"`
	Status      *int    `json:"status"`
	Phase       string  `json:"phase"`
	Error       string  `json:"error"`
	AnsweredBy  *string `json:"answered_by"`
	Connection  *int64  `json:"connection"`
	Reused      bool    `json:"reused"`
	Version     *string `json:"version"`
	Instance    *string `json:"instance"`
	Attribution string  `json:"attribution"`
	Reason      string  `json:"reason"`
	Evidence    string  `json:"evidence"`
}

// Finding is one diagnosis.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // error, warning, note
	Summary  string `json:"summary"`
	Evidence string `json:"evidence"`
	Cure     string `json:"cure"`
}

// Prober is how well the prober itself did.
type Prober struct {
	LateP99MS       *float64 `json:"late_p99_ms"`
	LateMaxMS       *float64 `json:"late_max_ms"`
	ControlFailures *int     `json:"control_failures"`
}

// Platform is the platform that was followed, as it was before the deploy.
type Platform struct {
	Kind               string  `json:"kind"`
	App                string  `json:"app"`
	DeploymentID       *string `json:"deployment_id"` // null: no deployment was seen
	DrainSeconds       *int    `json:"drain_seconds"`
	GracePeriodSeconds *int    `json:"grace_period_seconds"`
}
