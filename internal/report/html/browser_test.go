package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report/html"
)

// The page in a real browser.
func TestInChromium(t *testing.T) {
	browser := chromium(t)
	for _, s := range box.Scenes() {
		t.Run(s.Name, func(t *testing.T) { lookAt(newTab(t, browser), scene(t, s.Name)) })
	}
	t.Run("several", func(t *testing.T) { lookAtSum(newTab(t, browser)) })
	t.Run("hostile", func(t *testing.T) { resist(newTab(t, browser)) })
	t.Run("policy", func(t *testing.T) { refuse(newTab(t, browser)) })
}

// lookAt looks at the report of a demo scene on all screens, and on paper.
func lookAt(b *tab, in html.Input) {
	failures := len(in.Analysis.Failures) > 0
	b.load(write(b.t, in))
	b.fine("light", "structure()", "colour()", "layout()", "contrast()")
	b.names(100)
	if stops := b.keyboard(); failures != slices.Contains(stops, "Failures") {
		b.t.Errorf("stops in the picture: %q, want one for failures: %v", stops, failures)
	}
	if failures {
		b.hover("cw-", "lane ")
		b.filter(in)
	}
	light := ask[string](b, "ground()")
	b.theme("dark")
	b.fine("dark", "contrast()")
	if dark := ask[string](b, "ground()"); dark == light {
		b.t.Errorf("the ground is %s in the dark too", dark)
	}
	b.size(390)
	b.fine("390 wide, dark", "layout()", "contrast()")
	b.theme("light")
	b.fine("390 wide", "layout()", "contrast()")
	b.print(light)
	b.quiet()
}

// lookAtSum looks at the page of several results likewise.
func lookAtSum(b *tab) {
	b.load(writeSum(b.t, several(b.t)))
	b.fine("light", `structure("Side by side")`, "layout()", "contrast()")
	b.names(20)
	want := []string{"Cutover of app-platform", "Failures of app-platform", "Cutover of kubernetes", "Failures of kubernetes", "Cutover of gap", "Failures of gap"}
	if stops := b.keyboard(); !slices.Equal(stops, want) {
		b.t.Errorf("stops in the picture: %q, want %q", stops, want)
	}
	b.hover("failure", "the deploy's")
	b.theme("dark")
	b.fine("dark", "contrast()")
	b.size(390)
	b.fine("390 wide, dark", "layout()", "contrast()")
	b.theme("light")
	light := ask[string](b, "ground()")
	b.fine("390 wide", "layout()", "contrast()")
	b.print(light)
	b.quiet()
}

// names checks that all that can be reached, so much at least, has a role and a name.
func (b *tab) names(least int) {
	b.t.Helper()
	tree := call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	reached := 0
	for _, n := range tree.Nodes {
		focusable := false
		for _, p := range n.Properties {
			focusable = focusable || p.Name == accessibility.PropertyNameFocusable && string(p.Value.Value) == "true"
		}
		if !focusable || n.Ignored {
			continue
		}
		reached++
		role, name := word(n.Role), word(n.Name)
		if role == "" || role == "generic" || role == "none" || strings.TrimSpace(name) == "" {
			b.t.Errorf("something that can be reached has the role %q and the name %q", role, name)
		}
	}
	if reached < least {
		b.t.Errorf("%d things can be reached, want the page's parts and the picture's", reached)
	}
}

// word is the text of a value of the accessibility tree.
func word(v *accessibility.Value) string {
	var text string
	if v == nil || json.Unmarshal(v.Value, &text) != nil {
		return ""
	}
	return text
}

type active struct {
	Place           int
	Top             float64
	List, Name, Tip string
}

// keyboard goes through the page by Tab: in the order in which it is read, with
// one stop a row of the picture, in which the arrows go on. It tells those stops.
func (b *tab) keyboard() (stops []string) {
	b.t.Helper()
	last := active{Place: -1, Top: -1}
	for range 60 {
		b.key(kb.Tab)
		now := ask[*active](b, "active()")
		if now == nil {
			break
		}
		if now.Place <= last.Place || now.Top < last.Top-1 {
			b.t.Errorf("%q comes behind %q, yet stands before it", now.Name, last.Name)
			break
		}
		last = *now
		if now.List == "" {
			continue
		}
		stops = append(stops, now.List)
		if now.Tip == "" || now.Tip != now.Name {
			b.t.Errorf("the keyboard is on %q and the page shows %q", now.Name, now.Tip)
		}
		if strings.HasPrefix(now.List, "Failures") {
			b.arrows(*now)
		}
	}
	if len(stops) < 2 || strings.Join(stops, "") != strings.Join(slices.Compact(slices.Clone(stops)), "") {
		b.t.Errorf("stops in the picture: %q, want one for each of its rows", stops)
	}
	return stops
}

// arrows goes along a row, to its end and back to where it began.
func (b *tab) arrows(first active) {
	b.t.Helper()
	b.key(kb.End)
	end := ask[active](b, "active()")
	b.key(kb.ArrowLeft)
	before := ask[active](b, "active()")
	b.key(kb.Home)
	home := ask[active](b, "active()")
	if end.Tip != end.Name || before.Place > end.Place || home.Name != first.Name {
		b.t.Errorf("from %q End goes to %q, left of it is %q, and Home goes to %q", first.Name, end.Name, before.Name, home.Name)
	}
	b.key(kb.Escape)
	if tip := ask[string](b, "tip()"); tip != "" {
		b.t.Errorf("Escape leaves %q", tip)
	}
}

// hover points at a failure, of which some words are known, and away from it.
func (b *tab) hover(words ...string) {
	b.t.Helper()
	mark := ask[*struct {
		X, Y float64
		Name string
	}](b, "mark()")
	if mark == nil {
		b.t.Error("there is no mark of a failure")
		return
	}
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, mark.X, mark.Y))
	tip := ask[string](b, "tip()")
	if tip == "" || tip != mark.Name {
		b.t.Errorf("on a mark the page shows %q, want its request: %q", tip, mark.Name)
	}
	for _, w := range words {
		if !strings.Contains(tip, w) {
			b.t.Errorf("on a mark the page shows %q, without %q", tip, w)
		}
	}
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, 2, 2))
	if tip := ask[string](b, "tip()"); tip != "" {
		b.t.Errorf("beside the picture the page shows %q", tip)
	}
}

type filtered struct {
	Shown        string
	Rows, Owners []string
}

// filter narrows the table down to one request, to one owner, and not at all.
func (b *tab) filter(in html.Input) {
	b.t.Helper()
	all := ask[filtered](b, `filter("", "")`)
	if len(all.Rows) != len(in.Analysis.Failures) || !strings.HasPrefix(all.Shown, format.Count(len(all.Rows))+" failure") {
		b.t.Errorf("%d rows and %q, want all %d failures", len(all.Rows), all.Shown, len(in.Analysis.Failures))
	}
	id := all.Rows[len(all.Rows)/2]
	if one := ask[filtered](b, fmt.Sprintf(`filter(%q, "")`, strings.ToUpper(id))); len(one.Rows) == 0 || len(one.Rows) > len(all.Rows)/2+1 || !slices.Contains(one.Rows, id) {
		b.t.Errorf("of %d rows %d hold %s", len(all.Rows), len(one.Rows), id)
	}
	for _, owner := range all.Owners {
		of := ask[filtered](b, fmt.Sprintf(`filter("", %q)`, owner))
		want := 0
		for _, f := range in.Analysis.Failures {
			if f.Attribution == owner {
				want++
			}
		}
		if len(of.Rows) != want || !slices.Equal(of.Owners, []string{owner}) || !strings.HasPrefix(of.Shown, format.Count(want)+" of ") {
			b.t.Errorf("%d rows of %q and %q, want %d of %s", len(of.Rows), of.Owners, of.Shown, want, owner)
		}
	}
	if none := ask[filtered](b, `filter("no such text", "")`); len(none.Rows) != 0 || !strings.HasPrefix(none.Shown, "0 of ") {
		b.t.Errorf("%d rows hold what none holds, and %q", len(none.Rows), none.Shown)
	}
	ask[filtered](b, `filter("", "")`)
}

// print looks at the page as paper, which is light whatever the screen is.
func (b *tab) print(light string) {
	b.t.Helper()
	b.media("print", "dark")
	b.fine("on paper", "printed()")
	if ground := ask[string](b, "ground()"); ground != light {
		b.t.Errorf("paper is %s, want %s", ground, light)
	}
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 10_000 {
		b.t.Errorf("printing gives %d bytes, %v", len(pdf), err)
	}
	b.theme("light")
}

// resist: whatever a service says, none of it runs, and nothing is fetched for it.
func resist(b *tab) {
	var fetched atomic.Int64
	lure := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer lure.Close()
	in := scene(b.t, "kubernetes")
	for _, text := range []string{
		`"><img src="URL/a" onerror="fetch('URL/b')"><script>alert(1)</script>`, `' onmouseover='alert(1)' onfocus='alert(1)`,
		`</style><link rel=stylesheet href="URL/c"><meta http-equiv=refresh content="0;url=URL/d">`, `</title><svg onload=alert(1)>`,
		`</script><script>location="URL/e"</script>`, `url(URL/f)`, `javascript:alert(1)`, "`${alert(1)}`{{.}}<!--", "\u202Eevil\u2066\n\xff", strings.Repeat("x", 10_000),
	} {
		text = strings.ReplaceAll(text, "URL", lure.URL)
		for _, page := range [][]byte{write(b.t, infect(in, text)), writeSum(b.t, infectSum(b.t, text))} {
			b.load(page)
			b.hover()
			b.size(390)
			b.fine("390 wide", "layout()")
			b.quiet()
		}
	}
	if n := fetched.Load(); n != 0 {
		b.t.Errorf("%d requests left the pages", n)
	}
}

// refuse: what is not the page's own does not run, even where it got into it.
func refuse(b *tab) {
	const foreign = `<script>document.title = "taken"</script><p id="p" onclick="document.title = 'taken'">p</p></main>`
	b.load(bytes.Replace(write(b.t, scene(b.t, "no-op")), []byte("</main>"), []byte(foreign), 1))
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("p").click()`))
	title, err := chromedp.Run(b.ctx, chromedp.Title())
	if err != nil || title == "taken" || title == "" {
		b.t.Errorf("title %q, %v: a script that is not the page's ran", title, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.troubles) == 0 {
		b.t.Error("the browser refused nothing")
	}
}
