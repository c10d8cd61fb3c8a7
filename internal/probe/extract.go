package probe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cutwatch/cutwatch/internal/config"
)

// maxID is the longest version or instance id that is kept, in bytes.
const maxID = 128

// extract takes an id from an answer: from its head, or from the first 64 KiB
// of its body; JSON that is longer than that gives none. "" means that there is
// none. The id is untrusted text; it is trimmed, at most 128 bytes, valid
// UTF-8 and free of control characters.
func extract(e config.Extractor, head http.Header, body []byte) string {
	var found string
	switch e.Kind {
	case config.FromHeader:
		found = head.Get(e.Expr)
	case config.FromJSON:
		found = fromJSON(e.Expr, body)
	case config.FromRegex:
		if m := e.Regexp().FindSubmatch(body); m != nil {
			found = string(m[1])
		}
	}
	return clean(strings.TrimSpace(found), maxID)
}

// fromJSON follows a path of keys and list positions ("a.b.0.c", "$.a") to a
// string, number or boolean.
func fromJSON(path string, body []byte) string {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // a number stays as it was written
	var v any
	if dec.Decode(&v) != nil {
		return ""
	}
	path = strings.TrimPrefix(path, "$.")
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return ""
			}
			v = node[i]
		default:
			return ""
		}
	}
	switch leaf := v.(type) {
	case string:
		return leaf
	case json.Number:
		return leaf.String()
	case bool:
		return strconv.FormatBool(leaf)
	}
	return ""
}

// clean makes untrusted text fit to be recorded: valid UTF-8 of at most limit
// bytes, with a replacement character for each control or formatting character.
func clean(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
		// Do not leave half a character at the cut.
		for n := len(s); n > 0 && n > len(s)-utf8.UTFMax; n-- {
			if utf8.RuneStart(s[n-1]) {
				if !utf8.FullRuneInString(s[n-1:]) {
					s = s[:n-1]
				}
				break
			}
		}
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	for len(s) > limit { // a replacement is longer than what it replaces
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
