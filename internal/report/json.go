package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is the result as an indented document that ends in a newline; the same
// result gives the same bytes. It may hold text of the probed service, yet is
// safe to print: what a terminal would obey, or a runner's log take for a
// command, is escaped in a way that every JSON parser undoes.
func (r *Result) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "→" and "<0.1 ms" are for people; a page that embeds this escapes it
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("writing the result as JSON: %w", err)
	}
	return printable(b.Bytes()), nil
}

// printable escapes what encoding/json leaves as it is and a screen should not
// see. All of it is inside strings: the rest of a document is plain ASCII. A
// line of an indented document cannot begin with "::", a workflow command, since
// it begins with a bracket or a quote; "##[" counts anywhere in a line.
func printable(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == '[' && bytes.HasSuffix(doc[:i], []byte("##")):
			out = append(out, `\u005b`...)
		case r >= 0x7F && r != utf8.RuneError && !unicode.IsPrint(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		default:
			out = append(out, doc[i:i+size]...)
		}
		i += size
	}
	return out
}
