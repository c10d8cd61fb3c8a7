package report

import (
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// TrendRow is one deploy of a trend, told in text; "–" is what is not known.
type TrendRow struct{ When, Verdict, Requests, Failed, Deploy, Overlap, Drain, P99Before, P99During string }

// TrendHead is the names of a trend's columns.
var TrendHead = TrendRow{
	"deploys", "verdict", "requests", "failed", "deploy's", "overlap", "drain", "p99 before", "p99 during",
}

// Trend is the deploys that a run knows of, oldest first and its own last; nil
// where it was given no history. Every text is safe to print.
func Trend(h *sample.History, this *Result) []TrendRow {
	if h == nil || len(h.Deploys) == 0 {
		return nil
	}
	own := deploysOf(this)
	past := h.Deploys[max(0, len(h.Deploys)-maxDeploys):] // a file can hold any number
	var rows []TrendRow
	for _, p := range past {
		// Several deploys in one run are history of the later ones.
		if !slices.ContainsFunc(own, func(r *Result) bool { return r.StartedAt == p.StartedAt }) {
			rows = append(rows, trendRow(p))
		}
	}
	for _, r := range own {
		rows = append(rows, trendRow(AsPast(r)))
	}
	return rows
}

// deploysOf is the results of a result's deploys.
func deploysOf(r *Result) []*Result {
	if len(r.Runs) > 0 {
		return r.Runs
	}
	return []*Result{r}
}

// Cells are the row's texts, in the order of its columns.
func (r TrendRow) Cells() []string {
	return []string{r.When, r.Verdict, r.Requests, r.Failed, r.Deploy, r.Overlap, r.Drain, r.P99Before, r.P99During}
}

// trend is the table of the deploys that the run knows of.
func (p *page) trend(h *sample.History, this *Result) {
	rows := Trend(h, this)
	if rows == nil {
		return
	}
	table := [][]string{TrendHead.Cells()}
	for _, r := range rows {
		table = append(table, r.Cells())
	}
	p.blank()
	p.table(table, 3, 7, 2, 8) // where it is narrow: the verdict, the deploy's, overlap and drain stay
}

func trendRow(p sample.PastRun) TrendRow {
	return TrendRow{
		When: StartText(p.StartedAt), Verdict: format.Clean(p.Verdict, 20),
		Requests: format.Count(p.Requests), Failed: format.Count(p.Failed), Deploy: format.Count(p.Deploy),
		Overlap: MillisText(p.OverlapMS), Drain: DrainMillisText(p),
		P99Before: MillisText(p.P99BeforeMS), P99During: MillisText(p.P99DuringMS),
	}
}

// StartText is when a run began, to the minute: "2026-11-30 12:00".
func StartText(recorded string) string {
	t, err := time.Parse(time.RFC3339Nano, recorded)
	if err != nil {
		return format.Quote(recorded, 40)
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// MillisText is a length of a result's, "–" where it is not known.
func MillisText(ms *float64) string {
	if ms == nil {
		return "–"
	}
	return format.Duration(Duration(*ms))
}

// DrainMillisText is a drain as far as it is known.
func DrainMillisText(p sample.PastRun) string {
	text := MillisText(p.DrainMS)
	if p.DrainMS != nil && !p.DrainExact {
		text = "≥ " + text
	}
	return text
}

// Duration is a time of a result's, in milliseconds, as a duration.
func Duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
