package probe

import (
	"net/http"
	"strconv"
	"strings"
)

// marks are the headers by which an answer names the proxy that it came
// through, outermost platform first; names in canonical form. value is what the header's value begins
// with, in lower case; "" is any.
var marks = []struct{ edge, header, value string }{
	{"app-platform", "X-Do-App-Origin", ""},
	{"app-platform", "X-Do-Failure-Code", ""},
	{"vercel", "X-Vercel-Id", ""},
	{"fly", "Fly-Request-Id", ""},
	{"render", "X-Render-Origin-Server", ""},
	{"heroku", "Via", "1.1 vegur"},
	{"heroku", "Via", "1.1 heroku-router"},
	{"cloudfront", "X-Amz-Cf-Id", ""},
	{"cloudflare", "Cf-Ray", ""},
	{"cloudflare", "Server", "cloudflare"},
	{"google", "Server", "google frontend"},
	{"google", "Via", "1.1 google"},
	{"aws-elb", "Server", "awselb"},
	{"akamai", "Server", "akamaighost"},
	{"envoy", "Server", "envoy"},
	{"envoy", "Server", "istio-envoy"},
	{"haproxy", "Server", "haproxy"},
	{"nginx", "Server", "nginx"},
	{"nginx", "Server", "openresty"},
	{"caddy", "Server", "caddy"},
	{"varnish", "X-Varnish", ""},
}

// edge is the proxy that an answer names, "" where it names none.
func edge(head http.Header) string {
	for _, m := range marks {
		values := head[m.header] // Get would canonicalise the name, for every answer and mark
		if len(values) == 0 || len(values[0]) < len(m.value) {
			continue
		}
		if strings.EqualFold(values[0][:len(m.value)], m.value) {
			return m.edge
		}
	}
	return ""
}

// gatewayPage tells whether an answer looks like a proxy's own page: HTML with
// a status that says that what is behind it did not answer. An application's
// own error pages are HTML too, with other statuses.
func gatewayPage(status int, head http.Header) bool {
	html := strings.HasPrefix(strings.ToLower(head.Get("Content-Type")), "text/html")
	return html && (status >= 502 && status <= 504 || status >= 520 && status <= 530)
}

// cached tells whether the answer came out of a cache, and the age it gives
// (0: none).
func cached(head http.Header) (hit bool, age int) {
	switch strings.ToUpper(head.Get("Cf-Cache-Status")) {
	case "HIT", "STALE", "UPDATING":
		hit = true
	}
	if strings.Contains(strings.ToUpper(head.Get("X-Cache")), "HIT") {
		hit = true
	}
	age, err := strconv.Atoi(strings.TrimSpace(head.Get("Age")))
	if err != nil || age < 0 {
		return hit, 0
	}
	return hit, age
}
