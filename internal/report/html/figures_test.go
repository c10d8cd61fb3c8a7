package html

import (
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
)

func TestOverlapFigure(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *analysis.Cutover
		want figure
	}{
		{"no cutover", nil, figure{"overlap", "unknown", "no cutover was seen"}},
		{"by marks", &analysis.Cutover{By: "marks"}, figure{"overlap", "unknown", ""}},
		{"both answered", &analysis.Cutover{By: "version", Overlap: 12 * time.Millisecond}, figure{"overlap", "12 ms", ""}},
		{"one after the other", &analysis.Cutover{By: "version", Overlap: -12 * time.Millisecond}, figure{"overlap", "none", "new answered 12 ms later"}},
		{"nobody answered", &analysis.Cutover{By: "version", Overlap: -2 * time.Second, Gap: true}, figure{"gap", "2.0 s", ""}},
	} {
		if got := overlapFigure(tt.c); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestDrainFigure(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *report.Cutover
		want figure
	}{
		{"no cutover", nil, figure{"drain", "unknown", ""}},
		{"no drain", &report.Cutover{}, figure{"drain", "unknown", ""}},
		{"a request was cut", &report.Cutover{Drain: &report.Drain{Lower: 2100, Exact: true}}, figure{"drain", "2.1 s", ""}},
		{"the stop was not seen", &report.Cutover{Drain: &report.Drain{Lower: 1700}}, figure{"drain", "≥ 1.7 s", "old's stop was not seen"}},
	} {
		if got := drainFigure(tt.c); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
