package markdown

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Lost is the summary of a probe that was lost with all that it recorded, so
// that nothing can be told of the deploy. id is the probe's ("": it has none),
// and why a sentence, which may hold untrusted text.
func Lost(id, why string) string {
	d := &doc{detail: least, Input: Input{Result: &report.Result{Verdict: verdict.Inconclusive}}}
	d.Head.Config.ID = id
	d.block(d.heading())
	d.block("**" + strings.ToUpper(verdict.Inconclusive) + "** the probe was lost: " + Text(why, 1000))
	return strings.TrimSuffix(d.b.String(), "\n")
}

// LostComment is [Lost] as the comment with that key. It carries no [State]: there
// are no figures that the next one could be compared with.
func LostComment(id, why, key string) string {
	return "<!-- cutwatch:v1 key=" + keyHash(key) + " -->\n" + Lost(id, why)
}
