package analysis

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// App Platform's edge tells in headers what happened behind it: x-do-orig-status
// is the status that it got, x-do-failure-code Envoy's flag for what went wrong,
// x-do-failure-msg more of it. Its error page has the same as "DETAIL (CODE FLAG)".

// flags are Envoy's response flags in words: who failed.
var flags = map[string]string{
	"UH":  "there was no healthy instance",
	"UC":  "the instance was gone: it closed the connection before it answered",
	"UF":  "the instance could not be connected to",
	"UR":  "the instance reset the connection",
	"LR":  "the edge itself reset the connection to the instance",
	"UT":  "the instance did not answer in the edge's time",
	"UO":  "the edge had too many requests open",
	"UPE": "the instance's answer was not HTTP",
	"URX": "the edge gave up repeating the request",
	"NR":  "the edge knows no route for this",
	"DPE": "the edge took the request for malformed",
	"-":   "the app itself answered so",
}

// detail finds "DETAIL (CODE FLAG)" in an error page.
var detail = regexp.MustCompile(`([a-z_]+(?:\{[^{}<>]{0,80}\})?) \((\d{3}) ([A-Z]{2,4}|-)\)`)

// edgeSays is what the edge's answer itself tells of who failed, as the end of a
// sentence; "" where it tells nothing.
func (s *state) edgeSays(f *sample.Sample) string {
	if f.Status == 0 || f.Headers == nil && f.Excerpt == "" {
		return ""
	}
	flag, orig, message := header(f, "x-do-failure-code"), header(f, "x-do-orig-status"), header(f, "x-do-failure-msg")
	if m := detail.FindStringSubmatch(f.Excerpt); m != nil && flag == "" {
		flag = m[3]
		if orig == "" {
			orig = m[2]
		}
		if message == "" {
			message = m[1]
		}
	}
	if flag == "" {
		return s.edgeAlone(f, orig)
	}
	who, known := flags[flag]
	if !known {
		who = "flag " + format.Name(flag, 10)
	}
	says := "the edge says: " + who
	if message == "via_upstream" {
		says = "the edge says: " + flags["-"]
	}
	var more []string
	if n, err := strconv.Atoi(orig); err == nil {
		more = append(more, fmt.Sprintf("%d %s", n, format.Clean(flag, 10)))
	} else if known {
		more = append(more, flag)
	}
	if message != "" {
		more = append(more, format.Clean(message, 80))
	}
	if len(more) == 0 {
		return says
	}
	return says + " (" + strings.Join(more, ", ") + ")"
}

// edgeAlone is what an answer of the edge's tells that names no failure behind it.
func (s *state) edgeAlone(f *sample.Sample, orig string) string {
	if f.By != sample.ByEdge {
		return ""
	}
	origin := header(f, "x-do-app-origin") != ""
	switch n, err := strconv.Atoi(orig); {
	case err == nil && n != f.Status:
		return fmt.Sprintf("the edge made it of a %d from behind it", n)
	case f.Edge == "cloudflare" && s.appPlatformTarget() && !origin:
		return "it is Cloudflare's own page: the request did not reach App Platform" + cacheStatus(f)
	case f.Status >= 520 && f.Status <= 530:
		return "it is Cloudflare's own page: it got no answer from what is behind it" + cacheStatus(f)
	case origin:
		return "the edge itself answered, and names no failure behind it"
	}
	return ""
}

func cacheStatus(f *sample.Sample) string {
	if status := header(f, "cf-cache-status"); status != "" {
		return " (cf-cache-status " + format.Name(status, 20) + ")"
	}
	return ""
}

// appPlatformTarget tells whether what is probed is on App Platform, by what was
// followed or by its edge's answers.
func (s *state) appPlatformTarget() bool {
	return s.onAppPlatform() || s.out.Target.Edge == "app-platform"
}

// edgeRefused says why the edge did not let a request through to the app; ""
// where it did, or where that is not the configuration's.
func (s *state) edgeRefused(f *sample.Sample) string {
	if !s.appPlatformTarget() || f.By != sample.ByEdge {
		return ""
	}
	switch {
	case f.Status == 403 && f.Headers != nil && header(f, "x-do-app-origin") == "":
		return "status 403 from the edge, which knows no app of that host, or took the probe for an attack: the app was not asked"
	case f.Status == 403 && s.onAppPlatform() && s.out.Platform.ThreatControl:
		return "status 403 from the edge, with enhanced_threat_control_enabled in the app spec: the probe was taken for an attack"
	case f.Status == 503 && s.asleep(f):
		return "the page of an app that was asleep and is being woken"
	}
	return ""
}

// asleep tells whether an answer is the page that is shown while a sleeping app
// is woken: the edge's 503 that names no failure, of an app that is put to sleep.
func (s *state) asleep(f *sample.Sample) bool {
	if header(f, "x-do-failure-code") != "" || detail.MatchString(f.Excerpt) {
		return false
	}
	text := strings.ToLower(f.Excerpt)
	page := strings.Contains(text, "waking") || strings.Contains(text, "asleep") || strings.Contains(text, "sleeping") || strings.Contains(text, "starting up")
	return page || s.onAppPlatform() && s.out.Platform.SleepSeconds != nil
}
