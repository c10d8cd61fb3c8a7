package main

import (
	"bytes"
	"strings"
	"testing"
)

// broken is a writer with a fault.
type broken struct{}

func (broken) Write([]byte) (int, error) { panic("out of paper") }

func TestAFaultOfOursSaysSo(t *testing.T) {
	var stderr bytes.Buffer
	code := realMain(t.Context(), []string{"--version"}, streams{strings.NewReader(""), broken{}, &stderr}, func(string) string { return "" })
	if code != exitFault {
		t.Errorf("exit code %d, want %d", code, exitFault)
	}
	for _, want := range []string{"a fault of Cutwatch: out of paper", "please report it", "samples", "cli_test.go"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr does not hold %q:\n%s", want, stderr.String())
		}
	}
}

func TestNoColourButOnATerminal(t *testing.T) {
	p := &program{streams{out: &bytes.Buffer{}}, func(string) string { return "" }}
	if o := p.terminalOptions(); o.Color || o.Width != 0 {
		t.Errorf("options %+v for a buffer, want no colour and no width", o)
	}
}

func TestComplaintsAreSafeToPrint(t *testing.T) {
	var out strings.Builder
	complain(&out, "one\n\x1b[31mtwo ##[error]x")
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || lines[0] != "cutwatch: one" || strings.ContainsAny(out.String(), "\x1b") || strings.Contains(lines[1], "##[") {
		t.Errorf("printed %q", out.String())
	}
}
