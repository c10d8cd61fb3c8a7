package analysis

import (
	"cmp"
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// The findings of this file are of runs in which the change from old to new is
// not what a deploy's should be: none, too early, followed by another, or
// followed by nothing at all.

// downAfter is how long nobody must have answered at the end of a run for the
// service to be down.
const downAfter = 2 * time.Second

// lastGood is the last good fast answer; nil without any.
func (s *state) lastGood() *obs {
	for i := len(s.fast) - 1; i >= 0; i-- {
		if s.fast[i].good() {
			return s.fast[i]
		}
	}
	return nil
}

// changeFinding is what there is to say of a change that did not come as it should.
func (s *state) changeFinding(w words) *Finding {
	return cmp.Or(s.downFinding(w), s.earlyChangeFinding(), s.noChangeFinding(w))
}

// downFinding: from some moment of the deploy on nobody answered any more, and
// that is nobody else's fault. An answer that names its version comes from
// somebody; what began after old's end is a late outage, and told as one.
func (s *state) downFinding(w words) *Finding {
	last, window := s.lastGood(), s.out.Deploy.Window
	if last == nil || window == nil || ns(last.end) < window.From-downAfter || ns(s.lastFast()-last.start) < downAfter {
		return nil
	}
	failed := 0
	for i := len(s.fast) - 1; i >= 0 && s.fast[i] != last; i-- {
		o := s.fast[i]
		j := s.judgements[o.fail]
		if o.named() || j.reason == ReasonLateOutage || j.by != ByDeploy && j.by != Undecided {
			return nil
		}
		failed++
	}
	if failed < gapProbes {
		return nil
	}
	return &Finding{Code: "down", Severity: Error,
		Summary:  fmt.Sprintf("nothing answers any more: the last good answer was begun at %s, and the run ended %s later", format.At(ns(last.start)), format.Duration(ns(s.lastFast()-last.start))),
		Evidence: fmt.Sprintf("the last %s all failed", format.Plural(failed, "probe", "probes")),
		Cure:     "see why new does not come up (its logs, its health checks, the address and port it listens on), or bring old back; then " + w.ready, Paste: w.readyLines}
}

// earlyChangeFinding: a version that the baseline did not begin with came before
// its end, and all others were gone well before the run's.
func (s *state) earlyChangeFinding() *Finding {
	if s.out.Cutover != nil || s.baselineEnd < 0 || s.out.Target.Unstable > 0 {
		return nil
	}
	var came *Version
	begin, others := time.Duration(-1), time.Duration(-1)
	for i := range s.out.Versions { // in order of their first answers
		v := &s.out.Versions[i]
		if v.ID == "" {
			continue
		}
		if begin < 0 {
			begin = v.First
		}
		if came == nil || v.LastStart > came.LastStart {
			came, v = v, came
		}
		if v != nil {
			others = max(others, v.LastStart)
		}
	}
	if came == nil || others < 0 || came.Answers < flipLeast || came.First < begin+time.Second || others+downAfter > came.LastStart {
		return nil
	}
	return &Finding{Code: "change-in-baseline", Severity: Warning,
		Summary: fmt.Sprintf("the change had begun before the baseline was in: %s first answered at %s, in a baseline of %s",
			format.Name(came.ID, 40), format.At(came.First), format.Duration(ns(s.baselineEnd))),
		Evidence: fmt.Sprintf("nobody else answered after %s; so the run cannot tell what was normal from what the change did", format.At(others)),
		Cure:     "begin the deploy only when the baseline is in (the step start returns then), and let no other deploy run beside it"}
}

// otherVersionFinding: a version that is neither what the baseline had nor what
// replaced it.
func (s *state) otherVersionFinding() *Finding {
	c := s.out.Cutover
	if c == nil || c.By != "version" {
		return nil
	}
	for _, v := range s.out.Versions {
		if v.Role != Other || v.ID == "" || v.Answers < flipLeast {
			continue
		}
		f := &Finding{Code: "other-version", Severity: Note,
			Summary:  fmt.Sprintf("a third version answered too: %s", format.Name(v.ID, 40)),
			Evidence: fmt.Sprintf("%s by it, from %s to %s", format.Plural(v.Answers, "answer", "answers"), format.At(v.First), format.At(v.LastEnd)),
			Cure:     "see what else was deployed meanwhile, and let one deploy end before the next begins (a concurrency group of the workflows); set expect-version to the version that this one deploys"}
		if s.answersAtEnd(Other) && !s.answersAtEnd(New) {
			f.Severity = Warning
			f.Summary = fmt.Sprintf("a third version replaced new within the run: %s", format.Name(v.ID, 40))
		}
		return f
	}
	return nil
}

// noChangeFinding: the deploy succeeded, and who answered before it did so to
// the end.
func (s *state) noChangeFinding(w words) *Finding {
	if s.out.Cutover != nil || s.out.Deploy.Outcome != sample.Succeeded || s.out.Target.NoID || len(s.out.Versions) == 0 {
		return nil
	}
	v, reused := s.out.Versions[len(s.out.Versions)-1], ""
	if s.reusedBuild() {
		reused = "; the platform said that it reused an earlier build"
	}
	return &Finding{Code: "no-change", Severity: Warning,
		Summary:  "the deploy changed nothing that answers: no new version and no new instance was seen",
		Evidence: fmt.Sprintf("%s answered before it and until the end of the run%s", format.Name(v.ID, 40), reused),
		Cure:     w.noChange, Paste: w.noChangeLines}
}
