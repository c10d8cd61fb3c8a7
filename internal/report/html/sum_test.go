package html_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/report/html"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

// several is the sum of three recorded scenes.
func several(t testing.TB, change ...func(*report.Result)) html.SumInput {
	t.Helper()
	in := html.SumInput{}
	var parts []report.Part
	for _, name := range []string{"app-platform", "kubernetes", "gap"} {
		r := scene(t, name).Result
		for _, c := range change {
			c(r)
		}
		parts = append(parts, report.Part{Name: name, Result: r})
		in.Parts = append(in.Parts, html.Part{Part: parts[len(parts)-1], Page: name + "/report.html", Samples: name + "/samples.ndjson.zst"})
	}
	in.Result = report.Sum(parts)
	in.Verdict = verdict.Verdict{Verdict: in.Result.Verdict}
	for _, r := range in.Result.Reasons {
		in.Verdict.Reasons = append(in.Verdict.Reasons, verdict.Reason(r))
	}
	return in
}

// infectSum is several whose texts and names came from outside.
func infectSum(t testing.TB, text string) html.SumInput {
	t.Helper()
	in := several(t, func(r *report.Result) {
		r.Target.URL, r.Reasons[0].Message = text, text
		for i := range r.Failures {
			f := &r.Failures[i]
			f.Evidence, f.Class, f.Attribution, f.Lane, f.Reason = text, text, text, text, text
		}
		for i := range r.Diagnosis {
			f := &r.Diagnosis[i]
			f.Summary, f.Evidence, f.Cure, f.Severity, f.Code = text, text, text, text, text
		}
	})
	for i := range in.Parts {
		in.Parts[i].Name = text
	}
	return in
}

func writeSum(t testing.TB, in html.SumInput) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := html.WriteSum(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The page of several says what each says, leads to it, and is the same twice.
func TestSumPage(t *testing.T) {
	in := several(t)
	page := writeSum(t, in)
	if !bytes.Equal(page, writeSum(t, in)) {
		t.Error("the same results give another page")
	}
	text := textOf(t, page)
	wants := []string{"FAIL", "0 of 3", "cutwatch analyze kubernetes/samples.ndjson.zst", "5.4 s apart"}
	for _, p := range in.Parts {
		wants = append(wants, p.Name, p.Result.Reasons[0].Message)
		for _, row := range report.MergedRows([]report.Part{p.Part})[1:] {
			wants = append(wants, row[4], row[5])
		}
		if !bytes.Contains(page, []byte(`href="`+p.Page+`"`)) {
			t.Errorf("nothing leads to %s", p.Page)
		}
	}
	for _, f := range in.Result.Diagnosis {
		wants = append(wants, f.Summary, f.Cure)
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// In a series the control period is no deploy that passed or failed.
func TestSeriesPage(t *testing.T) {
	in := several(t)
	r := *in.Result
	r.Control, r.Runs = in.Parts[0].Result, []*report.Result{in.Parts[1].Result, in.Parts[2].Result}
	in.Result = &r
	for i, name := range []string{"control", "deploy 1", "deploy 2"} {
		in.Parts[i].Name = name
	}
	page := writeSum(t, in)
	text := textOf(t, page)
	for _, want := range []string{"0 of 2", "deploy 2: fail", "Nothing was deployed in it"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "control: ") {
		t.Error("the control period is drawn as a deploy")
	}
}

// Where no cutover was seen there is no picture, and the page holds all the same.
func TestSumPageWithoutACutover(t *testing.T) {
	page := writeSum(t, several(t, func(r *report.Result) { r.Cutover = nil }))
	if bytes.Contains(page, []byte(`id="picture"`)) || !bytes.Contains(page, []byte("Side by side")) {
		t.Error("want the table and no picture")
	}
}

// However much failed in however many, the page stays within its limit, and says
// what it does not draw.
func TestSumPageStaysSmall(t *testing.T) {
	in := several(t, func(r *report.Result) {
		one := r.Failures[0]
		one.Evidence = strings.Repeat("<&>", 1000)
		r.Failures = nil
		for i := range 1000 {
			one.EndedMS = r.Cutover.StartMS + float64(i)
			one.Reason = fmt.Sprint("reason-", i)
			r.Failures = append(r.Failures, one)
		}
	})
	for i := range 97 {
		in.Parts = append(in.Parts, in.Parts[i%3])
	}
	page := writeSum(t, in)
	if len(page) > mostBytes {
		t.Errorf("%d bytes, want %d at most", len(page), mostBytes)
	}
	if !strings.Contains(textOf(t, page), "1,000 failures not drawn here") {
		t.Error("nothing says that failures are left out of the picture")
	}
}

// What the service said is text in this page too.
func TestSumPageTakesNothingForMarkup(t *testing.T) {
	const evil = `"><script>alert(1)</script>`
	page := writeSum(t, infectSum(t, evil))
	if n := bytes.Count(page, []byte("<script")); n != 1 {
		t.Errorf("%d scripts, want our own alone", n)
	}
	if !strings.Contains(textOf(t, page), evil) {
		t.Error("the text is lost")
	}
}
