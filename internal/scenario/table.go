package scenario

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
)

// maxDetail bounds the lines below one that is not good.
const maxDetail = 6

// WriteTable writes the scenarios' lines and, last, the sum of them.
func WriteTable(w io.Writer, rows []*Row) error {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b *Row) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "scenario\tkind\tverdict\treason\tdeploy\tbackground\tprober\tconfig\tundecided\tmissed\tinvented\tmisattributed\ttook\t")
	var details []string
	missed, invented, misattributed, truth := 0, 0, 0, 0
	for _, r := range rows {
		m := r.Match
		missed, invented, misattributed, truth = missed+len(m.Missed), invented+len(m.Invented), misattributed+len(m.Misattributed), truth+r.Truth
		note := ""
		if !r.Good() {
			note = "NOT AS IT MUST BE"
			details = append(details, r.Name+":")
			for _, list := range [][]string{r.Off, m.Missed, m.Invented, m.Misattributed} {
				for _, text := range few(list) {
					details = append(details, "    "+text)
				}
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t", r.Name, r.Kind, r.Verdict, r.Reason)
		for _, o := range owners {
			fmt.Fprintf(t, "%d\t", r.Failures[o])
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%s\t%s\n", len(m.Missed), len(m.Invented), len(m.Misattributed), format.Duration(r.Took.Round(100*time.Millisecond)), note)
	}
	if err := t.Flush(); err != nil { // into memory
		return err
	}
	for _, d := range details {
		fmt.Fprintln(&b, d)
	}
	fmt.Fprintf(&b, "missed %d, invented %d, misattributed %d of %d failures in %d scenarios\n", missed, invented, misattributed, truth, len(rows))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func few(list []string) []string {
	if len(list) <= maxDetail {
		return list
	}
	return append(list[:maxDetail:maxDetail], fmt.Sprintf("and %d more", len(list)-maxDetail))
}
