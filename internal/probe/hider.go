package probe

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
)

// mark stands where a secret was.
const mark = "***"

// hider takes the config's secrets out of what a service sends back, a page for
// developers that shows the request's headers say.
type hider struct {
	secrets *strings.Replacer // nil: there are none
	spare   int               // length of the longest, bytes
}

func newHider(cfg *config.Config) hider {
	var h hider
	var pairs []string
	for _, s := range cfg.Secrets() {
		pairs = append(pairs, s, mark)
		h.spare = max(h.spare, len(s))
	}
	if pairs != nil {
		h.secrets = strings.NewReplacer(pairs...)
	}
	return h
}

// text is text of the service as it may be recorded: without secrets, clean,
// and of at most limit bytes. One that the limit would cut is taken out whole.
func (h *hider) text(s string, limit int) string {
	if h.secrets != nil && s != "" {
		s = h.secrets.Replace(s[:min(len(s), limit+h.spare)])
	}
	return clean(s, limit)
}
