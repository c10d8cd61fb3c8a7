package actions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Millis writes milliseconds for an output: "" where they are not known.
func Millis(ms *float64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatFloat(*ms, 'f', -1, 64)
}

// maxID is how much of an id an output holds, in bytes.
const maxID = 1000

// ID writes an id of the probed service for an output: as it is where it is of
// the usual characters of ids, else as a JSON string in which every other
// character is escaped. Outputs end up in shell lines: nothing in this one
// means anything there.
func ID(id string) string {
	if len(id) > maxID {
		id = strings.ToValidUTF8(id[:maxID], "") + "…"
	}
	plain := id != "" && id[0] != '-'
	for _, r := range id {
		plain = plain && usual(r)
	}
	if plain || id == "" {
		return id
	}
	return quoted(id)
}

// IDs writes several: nothing for none, the one as [ID] does, else a JSON list.
func IDs(ids []string) string {
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return ID(ids[0])
	}
	const most = 20
	out := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		out = append(out, quoted(id[:min(len(id), maxID)]))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func usual(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-+/@", r)
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case usual(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
