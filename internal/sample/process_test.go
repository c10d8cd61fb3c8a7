package sample_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// The tests in this file need a process of their own: to be killed, to run out
// of disk, to be measured. It is this test's binary again.
const childVar = "CUTWATCH_SAMPLE_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "steady":
		err = writeSteadily(os.Args[1])
	case "flood":
		err = writeUntilFull(os.Args[1])
	case "million":
		err = writeMany(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is this binary as the writer of that name, writing to path.
func child(t *testing.T, name, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, path)
	cmd.Env = append(os.Environ(), childVar+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// writeSteadily writes a sample a millisecond until it is killed, and prints
// the number of each behind the write.
func writeSteadily(path string) error {
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		return err
	}
	for n := int64(1); ; n++ {
		if err := w.Write(sample.Line{Sample: &sample.Sample{N: n, Lane: sample.Kept}}); err != nil {
			return err
		}
		fmt.Println(n)
		time.Sleep(time.Millisecond)
	}
}

func TestKilledWriterLosesASecondAtMost(t *testing.T) {
	for _, life := range []time.Duration{1300 * time.Millisecond, 1410 * time.Millisecond, 1570 * time.Millisecond} { // other places between two flushes
		t.Run(life.String(), func(t *testing.T) {
			t.Parallel()
			for range 10 {
				path := filepath.Join(t.TempDir(), "s")
				written, killed := killWriter(t, path, life)
				if stalled(written, killed) {
					continue // the writer had no processor: its second was none
				}
				checkKept(t, path, written, killed.Add(-time.Second))
				return
			}
			t.Error("this machine left the writer without a processor in ten attempts")
		})
	}
}

// killWriter lets the steady writer live that long. It returns when each number
// was known to be written, and when the kill was sent.
func killWriter(t *testing.T, path string, life time.Duration) (written []time.Time, killed time.Time) {
	t.Helper()
	cmd := child(t, "steady", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err != nil || n != len(written)+1 {
			break // cut by the kill
		}
		written = append(written, time.Now())
		if killed.IsZero() && time.Since(written[0]) > life {
			killed = time.Now()
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || killed.IsZero() {
		t.Fatalf("the writer was not killed: %v", err)
	}
	return written, killed
}

// stalled tells whether the writer, which has something to say every
// millisecond, was silent for a good part of its last second.
func stalled(written []time.Time, killed time.Time) bool {
	for i, at := range written[1:] {
		if at.After(killed.Add(-time.Second)) && at.Sub(written[i]) > 300*time.Millisecond {
			return true
		}
	}
	return false
}

// checkKept checks that the file holds the numbers from 1 on without a hole,
// and all that were written before that time.
func checkKept(t *testing.T, path string, written []time.Time, before time.Time) {
	t.Helper()
	lines, truncated := readFile(t, path)
	for i, line := range lines {
		if line.Sample == nil || line.Sample.N != int64(i)+1 {
			t.Fatalf("line %d is %+v", i+1, line)
		}
	}
	old := 0
	for old < len(written) && written[old].Before(before) {
		old++
	}
	t.Logf("%d written, %d of them more than a second before the kill, %d in the file", len(written), old, len(lines))
	if old == 0 {
		t.Error("nothing was written a second before the kill: the test shows nothing")
	}
	if len(lines) < old {
		t.Errorf("%d lines in the file, want the first %d at least", len(lines), old)
	}
	if !truncated {
		t.Error("the file of a killed writer is not called truncated")
	}
}

// flooded is what writeUntilFull found.
type flooded struct {
	Written            int
	Err, Second, Close string
}

// writeUntilFull writes until the system lets no file grow any more.
func writeUntilFull(path string) error {
	signal.Ignore(syscall.SIGXFSZ) // so that the write fails, as on a full disk
	limit := syscall.Rlimit{Cur: 128 << 10, Max: 128 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		return err
	}
	var out flooded
	for line := range sampletest.Lines(sampletest.Options{Samples: 1_000_000}) {
		if err := w.Write(line); err != nil {
			out.Err = err.Error()
			out.Second = fmt.Sprint(w.Write(line))
			break
		}
		out.Written++
	}
	out.Close = fmt.Sprint(w.Close(sample.End{Reason: sample.EndRecording}))
	return json.NewEncoder(os.Stdout).Encode(out)
}

func TestFullDiskKeepsWhatWasRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	text, err := child(t, "flood", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got flooded
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := "record samples: write " + path + ": file too large; free some space there, or give report-dir another folder"
	if got.Err != want || got.Second != want || got.Close != want {
		t.Errorf("got %+v\nwant three times %s", got, want)
	}
	lines, truncated := readFile(t, path)
	t.Logf("%d lines written before the error, %d of them in the file", got.Written, len(lines))
	if len(lines) == 0 || len(lines) > got.Written || !truncated {
		t.Fatalf("%d lines in the file of %d written, truncated %v", len(lines), got.Written, truncated)
	}
	i := 0
	for line := range sampletest.Lines(sampletest.Options{Samples: 1_000_000}) {
		if i == len(lines) {
			break
		}
		if (line.Sample == nil) != (lines[i].Sample == nil) || line.Sample != nil && line.Sample.N != lines[i].Sample.N {
			t.Fatalf("line %d is %+v, want %+v", i, lines[i], line)
		}
		i++
	}
}

func TestFullDiskFromTheStart(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full:", err)
	}
	_, err := sample.Create("/dev/full", sampletest.Head())
	if err == nil || !strings.HasPrefix(err.Error(), "record samples: write /dev/full: no space left on device; free some space") {
		t.Errorf("got %v", err)
	}
}

// writeMany writes a long recording and prints the peak of this process's
// memory in kB. (What the parent is told of a child includes the parent's own
// memory at the fork.)
func writeMany(path string) error {
	if err := sampletest.Write(path, sampletest.Options{Samples: manySamples}); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "kB")
	_, err = fmt.Println(strings.TrimSpace(peak))
	return err
}

// A million samples are recorded in little memory, and are all in the file.
func TestAMillionSamplesInLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak is read from /proc, which Linux alone has")
	}
	path := filepath.Join(t.TempDir(), "s")
	cmd := child(t, "million", path)
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin).Round(time.Millisecond)
	peak, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatalf("no peak in %q", out)
	}
	peak /= 1024 // MB
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond)
	t.Logf("%d samples: peak %d MB, %v (%v of CPU), a file of %d MB", manySamples, peak, took, cpu, info.Size()>>20)
	if peak >= 150 {
		t.Errorf("peak of %d MB, want under 150", peak)
	}
	if n := countSamples(t, path); n != manySamples {
		t.Errorf("%d samples in the file, want %d", n, manySamples)
	}
}

// countSamples counts without parsing, which would take much longer.
func countSamples(t *testing.T, path string) (n int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dec, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	lines := bufio.NewScanner(dec)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"sample":`)) {
			n++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
