package markdown

import (
	"strings"

	"github.com/cutwatch/cutwatch/internal/report"
)

// series is the table of several deploys in one run, or of one deploy seen from
// several places, in the place of one deploy's figures. It tells whether there is one.
func (d *doc) series() bool {
	var rows [][]string
	switch {
	case len(d.Parts) > 0:
		rows = report.MergedRows(d.Parts)
	case len(d.Result.Runs) > 0:
		rows = append([][]string{report.SeriesColumns()}, report.SeriesRows(d.Result)...)
	default:
		return false
	}
	var lines []string
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = Text(cell, 40)
		}
		lines = append(lines, tableLine(cells...))
		if i == 0 {
			lines = append(lines, "| --- |"+strings.Repeat(" ---: |", len(row)-1))
		}
	}
	d.block(lines...)
	return true
}
