package demo

import (
	"bytes"
	"fmt"
	"io"

	"github.com/cutwatch/cutwatch/internal/format"
)

// WriteTable writes rows as an aligned table, each with its details below.
func WriteTable(w io.Writer, rows []Row) error {
	lines := [][]string{{"", "truth", "measured", "difference", "agrees"}}
	for _, r := range rows {
		agrees := "yes"
		if !r.Agrees {
			agrees = "NO"
		}
		lines = append(lines, []string{r.What, r.Truth, r.Measured, r.Difference, agrees})
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], format.Width(cell))
		}
	}
	var b bytes.Buffer
	for n, line := range lines {
		b.WriteString(" ")
		for i, cell := range line {
			fmt.Fprintf(&b, " %s%*s", cell, widths[i]-format.Width(cell)+1, "")
		}
		b.Truncate(len(bytes.TrimRight(b.Bytes(), " ")))
		b.WriteString("\n")
		if n > 0 {
			for _, d := range rows[n-1].Detail {
				fmt.Fprintf(&b, "      %s\n", d)
			}
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}
