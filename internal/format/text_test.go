package format_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cutwatch/cutwatch/internal/format"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		name, in            string
		max                 int
		quote, clean, ident string
	}{
		{"empty", "", 10, `""`, "", `""`},
		{"id", "v1.2-rc+3", 20, `"v1.2-rc+3"`, "v1.2-rc+3", "v1.2-rc+3"},
		{"fits exactly", "abcdef", 6, `"abcdef"`, "abcdef", "abcdef"},
		{"one too long", "abcdefg", 6, `"abcde…"`, "abcde…", "abcde…"},
		{"no limit", "abcdefg", 0, `"abcdefg"`, "abcdefg", "abcdefg"},
		{"quotes", `say "x\y"`, 0, `"say \"x\\y\""`, `say "x\y"`, `"say \"x\\y\""`},
		{"newline", "a\r\nb\tc", 0, `"a\r\nb\tc"`, `a\r\nb\tc`, `"a\r\nb\tc"`},
		{"terminal escape", "\x1b[31mred\x07", 0, `"\x1b[31mred\a"`, `\x1b[31mred\a`, `"\x1b[31mred\a"`},
		{"C1", "a\u009bx", 0, `"a\u009bx"`, `a\u009bx`, `"a\u009bx"`},
		{"not UTF-8", "a\xffb", 0, `"a\xffb"`, `a\xffb`, `"a\xffb"`},
		{"bidi", "a\u202Eb\u2066", 0, `"a\u202eb\u2066"`, `a\u202eb\u2066`, `"a\u202eb\u2066"`},
		{"right to left", "שלום", 0, `"\u05e9\u05dc\u05d5\u05dd"`, `\u05e9\u05dc\u05d5\u05dd`, `"\u05e9\u05dc\u05d5\u05dd"`},
		{"combining", "e\u0301", 0, `"e\u0301"`, `e\u0301`, `"e\u0301"`},
		{"line separator", "a\u2028b\u00a0c", 0, `"a\u2028b\u00a0c"`, `a\u2028b\u00a0c`, `"a\u2028b\u00a0c"`},
		{"looks blank", "a\u3164\u2800b", 0, `"a\u3164\u2800b"`, `a\u3164\u2800b`, `"a\u3164\u2800b"`},
		{"other scripts", "Zürich 東京", 0, `"Zürich 東京"`, "Zürich 東京", `"Zürich 東京"`},
		{"wide and cut", "東京都", 5, `"東京…"`, "東京…", `"東京…"`},
		{"an escape is not cut in two", "ab\x1b", 5, `"ab…"`, "ab…", `"ab…"`},
		{"old command", "a##[error]b", 0, `"a##\x5berror]b"`, `a##\x5berror]b`, `"a##\x5berror]b"`},
		{"command", "::error::x", 0, `":\x3aerror::x"`, `:\x3aerror::x`, `":\x3aerror::x"`},
		{"command behind a space", "x ::error::y", 0, `"x :\x3aerror::y"`, `x :\x3aerror::y`, `"x :\x3aerror::y"`},
		{"IPv6", "[fe80::1]:80", 0, `"[fe80::1]:80"`, "[fe80::1]:80", `"[fe80::1]:80"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := format.Quote(c.in, c.max); got != c.quote {
				t.Errorf("Quote = %s, want %s", got, c.quote)
			}
			if got := format.Clean(c.in, c.max); got != c.clean {
				t.Errorf("Clean = %s, want %s", got, c.clean)
			}
			if got := format.Name(c.in, c.max); got != c.ident {
				t.Errorf("Name = %s, want %s", got, c.ident)
			}
		})
	}
}

// unsafe is what must never be in text that was made safe: judged without the
// code that makes it so.
func unsafe(s string) string {
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	for _, r := range s {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.M) ||
			unicode.Is(unicode.Zs, r) && r != ' ' {
			return "a " + string(r)
		}
	}
	if strings.Contains(s, "##[") || strings.HasPrefix(strings.TrimLeft(s, " "), "::") || strings.Contains(s, " ::") {
		return "a workflow command"
	}
	return ""
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"v1", "a\x1b[2Jb", "\u202Eabc", "##[error]", " ::error::", ":::x", "\xff\xfe", "東京", "a\nb", "#\x00#[", strings.Repeat("\x1b", 50)} {
		f.Add(s, 12)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		for name, got := range map[string]string{
			"Quote": format.Quote(s, max), "Clean": format.Clean(s, max), "Name": format.Name(s, max),
		} {
			if why := unsafe(got); why != "" {
				t.Errorf("%s(%q, %d) = %q holds %s", name, s, max, got, why)
			}
			if max > 0 && format.Width(got) > max+2 {
				t.Errorf("%s(%q, %d) takes %d columns", name, s, max, format.Width(got))
			}
		}
		if once := format.Clean(s, 0); format.Clean(once, 0) != once {
			t.Errorf("Clean of clean %q = %q", once, format.Clean(once, 0))
		}
	})
}
