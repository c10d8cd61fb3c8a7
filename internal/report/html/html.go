// Package html writes a judgement as one page that opens anywhere: no network,
// no file beside it, light and dark, for eyes, keyboards and screen readers, on
// a screen and on paper.
//
// Its centre is the cutover picture, drawn from [report.Timeline] like the
// pictures in text. Everything in it that can be pointed at carries its words
// in its accessible name, and the script shows that name: what is heard and what
// is read are the same. Everything it shows is in tables below it too.
//
// What the probed service said is untrusted. It goes through package format,
// which shows what would hide or reorder text, and then through html/template.
// The page's content policy lets nothing run but our own script, by its hash,
// and lets nothing be fetched at all.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// Input is a judged run.
type Input struct {
	Head     sample.Run
	Analysis *analysis.Analysis
	Verdict  verdict.Verdict
	Result   *report.Result
	// Samples is the file to judge again, as seen from the page's folder.
	Samples string
	// Flags are those that changed the run's own policy, "--name=value" each.
	Flags []string
}

//go:embed style.css
var style string

//go:embed script.js
var script string

//go:embed page.gohtml
var pageText string

//go:embed picture.gohtml
var pictureText string

// pages is the page, and within it "picture".
var pages = template.Must(template.Must(template.New("page").Parse(pageText)).New("picture").Parse(pictureText))

// Write writes the page; the same run gives the same bytes, well under 2 MB.
// Its error is the writer's.
func Write(w io.Writer, in Input) error {
	return lay(w, pages.Lookup("page"), newPage(in))
}

// lay writes a page whole or, where it cannot be laid out, not at all.
func lay(w io.Writer, t *template.Template, page any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return fmt.Errorf("laying out the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// policy forbids everything but the page's own style and script.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
