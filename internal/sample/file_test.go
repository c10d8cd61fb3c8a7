package sample_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// everyKind is one line of each kind with every field set.
func everyKind() []sample.Line {
	fifteen := 15
	return []sample.Line{
		{Signal: &sample.Signal{At: 1, Kind: sample.SignalEnd, Source: "box", Name: "x", Outcome: sample.Failed, Message: "a\n\"b\" <c> \u2028", Offset: -5, Deployment: "d"}},
		{Platform: &sample.Platform{
			Kind: "digitalocean", App: "a", AppID: "i", URL: "u", Component: "c", DrainSeconds: &fifteen, GracePeriodSeconds: &fifteen, InstanceCount: &fifteen,
			Autoscaling: true, HealthCheck: "tcp", EdgeCache: new(bool), SleepSeconds: &fifteen, ThreatControl: true,
		}},
		{Sample: &sample.Sample{
			N: 1, Lane: sample.Slow, Scheduled: 2, Late: 3, Queued: 4, Started: 5, Connected: 6, TLSDone: 7, Wrote: 8, FirstByte: 9, Ended: 10,
			Conn: 11, Before: 12, Idle: 13, Reconnect: "idle-close", LocalPort: 14, Remote: "[::1]:15", RTT: 16,
			Proto: "HTTP/2.0", Status: 503, Bytes: 17, BodyHash: 1<<64 - 1, Close: true, Version: "v", Instance: "i", By: sample.ByApp, Edge: "nginx",
			Leaf: "0123456789abcdef", Addrs: []string{"192.0.2.1", "192.0.2.2"}, Broken: true, Unsized: true, Location: "https://h/",
			CacheHit: true, CacheAge: 18, Seconds: 2.5, Class: sample.Status, Phase: sample.PhaseBody, Error: "e", Unfinished: true,
			Headers: map[string]string{"server": "s"}, Excerpt: "x",
		}},
		{Skip: &sample.Skip{Lane: sample.Fresh, From: 1, To: 2, N: 3, Prober: true}},
		{FollowUp: &sample.FollowUp{N: 1, Kind: "control", Started: 2, Ended: 3, Status: 200, Version: "v", Instance: "i", Class: sample.Reset, Error: "e"}},
		{Sample: &sample.Sample{N: 2, Lane: sample.Kept}},
	}
}

// record writes head, lines and an end to a new file.
func record(t *testing.T, lines []sample.Line) (path string, end sample.End) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "samples.ndjson.zst")
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	end = sample.End{At: 99, Reason: sample.EndSignal, Message: "SIGTERM"}
	if err := w.Close(end); err != nil {
		t.Fatal(err)
	}
	return path, end
}

// readAll is every line, and the error behind the last one.
func readAll(r *sample.Reader) ([]sample.Line, error) {
	var out []sample.Line
	for {
		line, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, line)
	}
}

// readFile is every line of a file that ends well.
func readFile(t *testing.T, path string) (lines []sample.Line, truncated bool) {
	t.Helper()
	r, err := sample.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err = readAll(r)
	if err != io.EOF {
		t.Fatalf("after %d lines: %v", len(lines), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return lines, r.Truncated()
}

func TestFileRoundTrip(t *testing.T) {
	lines := everyKind()
	path, end := record(t, lines)
	r, err := sample.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if diff := cmp.Diff(headAsRead(), r.Head()); diff != "" {
		t.Errorf("head (-written +read):\n%s", diff)
	}
	got, err := readAll(r)
	if err != io.EOF {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(lines, sample.Line{End: &end}), got); diff != "" {
		t.Errorf("lines (-written +read):\n%s", diff)
	}
	if r.Truncated() {
		t.Error("a whole file is called truncated")
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("Next behind the end: %v, want io.EOF again", err)
	}
}

// headAsRead is the head of the recordings without what is not recorded.
func headAsRead() sample.Run {
	head := sampletest.Head()
	head.Config.ReportDir = ""
	return head
}

// A field that everyKind leaves out would not be covered by the round trip.
func TestRoundTripCoversEveryField(t *testing.T) {
	var all bytes.Buffer
	for _, line := range append(everyKind(), sample.Line{End: &sample.End{Reason: "r", Message: "m"}}) {
		if err := json.NewEncoder(&all).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []any{sample.Sample{}, sample.Skip{}, sample.FollowUp{}, sample.Signal{}, sample.Platform{}, sample.End{}} {
		for _, tag := range jsonNames(v) {
			if !bytes.Contains(all.Bytes(), []byte(`"`+tag+`":`)) {
				t.Errorf("%T: no line has %q", v, tag)
			}
		}
	}
}

func TestPlainFile(t *testing.T) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	head := sampletest.Head()
	lines := everyKind()
	for _, line := range append([]sample.Line{{Run: &head}}, lines...) {
		if err := enc.Encode(line); err != nil {
			t.Fatal(err)
		}
		text.WriteString(" \r\n")
	}
	text.WriteString(`{"end":{"at":5,"reason":"complete"}}`) // a hand-made file may lack its last newline
	r, err := sample.NewReader(&text, "plain")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if err != io.EOF || r.Truncated() {
		t.Errorf("error %v, truncated %v", err, r.Truncated())
	}
	if diff := cmp.Diff(append(lines, sample.Line{End: &sample.End{At: 5, Reason: "complete"}}), got); diff != "" {
		t.Errorf("lines (-written +read):\n%s", diff)
	}
}

func TestLongLine(t *testing.T) {
	line := sample.Line{Signal: &sample.Signal{Message: strings.Repeat("0123456789", 80_000)}} // beyond every buffer, within the limit
	path, end := record(t, []sample.Line{line, everyKind()[0]})
	got, truncated := readFile(t, path)
	if diff := cmp.Diff([]sample.Line{line, everyKind()[0], {End: &end}}, got); diff != "" || truncated {
		t.Errorf("truncated %v, lines (-written +read):\n%s", truncated, diff)
	}
}

func TestWriteFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 500
	var group sync.WaitGroup
	for g := range writers {
		group.Go(func() {
			for i := range each {
				if err := w.Write(sample.Line{Sample: &sample.Sample{N: int64(g*each + i), Lane: sample.Kept}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
	lines, truncated := readFile(t, path)
	seen := map[int64]bool{}
	for _, line := range lines {
		if line.Sample != nil {
			seen[line.Sample.N] = true
		}
	}
	if len(seen) != writers*each || len(lines) != writers*each+1 || truncated {
		t.Errorf("%d numbers in %d lines, truncated %v", len(seen), len(lines), truncated)
	}
}

func TestWriteIsSeenSoon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	if lines, truncated := readFile(t, path); len(lines) != 0 || !truncated {
		t.Errorf("a file that was just made: %d lines, truncated %v; want its head alone, and truncated", len(lines), truncated)
	}
	begin := time.Now()
	if err := w.Write(everyKind()[0]); err != nil {
		t.Fatal(err)
	}
	for lines, _ := readFile(t, path); len(lines) == 0; lines, _ = readFile(t, path) {
		if time.Since(begin) > 5*time.Second {
			t.Fatal("a line is not in the file seconds after it was written")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
}

func TestWriteAfterClose(t *testing.T) {
	w, err := sample.Create(filepath.Join(t.TempDir(), "s"), sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(everyKind()[0]); err != sample.ErrClosed {
		t.Errorf("Write: %v, want ErrClosed", err)
	}
	if err := w.Close(sample.End{}); err != sample.ErrClosed {
		t.Errorf("Close: %v, want ErrClosed", err)
	}
}

func TestWriteRefusesWhatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	absurd := 1 << 40
	huge := string(bytes.Repeat([]byte("x"), sample.MaxLine))
	for name, line := range map[string]sample.Line{
		"nothing":       {},
		"two kinds":     {Skip: &sample.Skip{}, End: &sample.End{}},
		"no lane":       {Sample: &sample.Sample{N: 1}},
		"negative time": {Signal: &sample.Signal{At: -1}},
		"absurd drain":  {Platform: &sample.Platform{DrainSeconds: &absurd}},
		"a century":     {Sample: &sample.Sample{Lane: sample.Kept, Ended: int64(100 * 365 * 24 * time.Hour)}},
		"too long":      {Signal: &sample.Signal{Message: huge}},
	} {
		if err := w.Write(line); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if err := w.Write(everyKind()[0]); err != nil {
		t.Errorf("a refused line must not stop the others: %v", err)
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
	if lines, _ := readFile(t, path); len(lines) != 2 {
		t.Errorf("got %d lines, want the good one and the end", len(lines))
	}
}

func TestCreateNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "folder")
	_, err := sample.Create(path, sampletest.Head())
	want := "record samples: open " + path + ": no such file or directory; free some space there, or give report-dir another folder"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestHeadHoldsTheConfigWithoutSecrets(t *testing.T) {
	head := sampletest.Head()
	head.Config.Headers = config.Headers{{Name: "Authorization", Value: "s3cret"}}
	head.Config.Body = "s3cret"
	path := filepath.Join(t.TempDir(), "s")
	w, err := sample.Create(path, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
	raw := unzip(t, path)
	if bytes.Contains(raw, []byte("s3cret")) {
		t.Error("the file holds a secret")
	}
	r, err := sample.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if diff := cmp.Diff(headAsRead(), r.Head()); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
}

func TestTwoWritersOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sample.Create(path, sampletest.Head()); err == nil || !strings.Contains(err.Error(), "another run is writing to it") {
		t.Errorf("a second writer got %v, want it refused", err)
	}
	if err := first.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		t.Fatal(err)
	}
	if _, truncated := readFile(t, path); truncated {
		t.Error("the second writer cut the first one's file")
	}
	again, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatalf("after the first one's end: %v", err)
	}
	if err := again.Close(sample.End{}); err != nil {
		t.Fatal(err)
	}
}
