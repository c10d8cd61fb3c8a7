package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// readCommands reads a runner's file of commands: "name=value" lines, and values
// of several lines between delimiters, "name<<DELIMITER".
func readCommands(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values, err := parseCommands(string(data))
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, data)
	}
	return values
}

func parseCommands(text string) (map[string]string, error) {
	values := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		name, delimiter, block := strings.Cut(lines[i], "<<")
		if before, value, plain := strings.Cut(lines[i], "="); plain && (!block || len(before) < len(name)) {
			values[before] = value
			continue
		}
		if !block {
			return nil, fmt.Errorf("line %d is no command", i+1)
		}
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		if i == len(lines) {
			return nil, fmt.Errorf("the value of %s does not end", name)
		}
		values[name] = strings.Join(value, "\n")
	}
	return values, nil
}

func TestCommandsAreReadAsARunnerDoes(t *testing.T) {
	got, err := parseCommands("a=1\nb<<X\ntwo\nlines=2\nX\nc=<<\n")
	if err != nil || len(got) != 3 || got["a"] != "1" || got["b"] != "two\nlines=2" || got["c"] != "<<" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := parseCommands("b<<X\ntwo\n"); err == nil {
		t.Error("a value without an end was taken")
	}
	if _, err := parseCommands("nonsense\n"); err == nil {
		t.Error("a line that is no command was taken")
	}
}
