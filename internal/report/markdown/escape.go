package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cutwatch/cutwatch/internal/format"
)

// unseen is a blank of no width. GitHub looks for mentions, references and
// addresses after it has decoded what was escaped: they have to be broken apart.
const unseen = "&#8203;"

// Text writes untrusted text so that GitHub's Markdown shows it as text, on one
// line, within a table as well as without, and at a line's beginning: nothing in
// it is markup, HTML, a link, a mention, a reference to an issue or an emoji. (A
// commit's whole hash can still become a link to that commit.) max is the most
// columns of text that are shown, 0: all. What is harmless stays as it is, for
// those who read the comment as a mail.
func Text(text string, max int) string {
	text = format.Clean(text, max)
	var b strings.Builder
	for i, r := range text {
		before, after := text[:i], text[i+utf8.RuneLen(r):]
		if joins(r, before, after) {
			b.WriteString(unseen)
		}
		if harmless(r, before, after) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
		if opens(r, after) {
			b.WriteString(unseen)
		}
	}
	return b.String()
}

// harmless tells whether a character is none of Markdown's where it stands.
func harmless(r rune, before, after string) bool {
	switch {
	case r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r):
		return true
	case before == "": // a list, a heading, a blank that makes code
		return false
	case r == '.' || r == ')': // a numbered list
		return strings.Trim(before, "0123456789") != "" || after != "" && after[0] != ' '
	case r == '_': // emphasis, but within a word
		last, _ := utf8.DecodeLastRuneInString(before)
		first, _ := utf8.DecodeRuneInString(after)
		return inWord(last) && inWord(first)
	}
	return strings.ContainsRune(` ,;:('"/%?-+=`, r)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// joins tells whether a character makes an address or a reference with what
// stands before it: "www." and "GH-1".
func joins(r rune, before, after string) bool {
	switch r {
	case '.':
		return endsIn(before, "www")
	case '-':
		return endsIn(before, "gh") && after != "" && unicode.IsDigit(rune(after[0]))
	}
	return false
}

func endsIn(s, end string) bool {
	return len(s) >= len(end) && strings.EqualFold(s[len(s)-len(end):], end)
}

// A time of the day is no emoji.
var restOfEmoji = regexp.MustCompile(`^(?:[0-9]*[A-Za-z_+-][A-Za-z0-9_+-]*|100|1234):`)

// opens tells whether a character makes something with what stands behind it: a
// mention, a reference, an address, an emoji, a formula.
func opens(r rune, after string) bool {
	switch r {
	case '@', '#', '$':
		return true
	case ':':
		return strings.HasPrefix(after, "//") || restOfEmoji.MatchString(after)
	}
	return false
}

// ours is text of ours that may hold a "<", as lengths of time do.
func ours(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

// Code writes an untrusted word as code, to be copied as it is; one with a
// character that code cannot hold everywhere is written as [Text].
func Code(word string, max int) string {
	clean := format.Clean(word, max)
	if clean == "" || strings.ContainsAny(clean, "`|\\") || strings.TrimSpace(clean) != clean {
		return Text(word, max)
	}
	return "`" + clean + "`"
}

// fence is a block of code. Its fence is longer than any run of backticks in it.
func fence(language string, lines ...string) string {
	longest := 2
	for _, l := range lines {
		run := 0
		for _, r := range l {
			if r != '`' {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	marks := strings.Repeat("`", longest+1)
	return marks + language + "\n" + strings.Join(lines, "\n") + "\n" + marks + "\n"
}

// link is a link of ours: text, and an address that is taken from the runner's
// environment. What is no address of the web is shown as text.
func link(text, address string) string {
	const longest = 1000
	if len(address) > longest || !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return Text(text, 0)
	}
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; isURL(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return "[" + Text(text, 0) + "](" + b.String() + ")"
}

func isURL(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~:/?#@!$&+,;=%", c) >= 0
}
