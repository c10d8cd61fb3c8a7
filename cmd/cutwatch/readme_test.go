package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/host"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inputs are the action's inputs with their defaults, as they are documented.
func inputs() []string {
	var out []string
	for _, in := range host.Inputs() {
		if in.Default == "" && in.Bool {
			in.Default = "false"
		}
		out = append(out, in.Name+" = "+in.Default)
	}
	return out
}

// The README's table of inputs has the inputs that there are, with their defaults.
func TestReadmeListsTheInputs(t *testing.T) {
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:`([^`]*)`|–) \\| [^|]+ \\|$").FindAllStringSubmatch(readText(t, "../../README.md"), -1) {
		got = append(got, row[1]+" = "+row[2])
	}
	if diff := cmp.Diff(inputs(), got); diff != "" {
		t.Errorf("README.md's inputs (-program +README):\n%s", diff)
	}
}

// The README's table of outputs has the outputs that there are.
func TestReadmeListsTheOutputs(t *testing.T) {
	_, text, _ := strings.Cut(readText(t, "../../README.md"), "\n## Outputs\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(text, -1) {
		got = append(got, row[1])
	}
	if diff := cmp.Diff(host.Outputs(), got); diff != "" {
		t.Errorf("README.md's outputs (-program +README):\n%s", diff)
	}
}

// yamlKey is a key of action.yml two or four columns in, and what is behind it.
var yamlKey = regexp.MustCompile(`^(  |    )([a-z0-9-]+):(?: (.*))?$`)

// section are the entries of one of action.yml's maps of maps: for each its
// name, its default and whether it has a description.
func section(text, name string) (names []string, described map[string]bool, defaults map[string]string) {
	described, defaults = map[string]bool{}, map[string]string{}
	_, text, _ = strings.Cut(text, "\n"+name+":\n")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' {
			break
		}
		key := yamlKey.FindStringSubmatch(line)
		switch {
		case key == nil:
		case key[1] == "  ":
			names = append(names, key[2])
		case key[2] == "description":
			described[names[len(names)-1]] = true
		case key[2] == "default":
			defaults[names[len(names)-1]] = strings.Trim(key[3], `"`)
		}
	}
	return names, described, defaults
}

func TestActionHasTheInputs(t *testing.T) {
	names, described, defaults := section(readText(t, "../../action.yml"), "inputs")
	var got []string
	for _, name := range names {
		got = append(got, name+" = "+defaults[name])
		if !described[name] {
			t.Errorf("action.yml: the input %s has no description", name)
		}
	}
	if diff := cmp.Diff(inputs(), got); diff != "" {
		t.Errorf("action.yml's inputs (-program +action.yml):\n%s", diff)
	}
}

func TestActionHasTheOutputs(t *testing.T) {
	names, described, _ := section(readText(t, "../../action.yml"), "outputs")
	var want []string
	for _, o := range host.Outputs() {
		want = append(want, o)
		if !described[o] {
			t.Errorf("action.yml: the output %s has no description", o)
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("action.yml's outputs (-program +action.yml):\n%s", diff)
	}
}

// A runner takes an expression in a description for a mistake and refuses the action.
func TestActionHasNoExpressionInADescription(t *testing.T) {
	for line := range strings.Lines(readText(t, "../../action.yml")) {
		if strings.Contains(line, "${{") && !strings.Contains(line, "default:") {
			t.Errorf("action.yml: an expression stands in %q", line)
		}
	}
}

// Every input is a flag of the commands that can do something with it.
func TestFlagsAreInputs(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Vars{"version": Version})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, in := range config.Inputs() {
		all = append(all, in.Name)
	}
	for _, command := range parser.Model.Children {
		want, checked := map[string][]string{
			"run": append(append([]string{}, all...), "json"), "start": all,
			"finish": append([]string{"id", host.OutcomeInput, "json"}, policyInputs()...), "ready": {"id"},
		}[command.Name]
		if !checked {
			continue
		}
		var got []string
		for _, f := range command.Flags {
			got = append(got, f.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("flags of %s (-inputs +flags):\n%s", command.Name, diff)
		}
	}
}
