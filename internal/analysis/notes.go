package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// The findings of this file are of runs in which nothing need have failed.

const (
	slowStartTime  = 3 * time.Second        // new's first seconds
	slowStartTimes = 3                      // times as long as later
	slowStartLeast = 100 * time.Millisecond // and longer by this
	slowStartCount = 10                     // answers that are compared, at least
)

// slowStartFinding compares new's first seconds with its later ones. Where old's
// answers of the same seconds were slow too, it was not new that warmed up; nor was
// it where requests only waited for a connection that old held.
func (s *state) slowStartFinding() *Finding {
	c := s.out.Cutover
	if c == nil || c.By == "marks" {
		return nil
	}
	var first, later, beside []int64
	for _, o := range s.fast {
		if !o.good() {
			continue
		}
		early := ns(o.start) < c.Start+slowStartTime
		switch role := s.roleOf(o); {
		case role == New && early:
			first = append(first, o.end-o.start)
		case role == New:
			later = append(later, o.end-o.start)
		case role == Old && early && ns(o.end) >= c.Start:
			beside = append(beside, o.end-o.start)
		}
	}
	if len(first) < slowStartCount || len(later) < slowStartCount {
		return nil
	}
	slices.Sort(first)
	slices.Sort(later)
	// The start is told by its slower tenth: a process warms up one request after the other.
	a, b := ns(quantile(first, 0.9)), ns(quantile(later, 0.9))
	if a < slowStartTimes*b || a-b < slowStartLeast {
		return nil
	}
	slices.Sort(beside)
	if len(beside) >= slowStartCount && 2*ns(quantile(beside, 0.9)) >= a {
		return nil
	}
	return &Finding{Code: "slow-start", Severity: Warning,
		Summary:  fmt.Sprintf("new was slow at first: a tenth of its answers took %s or more in its first %s, %s later", format.Duration(a), format.Duration(slowStartTime), format.Duration(b)),
		Evidence: fmt.Sprintf("%s of new's first seconds, %s later", format.Plural(len(first), "answer", "answers"), format.Count(len(later))),
		Cure:     "let new warm up before it is ready: connections, caches and compiled code made before its readiness check passes"}
}

// flipLeast is how many of old's answers in a row make a way back to old.
const flipLeast = 20

// flipFlopFinding: after new had taken over, old answered alone for a while,
// and then new again.
func (s *state) flipFlopFinding() *Finding {
	c := s.out.Cutover
	if c == nil || c.By == "marks" || !s.answersAtEnd(New) {
		return nil
	}
	news, row, flips := 0, 0, 0
	var at time.Duration
	for _, o := range s.fast {
		switch s.roleOf(o) {
		case New:
			if row >= flipLeast {
				flips++
			}
			row = 0
			news++
		case Old:
			if news < flipLeast {
				continue // the first of new among the last of old
			}
			if row++; row == flipLeast && flips == 0 {
				at = ns(o.start)
			}
		}
	}
	if flips == 0 {
		return nil
	}
	return &Finding{Code: "flip-flop", Severity: Note,
		Summary:  fmt.Sprintf("traffic went back to old alone %s before new kept it", format.Plural(flips, "time", "times")),
		Evidence: fmt.Sprintf("at %s old gave %s answers in a row or more, though new had answered since %s", format.At(at), format.Count(flipLeast), format.At(c.Start)),
		Cure:     "see what sent it back: two load balancers that learn of the change one after the other, or a step of a gradual shift that was repeated"}
}

// staleFinding: some of old's instances were replaced and one never was.
func (s *state) staleFinding() *Finding {
	c := s.out.Cutover
	if c == nil || c.By == "marks" || c.Complete || c.RolledBack {
		return nil
	}
	var stayed []string
	gone := 0
	for _, v := range s.out.Versions {
		for _, i := range v.Instances {
			if i.Role != Old {
				continue
			}
			if s.gone(&i) {
				gone++
			} else {
				stayed = append(stayed, format.Name(i.ID, 40))
			}
		}
	}
	if gone == 0 || len(stayed) == 0 {
		return nil
	}
	return &Finding{Code: "stale-instance", Severity: Warning,
		Summary:  fmt.Sprintf("%s of old never moved: %s", format.Plural(len(stayed), "instance", "instances"), format.Clean(fmt.Sprint(stayed[:min(len(stayed), 5)]), 200)),
		Evidence: fmt.Sprintf("%s of old were replaced; these still answered at the end of the run, %s after new's first answer", format.Plural(gone, "instance", "instances"), format.Duration(s.out.Duration-c.Start)),
		Cure:     "see why these were not replaced: a rollout that is stuck or was partial, an instance that belongs to another deployment behind the same address"}
}

// mixedFinding: failures that were there only while both versions answered.
func (s *state) mixedFinding() *Finding {
	c := s.out.Cutover
	if c == nil || c.By == "marks" || c.Overlap <= 0 {
		return nil
	}
	n := 0
	var first *obs
	for _, o := range s.all {
		if !o.failed() || s.judgements[o.fail].by != ByDeploy || s.roleOf(o) == "" {
			continue
		}
		f := s.sampleOf(o)
		if (f.Class != sample.Status && f.Class != sample.Body) || ns(o.end) < c.Start-s.tenRequests() || ns(o.start) > c.End+s.tenRequests() {
			return nil // it is not the mix
		}
		if n++; first == nil {
			first = o
		}
	}
	if n == 0 {
		return nil
	}
	return &Finding{Code: "mixed-versions", Severity: Error,
		Summary:  fmt.Sprintf("%s failed only while old and new answered side by side", format.Plural(n, "request", "requests")),
		Evidence: fmt.Sprintf("the first at %s (%s); none before new's first answer or after old's last", format.At(ns(first.end)), what(s.sampleOf(first))),
		Cure:     "make the two versions bear each other: assets of both kept for a while, schema changes that the older code can live with"}
}

// maintenanceFinding: the expected text was missing, or who answers was not
// named any more, for a while.
func (s *state) maintenanceFinding() *Finding {
	n := 0
	var first *obs
	for _, o := range s.all {
		if o.failed() && s.sampleOf(o).Class == sample.Body && s.judgements[o.fail].by == ByDeploy {
			if n++; first == nil {
				first = o
			}
		}
	}
	if n > 0 {
		return &Finding{Code: "maintenance-page", Severity: Error,
			Summary:  fmt.Sprintf("%s had a good status and not the expected text: another page was served", format.Plural(n, "answer", "answers")),
			Evidence: fmt.Sprintf("the first at %s, status %d", format.At(ns(first.end)), first.status),
			Cure:     "have new ready before old is taken away, instead of a page that says so"}
	}
	if u := s.out.Unnamed; u > 0 {
		return &Finding{Code: "maintenance-page", Severity: Warning,
			Summary:  fmt.Sprintf("%s in the deploy window named no version, though answers did before: something else may have answered", format.Plural(u, "good answer", "good answers")),
			Evidence: fmt.Sprintf("%s named none, in a window of %s", format.Plural(u, "answer", "answers"), format.Duration(s.out.Deploy.Window.length())),
			Cure:     "set expect-body to a text that only the service's own answer has, so that such answers are judged"}
	}
	return nil
}

// findUnnamed counts the good answers of the deploy window that named nobody,
// where before the deploy all did.
func (s *state) findUnnamed() {
	w := s.out.Deploy.Window
	if w == nil || s.baselineEnd < 0 || s.out.Target.NoID {
		return
	}
	unnamed := 0
	for _, o := range s.fast {
		if !o.good() || o.named() || o.flags&flagCached != 0 {
			continue
		}
		if o.end <= s.baselineEnd {
			return
		}
		if w.holds(o) {
			unnamed++
		}
	}
	s.out.Unnamed = unnamed
}

// truncatedFinding: answers that ended early.
func (s *state) truncatedFinding() *Finding {
	n, silent := 0, 0
	var first *obs
	for _, o := range s.all {
		if !o.failed() || s.judgements[o.fail].by != ByDeploy || s.isCutMember(o) {
			continue
		}
		f := s.sampleOf(o)
		if f.Class != sample.Truncated {
			continue
		}
		if n++; first == nil {
			first = o
		}
		if f.Wrote == f.Started { // rebuilt: taken for good when it came
			silent++
		}
	}
	if n == 0 {
		return nil
	}
	return &Finding{Code: "truncated-body", Severity: Error,
		Summary:  fmt.Sprintf("%s ended before their body was whole; %s of them without any error", format.Plural(n, "answer", "answers"), format.Count(silent)),
		Evidence: fmt.Sprintf("the first at %s: %s", format.At(ns(first.end)), format.Quote(s.sampleOf(first).Error, 120)),
		Cure:     "let old finish what it has begun to answer before it is stopped, and send a Content-Length, so that clients see a cut"}
}
