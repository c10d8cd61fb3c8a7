package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/probe"
	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	// tick is how often the run looks at where it is.
	tick = 50 * time.Millisecond
	// firstAnswers is how many answers, or failures, are taken as a sign of
	// how the service is.
	firstAnswers = 10
)

// runner is one run under way.
type runner struct {
	o        Options
	cfg      *config.Config
	path     string // of the samples
	start    time.Time
	out      *sample.Writer
	tracker  *tracker
	stats    stats
	progress *progress
	history  *sample.History // nil: none was given

	lostOnce sync.Once
	lost     chan struct{} // closed when the samples cannot be written any more
	lostErr  error         // why; set before lost is closed

	deploying bool     // the source was started and has not returned
	deployed  chan any // the source returned: nil, or what it panicked with

	saidNoAnswer, saidNoVersion bool
}

// record takes a line from the probe or the deploy's source: to the file, then
// to those who follow the run.
func (r *runner) record(l sample.Line) {
	if err := r.out.Write(l); err != nil {
		r.lostOnce.Do(func() {
			r.lostErr = err
			close(r.lost)
		})
	}
	r.tracker.Add(l)
	if l.Sample != nil {
		r.stats.Add(l.Sample, r.tracker.IsNew(l.Sample))
	}
}

// signal records a signal, stamped with the present where it has no time.
func (r *runner) signal(source string, s sample.Signal) {
	if s.At == 0 {
		s.At = int64(time.Since(r.start))
	}
	if s.Source == "" {
		s.Source = source
	}
	r.record(sample.Line{Signal: &s})
}

// live probes until the run is over and says why it is. The error is a fault of
// the probe.
func (r *runner) live(ctx context.Context, p *probe.Probe) (sample.End, error) {
	probing, stop := context.WithCancel(ctx)
	defer stop()
	if err := p.Preflight(probing); err != nil {
		r.progress.Note("the service cannot be reached yet: %s", format.Clean(err.Error(), 300))
	}
	probed := make(chan error, 1)
	go func() {
		probed <- p.Run(probing)
		close(probed)
	}()

	deploying, endDeploy := context.WithDeadline(ctx, r.start.Add(time.Duration(r.cfg.MaxDuration)))
	defer endDeploy()
	end, err := r.drive(ctx, deploying, p, probed)
	if err == nil {
		stop()
		err = ended(<-probed)
	}
	// The deploy is not ours to break off, unless the user or a limit says so:
	// those have ended its context.
	if r.deploying {
		if r.o.Unsure {
			endDeploy() // it may wait for a deploy that does not come
		}
		if err != nil {
			r.progress.Note("the probe broke; waiting for %s to end", r.deployName())
		}
		r.deployEnded(<-r.deployed)
	}
	end.At = int64(time.Since(r.start))
	return end, err
}

// ended is the probe's error without that it was told to stop.
func ended(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// drive takes the run through its phases.
func (r *runner) drive(ctx, deploying context.Context, p *probe.Probe, probed <-chan error) (sample.End, error) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	baselineIn, baselineOver := false, time.Since(r.start)+time.Duration(r.cfg.Baseline)
	for {
		select {
		case <-ctx.Done():
			return r.stopped(ctx), nil
		case <-r.lost:
			return r.recordingFailed(deploying, baselineIn), nil
		case err := <-probed:
			if err = ended(err); err == nil && ctx.Err() != nil {
				return r.stopped(ctx), nil // it was told to stop too, and was quicker
			}
			if err == nil {
				err = errors.New("the probe stopped by itself")
			}
			return sample.End{}, err
		case broken := <-r.deployed:
			r.deployEnded(broken)
		case <-ticker.C:
		}
		now := time.Since(r.start)
		if !baselineIn && r.hopeless(now) {
			return r.noAnswer(now), nil
		}
		if !baselineIn && now >= baselineOver {
			if !r.mayDeploy(r.stats.Counts(now).Good > 0) {
				return r.noAnswer(now), nil
			}
			baselineIn = true
			r.signal("run", sample.Signal{Kind: sample.SignalBaseline, Name: "baseline-in"})
			r.tellReady(now)
			r.deploy(deploying)
		}
		if r.o.Control > 0 {
			if now >= r.o.Control {
				return sample.End{Reason: sample.EndComplete}, nil
			}
			r.tell(now, Control)
			continue
		}
		s := r.tracker.Next(now, inFlight(p))
		r.tell(now, s.Phase)
		if s.Done {
			return sample.End{Reason: s.Reason, Message: s.Message}, nil
		}
	}
}

// stopped is the end of a run that was told to stop.
func (r *runner) stopped(ctx context.Context) sample.End {
	r.progress.Note("%v: stopping, and judging what there is; a second signal leaves at once", context.Cause(ctx))
	return sample.End{Reason: sample.EndSignal, Message: context.Cause(ctx).Error()}
}

// mayDeploy tells whether the deploy may begin: after a baseline in which
// something was measured, or where the user wants it all the same.
func (r *runner) mayDeploy(measured bool) bool {
	return measured || r.cfg.AllowNoBaseline || r.cfg.OnInconclusive == "warn"
}

// hopeless tells whether a baseline need not be waited for to its end.
func (r *runner) hopeless(now time.Duration) bool {
	if r.o.GiveUp == 0 || now < r.o.GiveUp || r.mayDeploy(false) {
		return false
	}
	c := r.stats.Counts(now)
	return c.Good == 0 && c.Failed >= firstAnswers
}

// noAnswer is the end of a run in whose baseline nothing could be measured.
func (r *runner) noAnswer(now time.Duration) sample.End {
	message := fmt.Sprintf("no good answer in %s of the baseline: %s", format.Duration(now), r.stats.Tried())
	if baseline := time.Duration(r.cfg.Baseline); now >= baseline {
		message = fmt.Sprintf("no good answer in the baseline of %s: %s", format.Duration(baseline), r.stats.Tried())
	}
	if r.o.Deploy != nil {
		message += "; " + r.deployName() + " was not started"
	}
	r.progress.Note("%s", message)
	return sample.End{Reason: sample.EndNoAnswer, Message: message}
}

// recordingFailed ends a run whose samples cannot be written: probing on would
// load the service for nothing. A deploy that runs is left to end by itself; one
// that is still to come begins only where it would without a baseline.
func (r *runner) recordingFailed(deploying context.Context, baselineIn bool) sample.End {
	r.progress.Note("the samples cannot be written any more (%v): probing stops here, and what was recorded is judged", r.lostErr)
	if !baselineIn && r.o.Deploy != nil {
		if r.mayDeploy(false) {
			r.deploy(deploying)
		} else {
			r.progress.Note("%s was not started", r.deployName())
		}
	}
	return sample.End{Reason: sample.EndRecording, Message: r.lostErr.Error()}
}

// deployName is what the deploy is called in a sentence.
func (r *runner) deployName() string {
	if r.o.Deploy.Name() == "command" {
		return "COMMAND"
	}
	return "the deploy"
}

// deploy starts the source, where there is one.
func (r *runner) deploy(ctx context.Context) {
	source := r.o.Deploy
	if source == nil {
		return
	}
	r.deploying = true
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.cfg.DeployTimeout))
	go func() {
		defer cancel()
		defer func() { r.deployed <- recover() }()
		begun, over := false, false
		err := source.Run(ctx, func(s sample.Signal) {
			begun = begun || s.Kind == sample.SignalStart
			over = over || s.Kind == sample.SignalEnd
			r.signal(source.Name(), s)
		})
		if end := silentEnd(begun, over, err); end != nil && (begun || err != nil || !r.o.Unsure) {
			r.signal(source.Name(), *end)
		}
	}()
}

// silentEnd is the end of a deploy whose source returned without telling one; nil
// where it did tell.
func silentEnd(begun, over bool, err error) *sample.Signal {
	if over {
		return nil
	}
	end := &sample.Signal{Kind: sample.SignalEnd, Name: "deploy-lost", Outcome: sample.Unknown, Message: "nothing told how it ended"}
	if err != nil {
		end.Message = err.Error()
		if !begun {
			end.Name, end.Outcome = "deploy-not-begun", sample.Failed
		}
	}
	return end
}

// tellReady tells what the baseline showed to whoever wants to know.
func (r *runner) tellReady(now time.Duration) {
	if r.o.Ready == nil {
		return
	}
	c := r.stats.Counts(now)
	versions, instances := r.tracker.Old()
	r.o.Ready(Seen{At: now, Requests: c.Total, Failed: c.Failed, Versions: versions, Instances: instances})
}

// deployEnded takes note that the source returned; it goes on with a panic of its.
func (r *runner) deployEnded(broken any) {
	r.deploying = false
	if broken != nil {
		panic(broken)
	}
}

// inFlight is when each request under way started.
func inFlight(p *probe.Probe) []int64 {
	var started []int64
	for _, lane := range []sample.Lane{sample.Kept, sample.Fresh, sample.Slow} {
		for _, f := range p.InFlight(lane) {
			started = append(started, f.Started)
		}
	}
	return started
}

// tell shows progress, and says early what the user will want to put right.
func (r *runner) tell(now time.Duration, phase Phase) {
	c := r.stats.Counts(now)
	shared := r.deploying && r.o.Deploy.Name() == "command"
	r.progress.Update(now, phase, c, shared)
	if !r.saidNoAnswer && c.Good == 0 && c.Failed >= firstAnswers {
		r.saidNoAnswer = true
		r.progress.Note("no good answer so far: %s", r.stats.Tried())
	}
	if !r.saidNoVersion && c.Good >= firstAnswers && c.WithVersion == 0 && !r.cfg.VersionFrom.None() {
		r.saidNoVersion = true
		r.progress.Note("%s", noVersion(r.cfg, c))
	}
}

// noVersion says that answers do not name their version, and the cure.
func noVersion(cfg *config.Config, c counts) string {
	seen := "so that a cutover cannot be seen"
	if c.WithoutIDs < c.Good {
		seen = "so that a cutover is seen only where the instances change"
	}
	return fmt.Sprintf("none of the first %s names its version (version-from: %s), %s; "+
		"have the service send one, or say with version-from where it is (header:NAME, json:PATH, regex:EXPR), or none to go by the deploy's marks alone",
		format.Plural(c.Good, "good answer", "good answers"), format.Clean(cfg.VersionFrom.String(), 80), seen)
}
