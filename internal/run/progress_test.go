package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// updates plays the same minute of a run to a progress: a look every 50 ms, the
// phase changing at 5 s and at 20 s.
func updates(p *progress, shared bool) {
	for now := time.Duration(0); now <= 40*sec; now += 50 * time.Millisecond {
		phase := Baseline
		switch {
		case now >= 20*sec:
			phase = Tail
		case now >= 5*sec:
			phase = Deploying
		}
		p.Update(now, phase, counts{Total: int(now / (10 * time.Millisecond)), Failed: 1}, shared)
	}
	p.Close()
}

func TestProgressElsewhere(t *testing.T) {
	want := ` 0:00.0  baseline: 0 requests, 1 failed
 0:05.0  deploying: 500 requests, 1 failed
 0:15.0  deploying: 1,500 requests, 1 failed
 0:20.0  tail: 2,000 requests, 1 failed
 0:30.0  tail: 3,000 requests, 1 failed
 0:40.0  tail: 4,000 requests, 1 failed
`
	for _, live := range []bool{false, true} {
		// On a terminal that COMMAND prints to as well, no line is rewritten.
		var out strings.Builder
		updates(newProgress(&out, live), live)
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Errorf("live %v (-want +got):\n%s", live, d)
		}
	}
}

func TestProgressLive(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, true)
	updates(p, false)
	p.Note("a note of %d words", 4)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("got %d lines, want one for each phase and the note:\n%q", len(lines), lines)
	}
	for i, want := range []string{"baseline", "deploying", "tail"} {
		rewrites := strings.Split(lines[i], clearLine)[1:]
		if len(rewrites) < 20 {
			t.Errorf("the line of %s was written %d times, want about five a second", want, len(rewrites))
		}
		for _, r := range rewrites {
			if !strings.Contains(r, want) {
				t.Errorf("line %q in phase %s", r, want)
			}
		}
	}
	if lines[3] != "cutwatch: a note of 4 words" {
		t.Errorf("note %q", lines[3])
	}
}

func TestShareOfNewIsOfTheLastSecond(t *testing.T) {
	var st stats
	add := func(at time.Duration, isNew bool) {
		st.Add(&sample.Sample{Lane: sample.Kept, Ended: int64(at), Status: 200, Version: "v"}, isNew)
	}
	if c := st.Counts(0); c.ShareNew != nil {
		t.Errorf("share %v before the first answer, want none", *c.ShareNew)
	}
	add(0, false)
	if c := st.Counts(0); c.ShareNew != nil {
		t.Errorf("share %v before new was seen, want none", *c.ShareNew)
	}
	for at := 10 * time.Millisecond; at < 3*sec; at += 10 * time.Millisecond {
		add(at, at >= 2500*time.Millisecond)
	}
	for _, tt := range []struct {
		now  time.Duration
		want float64
	}{{2990 * time.Millisecond, 0.5}, {3490 * time.Millisecond, 1}} {
		if c := st.Counts(tt.now); c.ShareNew == nil || *c.ShareNew != tt.want {
			t.Errorf("at %v: share %v, want %v", tt.now, c.ShareNew, tt.want)
		}
	}
	if c := st.Counts(10 * sec); c.ShareNew != nil {
		t.Errorf("share %v long after the last answer, want none", *c.ShareNew)
	}
}

func TestTriedTellsAddressesAndTheLastError(t *testing.T) {
	var st stats
	if got, want := st.Tried(), "no request ended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, remote := range []string{"127.0.0.1:1", "[::1]:1", "127.0.0.1:1"} {
		st.Add(&sample.Sample{Lane: sample.Fresh, Remote: remote, Class: sample.ConnectRefused, Error: "refused\n::error::x"}, false)
	}
	want := `3 requests to 127.0.0.1:1, [::1]:1, the last: connect-refused from 127.0.0.1:1 (refused\n`
	if got := st.Tried(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got  %q\nwant %q… on one line", got, want)
	}
}

func TestNoVersionSaysHowMuchIsLost(t *testing.T) {
	cfg := config.Default()
	if got := noVersion(cfg, counts{Good: 12, WithoutIDs: 12}); !strings.Contains(got, "cannot be seen") || !strings.Contains(got, "header:x-version") {
		t.Error(got)
	}
	if got := noVersion(cfg, counts{Good: 12}); !strings.Contains(got, "where the instances change") {
		t.Error(got)
	}
}
