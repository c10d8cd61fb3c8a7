package markdown_test

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/cutwatch/cutwatch/internal/format"
)

// gfm reads Markdown as GitHub does, and writes the HTML that is in it.
var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(render.WithUnsafe()))

func parse(doc string) ast.Node { return gfm.Parser().Parse(text.NewReader([]byte(doc))) }

// all calls f for every node on the way in.
func all(doc string, f func(ast.Node)) {
	err := ast.Walk(parse(doc), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(err) // the walker gives none
	}
}

// ownHTML is the HTML that a report may hold.
var ownHTML = regexp.MustCompile(`^(?:<!-- cutwatch:v1 key=[0-9a-f]{32} state=[A-Za-z0-9+/=]* -->|` +
	`<details><summary>[^<>]*</summary>|</details>|</?sub>|</?code>)$`)

// lure is what GitHub makes something of in text that is no code: a mention, a
// reference, an address, an emoji, a formula.
var lure = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|(?i:\bgh-[0-9])|://|(?i:\bwww\.)|:[A-Za-z_+-][A-Za-z0-9_+-]*:|\$[^ \x{200B}]`)

// untrue says what in a report is not as it has to be; "": nothing.
func untrue(doc string) string {
	src := []byte(doc)
	var why []string
	open := 0
	all(doc, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			block := strings.TrimSpace(string(n.Lines().Value(src)))
			if n.HasClosure() {
				block = strings.TrimSpace(block + string(n.ClosureLine.Value(src)))
			}
			if !ownHTML.MatchString(block) {
				why = append(why, fmt.Sprintf("HTML %q", block))
			}
			open += strings.Count(block, "<details>") - strings.Count(block, "</details>")
			if open < 0 {
				why = append(why, "a tag is closed that was not open")
			}
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(src)); !ownHTML.MatchString(tag) {
				why = append(why, fmt.Sprintf("tag %q", tag))
			}
		case *ast.Link:
			if to := string(n.Destination); to != jobURL {
				why = append(why, fmt.Sprintf("a link to %q", to))
			}
		case *ast.AutoLink, *ast.Image:
			why = append(why, fmt.Sprintf("a node %s", n.Kind()))
		case *ast.FencedCodeBlock:
			if lang := string(n.Language(src)); lang == "mermaid" {
				if _, err := readGantt(string(n.Lines().Value(src))); err != nil {
					why = append(why, err.Error())
				}
			}
		}
	})
	if open != 0 {
		why = append(why, fmt.Sprintf("%d tags stay open", open))
	}
	if found := lure.FindString(visible(doc)); found != "" {
		why = append(why, fmt.Sprintf("%q is in the text", found))
	}
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			why = append(why, fmt.Sprintf("%q is a command to a runner that prints it", line))
		}
	}
	return strings.Join(why, "; ")
}

var (
	codes = regexp.MustCompile(`(?s)<pre>.*?</pre>|<code>.*?</code>|<!--.*?-->`)
	tags  = regexp.MustCompile(`<[^<>]*>`)
)

// visible is the text that a reader sees, but for what is code.
func visible(doc string) string { return words(codes.ReplaceAllString(converted(doc), "")) }

// read is all the text that a reader sees.
func read(doc string) string { return words(converted(doc)) }

func converted(doc string) string {
	var b bytes.Buffer
	if err := gfm.Convert([]byte(doc), &b); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}

func words(page string) string { return html.UnescapeString(tags.ReplaceAllString(page, "")) }

// skeleton is the shape of a report: its blocks, cells and links, without words.
func skeleton(doc string) string {
	var b strings.Builder
	all(doc, func(n ast.Node) {
		switch n.Kind() {
		case ast.KindText, ast.KindString, ast.KindCodeSpan:
			return
		}
		depth := 0
		for p := n.Parent(); p != nil; p = p.Parent() {
			depth++
		}
		fmt.Fprintf(&b, "%*s%s\n", depth, "", n.Kind())
	})
	return b.String()
}

// chart is what a reader of mermaid's gantt charts makes of one.
type chart struct {
	sections, tasks []string
	critical        int
}

// The tokens of mermaid's gantt charts, in the order in which its lexer tries
// them, without regard to case; a newer and an older one differ in taskTxt.
var tokens = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"comment", regexp.MustCompile(`^(?i:%%[^\n]*|#[^\n]*)`)},
	{"newline", regexp.MustCompile(`^\n+`)},
	{"blank", regexp.MustCompile(`^[ \t]+`)},
	{"forbidden", regexp.MustCompile(`^(?i:acctitle\s*:|accdescr|href\s+"|call\s+|click\s+|excludes\s|includes\s|title\s|\d\d\d\d-\d\d-\d\d|topaxis|weekday|tickinterval\s|inclusiveenddates)`)},
	{"gantt", regexp.MustCompile(`^(?i:gantt)`)},
	{"setting", regexp.MustCompile(`^(?i:dateformat\s[^#\n;]+|axisformat\s[^#\n;]+|todaymarker\s[^\n;]+)`)},
	{"section", regexp.MustCompile(`^(?i:section\s[^:\n]+)`)},
	{"name", regexp.MustCompile(`^[^#:\n;]+`)},
	{"data", regexp.MustCompile(`^:[^#\n;]+`)},
}

// data of a task: tags, its beginning and its end.
var data = regexp.MustCompile(`^:((?:(?:crit|done|active|milestone), )*)(2000-01-\d\d \d\d:\d\d:\d\d\.\d{3}), (2000-01-\d\d \d\d:\d\d:\d\d\.\d{3})$`)

// readGantt reads a chart as mermaid does, and refuses what ours must not hold.
func readGantt(src string) (chart, error) {
	var c chart
	name := ""
	for rest := src; rest != ""; {
		token, value := next(rest)
		if token == "" {
			return c, fmt.Errorf("mermaid cannot read %q", rest)
		}
		rest = rest[len(value):]
		switch token {
		case "newline", "blank", "gantt", "setting":
		case "section":
			c.sections = append(c.sections, value)
		case "name":
			name = value
		case "data":
			m := data.FindStringSubmatch(value)
			if m == nil || name == "" || m[2] >= m[3] {
				return c, fmt.Errorf("a task %q with the data %q", name, value)
			}
			if strings.Contains(m[1], "crit") {
				c.critical++
			}
			c.tasks = append(c.tasks, strings.TrimSpace(name))
			name = ""
			continue
		default:
			return c, fmt.Errorf("mermaid takes %q for a %s", value, token)
		}
		if name != "" && token != "name" {
			return c, fmt.Errorf("the task %q has no data", name)
		}
	}
	if strings.ContainsAny(settings.ReplaceAllString(src, ""), "<>&\"`{}|\\%;#") {
		return c, fmt.Errorf("a character that can mean something is in %q", src)
	}
	if clean := format.Clean(strings.ReplaceAll(src, "\n", ""), 0); clean != strings.ReplaceAll(src, "\n", "") {
		return c, fmt.Errorf("the chart is not clean: %q", src)
	}
	return c, nil
}

var settings = regexp.MustCompile(`(?m)^  axisFormat .*$`)

func next(rest string) (token, value string) {
	for _, t := range tokens {
		if m := t.pattern.FindString(rest); m != "" {
			return t.name, m
		}
	}
	return "", ""
}

func (c chart) has(task string) bool {
	return slices.ContainsFunc(c.tasks, func(t string) bool { return strings.Contains(t, task) })
}
