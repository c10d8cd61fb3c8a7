package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What action.yml says of the containers; [TestActionFile] holds it to that.
const postEntry = "/usr/local/bin/cutwatch-post"

var actionArguments = []string{"action"}

// actionDefaults are the inputs of action.yml with their defaults, "" where there
// is none. An expression is the runner's to evaluate, and is "" here.
func actionDefaults(t *testing.T) map[string]string {
	t.Helper()
	inputs := map[string]string{}
	name := ""
	for _, line := range section(t, "inputs") {
		if m := regexp.MustCompile(`^  ([a-z-]+):$`).FindStringSubmatch(line); m != nil {
			name = m[1]
			inputs[name] = ""
		}
		if m := regexp.MustCompile(`^    default: *(.*)$`).FindStringSubmatch(line); m != nil {
			inputs[name] = strings.Trim(m[1], `'"`)
			if strings.Contains(m[1], "${{") {
				inputs[name] = ""
			}
		}
	}
	if _, ok := inputs["url"]; !ok {
		t.Fatalf("no input url was found in action.yml, only %v", inputs)
	}
	return inputs
}

// section is the lines of a top-level key of action.yml.
func section(t *testing.T, key string) []string {
	t.Helper()
	text, err := os.ReadFile(root + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' && line[0] != '#' {
			inside = strings.HasPrefix(line, key+":")
			continue
		}
		if inside {
			lines = append(lines, line)
		}
	}
	return lines
}

// The runner of these tests launches what action.yml says.
func TestActionFile(t *testing.T) {
	runs := strings.Join(section(t, "runs"), "\n")
	for _, want := range []string{
		`(?m)^  using: ['"]?docker['"]?$`,
		`(?m)^  image: ['"]?Dockerfile['"]?$`,
		`(?m)^  entrypoint: ['"]?/usr/local/bin/cutwatch['"]?$`,
		`(?m)^  post-entrypoint: ['"]?` + postEntry + `['"]?$`,
		`(?m)^  args:\s*(\[['"]?action['"]?\]|\n\s*- ['"]?action['"]?)$`,
	} {
		if !regexp.MustCompile(want).MatchString(runs) {
			t.Errorf("runs of action.yml does not match %s:\n%s", want, runs)
		}
	}
}
