package markdown_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/report/markdown"
	"github.com/cutwatch/cutwatch/internal/run"
)

var update = flag.Bool("update", false, "write the goldens in testdata anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs, - want + got:\n%s", name, diff)
	}
}

const jobURL = "https://github.example/shop/web/actions/runs/17/job/42"

// recorded is a judged recording, as input.
func recorded(t testing.TB, name string) markdown.Input {
	t.Helper()
	o, err := run.Judge(filepath.Join("..", "..", "..", "testdata", "recorded", name+".ndjson.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return markdown.Input{
		Head: o.Head, Result: o.Result, Analysis: o.Analysis, JobURL: jobURL, Report: "cutwatch-report/report.html",
	}
}

// shown are the recordings whose reports are kept in testdata.
var shown = []string{
	"restart-with-drops",         // cut at old's stop; by instance
	"k01-refused-burst",          // new connections to what had stopped
	"k02-replaced-with-prestop",  // a pass
	"k10-gap-half-a-second",      // nobody answered
	"k30-burst-above-noise",      // failures of two owners
	"k16-rolled-back-with-drops", // back to old
	"k34-nothing-changed",        // no cutover
}
