package html_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
)

// hostile is what a service could say to take over a page, or its reader.
var hostile = []string{
	"v1", "", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "</style><script>alert(1)</script>",
	"</title><svg onload=alert(1)>", "javascript:alert(1)", "<!--", "]]>", "{{.}}", "`${alert(1)}`", "a|b|`c`", "@team #1", "::error::x", "##[error]x",
	"a\r\nb\u2028c", "\u202Eevil\u2066", "e\u0301\u200d", "\xff\xfe\x00", "界界", "&lt;script&gt;", "\x1b[2J", strings.Repeat("x<", 5000),
}

// infect puts text wherever a page shows what came from outside.
func infect(in html.Input, text string) html.Input {
	a := *in.Analysis
	in.Head.Config.URL, in.Head.StartedAt, in.Head.Cutwatch, in.Head.ID = text, text, text, text
	in.Head.Config.ExpectVersion, in.Head.Config.ControlURL, in.Head.Config.ID = text, text, text
	a.Target = analysis.Target{Address: text, Protocol: text, Edge: text}
	a.Deploy.Message, a.Deploy.Outcome, a.End, a.EndNote = text, text, text, text
	a.Deploy.Signals = slices.Clone(a.Deploy.Signals)
	for i := range a.Deploy.Signals {
		s := &a.Deploy.Signals[i]
		s.Name, s.Source, s.Message = text, text, text
	}
	a.Versions = slices.Clone(a.Versions)
	for i := range a.Versions {
		a.Versions[i].ID = text
		a.Versions[i].Instances = slices.Clone(a.Versions[i].Instances)
		for j := range a.Versions[i].Instances {
			a.Versions[i].Instances[j].ID = text
		}
	}
	a.Failures = slices.Clone(a.Failures)
	for i := range a.Failures {
		f := &a.Failures[i]
		f.ID, f.Lane, f.Class, f.Phase, f.Error, f.AnsweredBy = text, text, text, text, text, text
		f.Version, f.Instance, f.Reason, f.Evidence = text, text, text, text
		if i%2 == 0 {
			f.Attribution = text
		}
	}
	a.Series.Bars = slices.Clone(a.Series.Bars)
	for i := range a.Series.Bars {
		a.Series.Bars[i].ID = text
	}
	a.Findings = append(slices.Clone(a.Findings), analysis.Finding{Code: text, Severity: text, Summary: text, Evidence: text, Cure: text})
	in.Verdict.Reasons = slices.Clone(in.Verdict.Reasons)
	for i := range in.Verdict.Reasons {
		in.Verdict.Reasons[i].Message = text
	}
	in.Samples, in.Flags = text, []string{text}
	in.Analysis = &a
	in.Result = report.NewResult(in.Head, &a, in.Verdict)
	return in
}

// allowed are the elements of a page, and all attributes that any of them has.
var allowed = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`html head meta title style body header main footer section article h1 h2 h3 p ul ol li dl div dt dd
		small strong span code pre br table caption thead tbody tr th td details summary form label input select option figure figcaption script
		svg g defs pattern path circle rect line text use`) {
		allowed[name] = true
	}
	for name := range strings.FieldsSeq(`lang charset http-equiv content name id class role tabindex hidden type autocomplete spellcheck value scope
		aria-label aria-labelledby aria-hidden aria-orientation focusable data-owner width height x y x1 x2 y1 y2 dy r d href overflow viewbox
		preserveaspectratio patternunits patterntransform text-anchor`) {
		allowed["@"+name] = true
	}
}

// complaints is what is wrong with a page whatever is said in it, as a browser's
// parser reads it.
func complaints(page []byte) []string {
	var out []string
	if !utf8.Valid(page) {
		out = append(out, "it is not UTF-8")
	}
	scripts := 0
	for z := nethtml.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == nethtml.ErrorToken {
			if !errors.Is(z.Err(), io.EOF) {
				out = append(out, z.Err().Error())
			}
			break
		}
		token := z.Token()
		switch kind {
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			if !allowed[token.Data] {
				out = append(out, "there is an element "+token.Data)
			}
			if token.Data == "script" {
				scripts++
			}
			for _, a := range token.Attr {
				if !allowed["@"+a.Key] {
					out = append(out, "there is an attribute "+a.Key)
				}
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#m-") {
					out = append(out, "there is a link to "+a.Val)
				}
				out = append(out, invisible(a.Val)...)
			}
		case nethtml.CommentToken:
			out = append(out, "there is a comment")
		case nethtml.TextToken:
			out = append(out, invisible(token.Data)...)
		}
	}
	if scripts != 1 {
		out = append(out, "it has not one script")
	}
	return out
}

// invisible is what hides or turns around other text.
func invisible(text string) []string {
	for _, r := range text {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.M) {
			return []string{"it holds " + string(r)}
		}
	}
	return nil
}

// What is escaped is escaped once, in the words and in what a reader of the
// picture is told.
func TestEscapedOnce(t *testing.T) {
	const text = "a & b <c> | d"
	for _, page := range [][]byte{
		write(t, infect(scene(t, "app-platform"), text)),
		writeSum(t, several(t, func(r *report.Result) {
			r.Reasons[0].Message, r.Target.URL, r.Failures[0].Evidence = text, text, text
		})),
	} {
		if seen := textOf(t, page); !strings.Contains(seen, text) {
			t.Errorf("%q is not what is read", text)
		}
		for _, residue := range []string{"&amp;amp;", "&amp;lt;", "&amp;#"} {
			if i := bytes.Index(page, []byte(residue)); i >= 0 {
				t.Errorf("%q is in %q", residue, page[max(0, i-80):i+80])
			}
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	bases := []html.Input{scene(f, "app-platform"), scene(f, "kubernetes"), scene(f, "no-op")}
	f.Fuzz(func(t *testing.T, text string) {
		for _, base := range bases {
			page := write(t, infect(base, text))
			for _, why := range slices.Compact(complaints(page)) {
				t.Error(why)
			}
			if len(page) > mostBytes {
				t.Errorf("%d bytes, want %d at most", len(page), mostBytes)
			}
		}
	})
}

// textOf is what can be read on a page.
func textOf(t *testing.T, page []byte) string {
	t.Helper()
	var b strings.Builder
	skip := false
	for z := nethtml.NewTokenizer(bytes.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case nethtml.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case nethtml.StartTagToken, nethtml.EndTagToken:
			name, _ := z.TagName()
			if n := string(name); n == "style" || n == "script" {
				skip = kind == nethtml.StartTagToken
			}
			b.WriteByte(' ')
		case nethtml.TextToken:
			if !skip {
				b.Write(z.Text())
			}
		}
	}
}

// policyOf is the content policy of a page.
func policyOf(t *testing.T, page string) string {
	t.Helper()
	for z := nethtml.NewTokenizer(strings.NewReader(page)); ; {
		if z.Next() == nethtml.ErrorToken {
			t.Fatal("the page has no policy")
		}
		token := z.Token()
		if token.Data == "meta" && len(token.Attr) == 2 && token.Attr[0].Val == "Content-Security-Policy" {
			return token.Attr[1].Val
		}
	}
}
