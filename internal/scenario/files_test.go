package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/audit"
	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// Every failure kind that HTTP/1.1 can show has a scenario, named after it, and
// every twin is there.
func TestEveryKindHasAScenario(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(scenarios, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	kinds, names, twins := map[string]int{}, map[string]bool{}, map[string]string{}
	for _, path := range paths {
		s, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds[s.Kind]++
		names[s.Name] = true
		if !strings.HasPrefix(s.Name, strings.ToLower(s.Kind)) {
			t.Errorf("%s is of kind %s", s.Name, s.Kind)
		}
		if s.Twin != "" {
			twins[s.Name] = s.Twin
		}
	}
	http2 := []int{19, 20, 21} // and WebSockets, and uploads
	for n := 1; n <= 35; n++ {
		if kind := fmt.Sprintf("K%02d", n); kinds[kind] == 0 && !slices.Contains(http2, n) {
			t.Errorf("no scenario of kind %s", kind)
		}
	}
	for name, twin := range twins {
		if !names[twin] || twin == name {
			t.Errorf("the twin of %s is %q", name, twin)
		}
	}
}

func TestLoadIsStrict(t *testing.T) {
	const good = `{"kind": "K01", "title": "a", "expect": {"verdict": "pass", "reason": "zero-drop"}}`
	for _, c := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"a field that is not known", strings.Replace(good, `"title"`, `"tilte": "", "title"`, 1), "tilte"},
		{"a knob that is not known", strings.Replace(good, `"expect"`, `"scene": {"instance": 2}, "expect"`, 1), "instance"},
		{"a scene that is not valid", strings.Replace(good, `"expect"`, `"scene": {"instances": 0}, "expect"`, 1), "instances must be"},
		{"a fault that is not valid", strings.Replace(good, `"expect"`, `"faults": [{"kind": "flood", "owner": "", "at": "start"}], "expect"`, 1), "no such kind"},
		{"a fault of nobody", strings.Replace(good, `"expect"`, `"faults": [{"kind": "reset", "owner": "me", "at": "start"}], "expect"`, 1), `no owner "me"`},
		{"no verdict", strings.Replace(good, "pass", "", 1), "must be given"},
		{"an amount of an unknown owner", strings.Replace(good, `{"verdict"`, `{"failures": {"me": 1}, "verdict"`, 1), `no owner "me"`},
		{"no amount", strings.Replace(good, `{"verdict"`, `{"failures": {"deploy": "many"}, "verdict"`, 1), "expected \"some\""},
	} {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want bool
	}{{`"some"`, 1, true}, {`"some"`, 0, false}, {`"none"`, 0, true}, {`"none"`, 1, false}, {`2`, 2, true}, {`2`, 3, false}, {`0`, 0, true}} {
		var a Amount
		if err := json.Unmarshal([]byte(c.text), &a); err != nil {
			t.Fatal(err)
		}
		if a.Holds(c.n) != c.want {
			t.Errorf("%s holds for %d: %v", c.text, c.n, !c.want)
		}
	}
}

func TestTable(t *testing.T) {
	rows := []*Row{
		{Name: "b", Kind: "K02", Verdict: "pass", Reason: "zero-drop", Truth: 3, Match: audit.Match{Missed: []string{"one"}, Misattributed: []string{"two", "three"}}, Off: []string{"four"}},
		{Name: "a", Kind: "K01", Verdict: "fail", Reason: "deploy-failures", Truth: 4, Failures: map[string]int{"deploy": 4}},
	}
	var b strings.Builder
	if err := WriteTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if last := lines[len(lines)-1]; last != "missed 1, invented 0, misattributed 2 of 7 failures in 2 scenarios" {
		t.Errorf("the last line is %q", last)
	}
	if !strings.HasPrefix(lines[1], "a  ") || strings.Contains(lines[1], "NOT") || !strings.Contains(lines[2], "NOT AS IT MUST BE") {
		t.Errorf("rows %q", lines[1:3])
	}
	for _, text := range []string{"one", "two", "three", "four"} {
		if !strings.Contains(b.String(), "    "+text+"\n") {
			t.Errorf("%q is not told", text)
		}
	}
}

// told is a source that tells one phase at once.
type told struct{ deploy.Source }

func (told) Run(_ context.Context, emit deploy.Emit) error {
	emit(sample.Signal{Kind: sample.SignalPhase, Name: "BUILDING"})
	return nil
}

// A clock that is off is found out by the Date header, and the signal is where
// it belongs, to within the second that the header leaves open.
func TestSkewedClock(t *testing.T) {
	for _, ahead := range []time.Duration{0, 90 * time.Second, -17 * time.Minute} {
		start := time.Now().Add(-10 * time.Second)
		s := &skewed{Source: told{}, start: start, ahead: ahead}
		var got sample.Signal
		if err := s.Run(t.Context(), func(g sample.Signal) { got = g }); err != nil {
			t.Fatal(err)
		}
		if off := time.Duration(got.Offset) - ahead; off.Abs() > time.Second {
			t.Errorf("ahead by %v: found %v", ahead, time.Duration(got.Offset))
		}
		if off := time.Duration(got.At) - 10*time.Second; off.Abs() > 2*time.Second {
			t.Errorf("ahead by %v: the signal is at %v", ahead, time.Duration(got.At))
		}
	}
}
