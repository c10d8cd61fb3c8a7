package probe

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
)

// location is where an answer 3xx leads, as it says itself, but for what may be
// secret in it; "" for other answers. It is untrusted text.
func (c *client) location(resp *http.Response) string {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return ""
	}
	return c.text(maskLocation(resp.Header.Get("Location")), maxText)
}

// maskLocation takes out what may be a token: the values of the query, and the fragment.
func maskLocation(to string) string {
	to, _, _ = strings.Cut(to, "#")
	return config.MaskQuery(to)
}

// leadsToItself tells whether whoever follows the answer asks the same again.
func (m *message) leadsToItself(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		// After a POST these lead to a GET: another request.
		if method := m.shape.Method; method != http.MethodGet && method != http.MethodHead {
			return false
		}
	default:
		return false
	}
	to := resp.Header.Get("Location")
	if to == "" {
		return false
	}
	next, err := m.asked.Parse(to)
	return err == nil && next.Scheme == m.asked.Scheme && origin(next) == origin(m.asked) && next.RequestURI() == m.asked.RequestURI()
}

// origin is the host and port of a URL in one form.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return host + ":" + port
}
