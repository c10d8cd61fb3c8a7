package probe

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cutwatch/cutwatch/internal/config"
)

func extractor(t testing.TB, text string) config.Extractor {
	t.Helper()
	var e config.Extractor
	if err := e.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExtract(t *testing.T) {
	const doc = `{"a":{"b":[{"c":"v1"},{"c":7},{"c":1.50}],"n":null,"t":true},"0":"zero","list":["x"],"sp":" v2 "}`
	head := http.Header{"X-Version": {" v1\t"}, "X-Long": {strings.Repeat("é", 100)}, "X-Odd": {"a\xffb\x1b\u202e"}}
	for _, c := range []struct{ from, body, want string }{
		{"header:x-version", "", "v1"},
		{"header:X-Missing", "", ""},
		{"header:x-long", "", strings.Repeat("é", 64)},
		{"header:x-odd", "", "a\uFFFDb\uFFFD\uFFFD"},
		{"none", doc, ""},
		{"json:a.b.0.c", doc, "v1"},
		{"json:$.a.b.0.c", doc, "v1"},
		{"json:a.b.1.c", doc, "7"},
		{"json:a.b.2.c", doc, "1.50"},
		{"json:a.t", doc, "true"},
		{"json:a.n", doc, ""},
		{"json:a.b", doc, ""},
		{"json:a.b.3.c", doc, ""},
		{"json:a.b.-1.c", doc, ""},
		{"json:a.b.x.c", doc, ""},
		{"json:sp.deeper", doc, ""},
		{"json:0", doc, "zero"},
		{"json:list.0", doc, "x"},
		{"json:0", `["first"]`, "first"},
		{"json:sp", doc, "v2"},
		{"json:a", `{"a":"v1"} trailing`, "v1"},
		{"json:a", `{"a":"v1"`, ""},
		{"json:a", `<html>`, ""},
		{"json:a", ``, ""},
		{"json:a", `{"a":"\u0000\ud800x"}`, "\uFFFD\uFFFDx"},
		{`regex:version=(\w+)`, "the version=v9 of it", "v9"},
		{`regex:version=(\w*)(z)?`, "version=", ""},
		{`regex:version=(\w+)`, "nothing", ""},
		{`regex:(?s)(.+)`, "line\nbreak", "line\uFFFDbreak"},
	} {
		if got := extract(extractor(t, c.from), head, []byte(c.body)); got != c.want {
			t.Errorf("%s of %q = %q, want %q", c.from, c.body, got, c.want)
		}
	}
}

func TestCleanCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"abcdef", 3, "abc"},
		{"aéé", 2, "a"},
		{"aéé", 3, "aé"},
		{"日本", 5, "日"},
		{"\xff\xff\xff\xff", 4, "\uFFFD"}, // a run of invalid bytes is one mark
		{"\x01\x01\x01", 4, "\uFFFD"},
		{"", 4, ""},
	} {
		if got := clean(c.in, c.max); got != c.want {
			t.Errorf("clean(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []struct{ path, text string }{
		{"a.b.0", `{"a":{"b":["v1"]}}`}, {"$.a", `{"a":1e400}`}, {"0.0", `[["\ud800"]]`}, {"", ""}, {"...", "\xff\x00"}, {"a", strings.Repeat("[", 20000)},
	} {
		f.Add(s.path, s.text)
	}
	pattern := extractor(f, `regex:(?s)v(.*)`)
	f.Fuzz(func(t *testing.T, path, text string) {
		for _, e := range []config.Extractor{{Kind: config.FromJSON, Expr: path}, {Kind: config.FromHeader, Expr: path}, pattern} {
			got := extract(e, http.Header{http.CanonicalHeaderKey(path): {text}}, []byte(text))
			if len(got) > maxID || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
				t.Errorf("%s of %q gives %q", e, text, got)
			}
		}
	})
}
