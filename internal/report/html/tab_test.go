package html_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/audit.js
var audit string

// tab is a page in a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	address  string
	troubles []string // on the console, and requests that left the page
}

// chromium starts the browser.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const why = "Chromium is not installed"
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s, and CI must not leave this test out", why)
		}
		t.Skip(why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(chromedp.ExecPath(path), chromedp.NoSandbox))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("Chromium cannot be started: %v", err)
	}
	return ctx
}

// newTab opens a tab.
func newTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// load shows a page, on a wide screen in the light.
func (b *tab) load(content []byte) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.address = (&url.URL{Scheme: "file", Path: path}).String()
	b.mu.Unlock()
	b.size(1280)
	b.theme("light")
	b.do(chromedp.Navigate(b.address))
}

// note keeps what must not happen on a page.
func (b *tab) note(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	trouble := ""
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		trouble = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		trouble = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		trouble = fmt.Sprintf("log: %s", e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		trouble = "a dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if e.Request.URL != b.address {
			trouble = "a request to " + e.Request.URL
		}
	}
	if trouble != "" {
		b.troubles = append(b.troubles, trouble)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// ask calls a function of audit.js in the page.
func ask[T any](b *tab, call string) T {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("JSON.stringify(("+audit+")."+call+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", call, err)
	}
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		b.t.Fatalf("%s: %v in %s", call, err, text)
	}
	return out
}

// fine reports the complaints of functions of audit.js.
func (b *tab) fine(where string, calls ...string) {
	b.t.Helper()
	for _, call := range calls {
		for _, why := range ask[[]string](b, call) {
			b.t.Errorf("%s, %s: %s", where, call, why)
		}
	}
}

func (b *tab) size(width int64) { b.t.Helper(); b.do(chromedp.EmulateViewport(width, 900)) }

// theme is "light" or "dark", on a screen.
func (b *tab) theme(scheme string) { b.t.Helper(); b.media("screen", scheme) }

func (b *tab) key(k string) { b.t.Helper(); b.do(chromedp.KeyEvent(k)) }

func (b *tab) media(kind, scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	out, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// quiet reports what must not have happened.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, why := range b.troubles {
		b.t.Error(why)
	}
}
