package analysis

import (
	"fmt"
	"slices"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// unexplainedFinding is for deploys that lost requests in a way that no other
// diagnosis names: it says what most of them looked like, and where such
// failures most often come from.
func (s *state) unexplainedFinding(w words) *Finding {
	if s.out.Requests.Deploy == 0 || slices.ContainsFunc(s.out.Findings, func(f Finding) bool { return f.Severity == Error }) {
		return nil
	}
	lost := map[kind][]*obs{}
	var most []*obs
	for _, o := range s.all {
		if !o.failed() || s.judgements[o.fail].by != ByDeploy {
			continue
		}
		k := s.kindOf(o)
		lost[k] = append(lost[k], o)
		if len(lost[k]) > len(most) {
			most = lost[k]
		}
	}
	first, last := most[0], most[len(most)-1]
	when := "at " + format.At(ns(first.end))
	if len(most) > 1 {
		when = fmt.Sprintf("between %s and %s", format.At(ns(first.end)), format.At(ns(last.end)))
	}
	k := s.kindOf(first)
	looks := looksOf(k, w)
	if c := s.out.Cutover; c != nil && c.By != "marks" && ns(last.end) < c.Start-around {
		looks = look{means: "it did so before new answered anything",
			cure: "see what building and starting new takes from old: processors and memory that they share, a migration, a restart of what stands in front"}
	}
	so := ": "
	if len(most) < s.out.Requests.Deploy {
		so = ", most of them so: "
	}
	return &Finding{Code: "lost-requests", Severity: Error,
		Summary:  "the deploy lost " + format.Plural(s.out.Requests.Deploy, "request", "requests") + so + looks.means,
		Evidence: fmt.Sprintf("%s of %s: %s, %s", format.Count(len(most)), format.Count(s.out.Requests.Deploy), describeKind(k), when),
		Cure:     looks.cure + "; look their request ids up in the logs of the service and of what stands in front of it", Paste: looks.paste}
}

// look is what failures of a kind most often mean, and what helps then.
type look struct {
	means, cure string
	paste       *Paste
}

func looksOf(k kind, w words) look {
	early := "most often new is sent requests before it can take them, or old still is when it cannot any more: " + w.ready + "; " + w.prestop
	switch {
	case k.class == sample.DNS:
		return look{means: "the service's name did not resolve",
			cure: "keep the name's old record until the new one is served everywhere, and old running for the record's TTL after that"}
	case k.class == sample.TLS:
		return look{means: "no TLS connection came about",
			cure: "check the certificate that new serves (its names, its chain, its dates) before it is sent requests"}
	case k.status == 429:
		return look{means: "they were refused for their number",
			cure: "see whose limit that is, and whether it counts by instance: fewer instances during the deploy take fewer requests"}
	case k.class == sample.Status && (k.by == sample.ByEdge || k.by != sample.ByApp && k.status >= 502 && k.status <= 504):
		return look{"what stands in front of the service had nobody to send them to, or lost the one that it had sent them to", early, w.readyLines}
	case k.class == sample.Status, k.class == sample.Body, k.class == sample.Truncated:
		return look{"they were answered, and not as they should be",
			"most often the answer is that of an instance, or a route, which is not set up yet: " + w.ready, w.readyLines}
	case k.class == sample.Timeout, k.class == sample.ConnectTimeout:
		return look{"nobody answered them in time", early, w.readyLines}
	case k.class == sample.ConnectRefused:
		return look{"nothing took their connections", early, w.readyLines}
	case k.class == sample.IdleRace:
		return look{means: "they met connections that were just being closed", cure: w.keepalive}
	}
	return look{"their connections ended without an answer", early, w.readyLines}
}
