package html

import "github.com/cutwatch/cutwatch/internal/analysis"

// legend says what the colours and shapes in the picture mean: of those that are
// in it.
func (d *plot) legend() {
	add := func(sample, class, text string) {
		d.p.Legend = append(d.p.Legend, legendItem{sample, class, text})
	}
	names := map[string]string{}
	for _, l := range d.layers() {
		names[l.class] = l.name
	}
	for _, a := range d.p.Shares.Areas {
		add("area", a.Class, names[a.Class])
	}
	if len(d.p.Shares.Failed) > 0 {
		add("area", "failed", "failed")
	}
	seen := map[string]bool{}
	for _, f := range d.t.Failures {
		seen[f.Attribution] = true
	}
	for _, m := range []struct{ by, text string }{
		{analysis.ByDeploy, "the deploy's failure"}, {analysis.Undecided, "failure, undecided"}, {analysis.ByConfig, "failure, the configuration's"},
		{analysis.ByProber, "failure, the prober's own"}, {analysis.ByBackground, "failure, background"},
	} {
		if seen[m.by] {
			add("mark", shapes[m.by], m.text)
		}
	}
	if len(d.p.Bars.Items) > 0 {
		add("bar", "", "a request held open; hollow: not finished")
	}
	if len(d.p.Cuts) > 0 {
		add("cut", "", "requests in flight on old were cut")
	}
	for _, s := range d.p.Shades {
		text := map[string]string{"drain": "drain: old's last accept to its stop", "gap": "gap: nobody answered"}[s.Class]
		add("shade", s.Class, text)
	}
	if d.p.Latency != nil {
		add("line", "p50", "p50: half of the answers were faster")
		add("line", "p99", "p99: 99 of 100 were faster")
	}
	if d.p.Window != nil {
		add("line", "window", "deploy window: failures in it can be the deploy's")
	}
}
