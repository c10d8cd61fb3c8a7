// Package analysis finds out what happened: who answered when, the cutover,
// old's stop and drain, and for every failed request whose it is and why.
//
// It is pure: recorded lines in, values out. It reads no clock and no file, so
// the same lines give the same values, live or recorded. Judging them against
// what was asked for is package verdict's; showing them is package report's.
//
// The flow (state.go lists it): lines → who answered (versions.go) → cutover →
// old's stop and drain (stop.go) → deploy window (window.go) → whose each
// failure is (attribution.go) → counts, latency, power (measure.go) → findings
// (diagnosis.go, notes.go).
//
// # Whose a failure is
//
// The first that holds decides:
//
//  1. the prober's own trouble: its machine, its sleep, its network (direct.go, cutoff.go);
//  2. what never worked, or does not come from the service;
//  3. direct evidence of the deploy: a name or certificate that it changed, a
//     connection of an instance that never answered again, a cut, new itself,
//     a gap, an outage or a kind of failure that is there since (direct.go);
//  4. place and number, of episodes (number.go).
//
// # Choices where the words leave room
//
//   - An episode is failures of one kind and lane with fewer than 10 good
//     answers between them, or under a second where the lane is slower than
//     that; episodes of two lanes at one time are counted once, since the exact
//     test needs independent ones. Noise that was there long before the deploy
//     is divided at the window's borders.
//   - Size alone makes an episode the deploy's only where it is also denser than
//     the failures outside: noise that goes on is as large as it is long.
//   - Inside the window, outside the cutover interval, and none of its kind
//     elsewhere: an episode of over 25 failures is the deploy's (five times what
//     noise that was not seen is granted), and one of 5 or more where noise would
//     hardly (p < 0.01) have put all the episodes of its kind in the window.
//     Smaller or lone ones are undecided: the window is often a third of the run,
//     so that a third of all lone bursts of noise fall into it.
//   - A failure in the cutover interval whose kind was also seen in the window,
//     but nowhere outside, is compared with all the rest of the run; where that
//     does not decide, it is undecided.
//   - What is not more than noise in the whole window, but is in the cutover
//     interval alone, is undecided: never passed over, never blamed.
//   - Where nothing signals a deploy, a change of instances is a cutover only
//     when all old ones went: else the fleet changed its size or place.
//   - A request that ended with its connection within 5 ms of its start may or
//     may not have reached old: the drain is then an interval, which still
//     counts as exact up to 50 ms of width.
package analysis

import "time"

// Analysis is everything that was found out about one deploy. All times are
// since the run's start. A nil pointer is "unknown" or "not seen", never zero.
type Analysis struct {
	Duration time.Duration // the last thing recorded
	Probed   time.Duration // start of the last fast request
	End      string        // why the run ended (sample.End*), "" where the probe died
	EndNote  string

	Baseline                     *Span // nil: the baseline was never in
	BaselineRequests, BaselineOK int

	Target   Target
	AtEnd    []string  // version ids of the last fast answers
	Versions []Version // in order of their first answer
	Cutover  *Cutover  // nil: no cutover seen
	Stop     *Stop     // old's stop and drain; nil where no cutover was seen
	Deploy   Deploy
	Platform *Platform // nil: none was followed

	Requests              Counts
	CacheHits             int // answers out of a cache, all lanes
	Unnamed               int // good fast answers of the deploy window that named nobody, where before it all did
	Slow                  Slow
	Before, During, After *Latency  // fast lanes' good answers; nil: none
	Power                 *Power    // nil: no cutover
	Failures              []Failure // every one, in order of start
	Findings              []Finding
	Prober                Prober

	Series Series // for the picture
}

// Span is an interval of time, both ends since the run's start.
type Span struct{ From, To time.Duration }

// Target is who answered, as seen from outside.
type Target struct {
	Address  string // of the last answer, "ip:port"
	Protocol string // "HTTP/1.1"
	Edge     string // "cloudflare", "app-platform", … or ""
	NoID     bool   // answers came, and none carried a version or instance id
	Unstable int    // version ids of the baseline where there are about as many as requests; else 0
}

// Role of a version or instance.
const (
	Old   = "old"
	New   = "new"
	Other = "other"
)

// Version is one version id and who served it.
type Version struct {
	ID                        string
	Role                      string
	First, LastStart, LastEnd time.Duration // arrival of the first answer; start and end of the last
	Instances                 []Instance    // in order of their first answer
	Answers                   int
}

// Instance is one instance id of a version.
type Instance struct {
	ID                        string
	Role                      string // by the version, or by itself where Cutover.By is "instance"
	First, LastStart, LastEnd time.Duration
	LastFreshStart            time.Duration  // last start on a new connection; -1: none
	Stop                      *time.Duration // when in-flight requests on it were cut
	Answers                   int
}

// Cutover is the change from old to new.
type Cutover struct {
	By           string         // "version", "instance" or "marks"
	Start, End   time.Duration  // arrival of new's first answer; start of the last request that old answered
	Overlap      time.Duration  // End − Start; negative where nothing overlapped
	FreshOverlap *time.Duration // the same for new connections alone
	ShareNew     *float64       // of the answers between Start and End, new's share
	Gap          bool           // Overlap below −100 ms with at least 5 probes in a row unanswered
	GapProbes    int
	LastAccept   time.Duration // start of the last request that reached old
	Complete     bool          // old answered nothing more at the run's end
	RolledBack   bool          // at the run's end old answered, and new did not
	InCutover    int           // requests in the cutover interval
}

// Stop is what is known of old's end.
type Stop struct {
	At    *time.Duration // old's stop, where in-flight requests were cut
	End   time.Duration  // old's end: At, else the end of its last answer
	Drain Bounds         // last accept → old's stop
	Cut   []int64        // request numbers cut then
}

// Bounds is an interval that holds a value.
type Bounds struct {
	Lower time.Duration
	Upper *time.Duration // nil: not bounded
	Exact bool
}

// Deploy is the deploy's own life.
type Deploy struct {
	Started, Ended *time.Duration
	Window         *Span // in which a failure can be the deploy's
	Interval       *Span // the cutover interval: 2 s before new's first answer to 2 s after old's end
	Outcome        string
	Message        string
	Signals        []Signal
	ClockOff       time.Duration // the furthest that a clock of its signals was from the run's
}

// Signal is one thing said about the deploy.
type Signal struct {
	At                    time.Duration
	Source, Name, Message string
	Note                  bool // it is no phase of the deploy's
}

// Counts of requests. Failed = Deploy + Background + Prober + Config + Undecided.
type Counts struct {
	Total, OK, Failed                                int
	Deploy, Background, ProberOwn, Config, Undecided int
	NotSent, Reconnects, HiddenRetries, IdleRace     int
	DeployIdleRace                                   int      // of IdleRace, those that are the deploy's
	IdleRaceExpected                                 *float64 // nil where no drain was seen
	Unfinished                                       int      // fast requests left at the end; in Total, neither OK nor Failed
}

// Slow is what became of the slow lane. Total = Completed + Cut + Failed + Unfinished.
type Slow struct {
	Total, Completed, Cut, Failed, Unfinished int
	InFlightAtLastAccept                      *int // on old; nil where no cutover was seen
	ReExecuted                                int
	OldCompleted                              int // of those in flight on old at last accept, how many were answered well
	LongestOK                                 *time.Duration
}

// Latency is quantiles of the time from schedule to end.
type Latency struct {
	N                  int
	P50, P95, P99, Max time.Duration
}

// Power is the smallest harm that this run could not have missed.
type Power struct {
	RequestsInCutover int
	Failed            int            // of these, whoever's the failure was, the prober's own and the config's apart
	MaxFailureRate95  *float64       // upper bound of the failure rate given what failed (rule of three, exact beta)
	MinOutage         *time.Duration // longest time in the cutover interval in which no probe was under way or sent
}

// Attribution: whose a failure is.
const (
	ByDeploy     = "deploy"
	ByBackground = "background"
	ByProber     = "prober"
	ByConfig     = "config"
	Undecided    = "undecided"
)

// Failure is one failed request and whose it is.
type Failure struct {
	N                             int64
	ID                            string
	Lane                          string
	Started, Ended                time.Duration
	Class                         string
	Status                        *int
	Phase                         string
	Error                         string
	AnsweredBy                    string // "app", "edge", "unknown", or "" where nothing was answered
	Connection                    *int64
	Reused                        bool
	Version                       string // who answered, or served this connection last; "" unknown
	Instance                      string
	LocalPort                     int
	Attribution, Reason, Evidence string
}

// Severity of a finding.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
)

// Finding is one diagnosis.
type Finding struct {
	Code, Severity, Summary, Evidence, Cure string
	Paste                                   *Paste // the cure as lines; nil: it is no lines
}

// Paste is lines to take over as they are. They are ours, without a word of the service's.
type Paste struct {
	Language string // "yaml", "sh"
	Lines    []string
}

// Prober is how well the prober itself did.
type Prober struct {
	LateP99, LateMax time.Duration
	ControlFailures  int
	Skipped          int // requests not sent because the prober woke too late
	SkippedInWindow  int
	WorstInWindow    time.Duration // the longest the prober slept in the deploy window (the whole run where there is none)
}

// Series is the run in slices of equal length, for pictures.
type Series struct {
	Step    time.Duration // 100 ms
	Buckets []Bucket      // bucket i covers [i·Step, (i+1)·Step)
	Seconds []*Latency    // of the good fast answers that came in second i; nil: none came
	Bars    []Bar         // slow requests, in order of start
}

// Bucket counts requests by when they were answered; failures by their end.
type Bucket struct {
	Old, New, Other            int // good answers by who answered
	Deploy, NotDeploy, Unclear int // failures by whose they are; Unclear: undecided
}

// Bar is one slow request.
type Bar struct {
	From, To time.Duration
	Role     string // Old, New, Other or "" unknown
	Outcome  string // "completed", "cut", "failed", "unfinished"
	ID       string // request id
}
