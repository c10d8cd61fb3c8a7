package sample_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// Every field of every kind is in the package's documentation, in the order of
// the struct, and nothing else is.
func TestDocumentationListsEveryField(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	field := regexp.MustCompile(`(?m)^//\t([a-z_]+) +\S`)
	for kind, v := range map[string]any{
		"The file": sample.Line{}, "run": sample.Run{}, "sample": sample.Sample{}, "skip": sample.Skip{},
		"follow_up": sample.FollowUp{}, "signal": sample.Signal{}, "platform": sample.Platform{}, "end": sample.End{},
	} {
		_, section, found := strings.Cut(string(text), "// # "+kind+"\n")
		if !found {
			t.Errorf("no section %q", kind)
			continue
		}
		section, _, _ = strings.Cut(section, "// # ")
		var got []string
		for _, match := range field.FindAllStringSubmatch(section, -1) {
			got = append(got, match[1])
		}
		if want := jsonNames(v); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s\ndocumented %v\nrecorded   %v", kind, got, want)
		}
	}
}
