package format

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote writes untrusted text in double quotes on one line, in at most max
// columns between them (0: no limit): what was left off is shown by "…". See
// [Clean] for what is escaped; quotes and backslashes are as well, so that the
// text cannot pretend to end.
func Quote(s string, max int) string {
	return `"` + escape(s, max, true) + `"`
}

// Clean makes untrusted text safe to print within a sentence: line breaks,
// control characters, terminal escapes, marks that reorder or hide text, and
// the beginnings of workflow commands come out as visible escapes. Text that
// is already clean is returned as it is. max is as in [Quote].
func Clean(s string, max int) string { return escape(s, max, false) }

// Name writes an id, like a version's: as it is where it is made of the usual
// characters of ids, else quoted. max is as in [Quote].
func Name(s string, max int) string {
	if s == "" {
		return `""`
	}
	for _, r := range s {
		if !strings.ContainsRune(idRunes, r) {
			return Quote(s, max)
		}
	}
	return Clean(s, max)
}

const idRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/@~"

// escape walks over s once, keeping it within max columns.
func escape(s string, max int, quoted bool) string {
	var b strings.Builder
	width, cut := 0, 0 // cut: length of b that leaves room for the "…"
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = `\x` + hex2(s[i])
		case quoted && (r == '"' || r == '\\'):
			piece = `\` + piece
		case r == '[' && strings.HasSuffix(s[:i], "##"):
			piece = `\x5b` // "##[" begins a workflow command anywhere in a line
		case r == ':' && startsCommand(s, i):
			piece = `\x3a`
		case !visible(r):
			piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		w := Width(piece)
		if max > 0 && width+w > max {
			return b.String()[:cut] + "…"
		}
		b.WriteString(piece)
		width += w
		if width < max {
			cut = b.Len()
		}
		i += size
	}
	return b.String()
}

// startsCommand tells whether the colon at i is the second of a "::" that
// stands where a line could begin with it.
func startsCommand(s string, i int) bool {
	if i == 0 || s[i-1] != ':' {
		return false
	}
	before := strings.TrimRight(s[:i-1], " ")
	return before == "" || len(before) < i-1
}

func hex2(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// visible tells whether a rune takes room of its own and does nothing to its
// neighbours: no controls, no bidirectional or joining marks, nothing combining,
// no letter that looks like a blank. The only space is the ASCII one.
func visible(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800': // letters and symbols that show nothing
		return false
	case utf8.RuneError:
		return true
	}
	return unicode.IsPrint(r) && !unicode.Is(unicode.M, r) && !rightToLeft(r)
}

// rightToLeft is true of letters that turn their neighbours' order around on a
// terminal that follows the bidirectional algorithm.
func rightToLeft(r rune) bool {
	return r >= 0x0590 && r <= 0x08FF || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC ||
		r >= 0x10800 && r <= 0x10FFF || r >= 0x1E800 && r <= 0x1EFFF
}

// Width is the number of columns that printed text takes on a terminal: two for
// each of the wide characters of East Asia and most pictographs, else one.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n++
		if wide(r) {
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF && r != 0x303F ||
		r >= 0xA960 && r <= 0xA97C || r >= 0xAC00 && r <= 0xD7A3 || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0xFFE0 && r <= 0xFFE6 ||
		r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD)
}
