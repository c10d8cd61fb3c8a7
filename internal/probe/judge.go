package probe

import (
	"context"
	"net/http"
	"strings"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// maxText is the longest error, excerpt or header value that is recorded, in
// bytes; maxHeaders is how many headers.
const (
	maxText    = 300
	maxHeaders = 40
)

// judge says what came of a request: who answered, and whether it failed. resp
// is nil where no head came; f is nil where the answer came whole.
func (c *client) judge(ctx context.Context, s *sample.Sample, j *job, resp *http.Response, f *failure, body []byte) {
	itself := false
	if resp != nil {
		c.describe(s, resp.Header, body)
		s.Broken = f == nil && s.Bytes <= keptBody && broken(j.msg.shape.Method, resp, body)
		s.Unsized = resp.ContentLength < 0
		s.Location = c.location(resp)
		itself = j.msg.leadsToItself(resp)
	}
	switch {
	case f != nil && f.aborted(ctx):
		s.Unfinished, s.Phase = true, f.phase
		return
	case itself && j.status != nil: // a good status, perhaps, that nobody gets beyond
		s.Class, s.Phase, s.Error = sample.Status, sample.PhaseResponse, "it redirects to itself"
	case resp != nil && j.status != nil && !j.status.Contains(resp.StatusCode):
		// The status comes before the rest: it says most, even over a body that was cut.
		s.Class, s.Phase = sample.Status, sample.PhaseResponse
	case f != nil:
		s.Class, s.Phase = classify(f, s.FirstByte > 0, j.to.reached.Load()), f.phase
	case !j.body.Match(body):
		s.Class, s.Phase = sample.Body, sample.PhaseBody
		s.Error = "expect-body is not in the first 64 KiB of the body"
	}
	if s.Class == sample.OK {
		return
	}
	if f != nil && s.Error == "" {
		s.Error = c.text(f.err.Error(), maxText)
	}
	if resp != nil {
		s.Headers = c.telling(resp.Header)
		s.Excerpt = c.text(string(body[:min(len(body), maxText+c.spare)]), maxText)
	}
}

// describe records who answered.
func (c *client) describe(s *sample.Sample, head http.Header, body []byte) {
	s.Version = c.text(extract(c.cfg.VersionFrom, head, body), maxID)
	s.Instance = c.text(extract(c.cfg.InstanceFrom, head, body), maxID)
	s.Edge = edge(head)
	s.CacheHit, s.CacheAge = cached(head)
	switch {
	case s.Version != "" || s.Instance != "":
		s.By = sample.ByApp
	case s.Status >= 400 && (s.Edge != "" || gatewayPage(s.Status, head)):
		s.By = sample.ByEdge
	default:
		s.By = sample.ByUnknown
	}
}

// telling selects the headers that tell who failed, in lower case.
func (c *client) telling(head http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range head {
		name = strings.ToLower(name)
		if len(out) == maxHeaders || len(values) == 0 || !isTelling(name) {
			continue
		}
		value := strings.Join(values, ", ")
		if name == "location" {
			value = maskLocation(value)
		}
		out[c.text(name, maxID)] = c.text(value, maxText)
	}
	return out
}

func isTelling(name string) bool {
	switch name {
	case "server", "via", "date", "age", "connection", "retry-after", "location", "content-type", "content-length",
		"cf-ray", "cf-cache-status", "cf-mitigated", "x-served-by", "x-cache", "x-cache-status", "cache-status", "cache-control":
		return true
	}
	for _, prefix := range []string{"x-do-", "x-envoy-", "ratelimit", "x-ratelimit", "x-rate-limit"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
