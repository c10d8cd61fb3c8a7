package sample_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// head1 is the shortest head.
const head1 = `{"run":{"schema":1,"cutwatch":"t","id":"r","started_at":"","config":{}}}` + "\n"

// blocks is a samples file with a block after every line, as if each was
// flushed alone, and where in it each line is whole.
func blocks(t *testing.T, text []byte, o ...zstd.EOption) (file []byte, whole []int) {
	t.Helper()
	var buf bytes.Buffer
	enc, err := zstd.NewWriter(&buf, append(o, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitAfterSeq(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if _, err := enc.Write(line); err != nil {
			t.Fatal(err)
		}
		if err := enc.Flush(); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, buf.Len())
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), whole
}

// Every offset of a small file: what is read is exactly the lines that are
// whole there.
func TestCutAnywhere(t *testing.T) {
	lines := everyKind()
	path, end := record(t, lines)
	lines = append(lines, sample.Line{End: &end})
	text := unzip(t, path)
	zipped, zippedWhole := blocks(t, text)
	var plainWhole []int
	for i, c := range text {
		if c == '\n' {
			plainWhole = append(plainWhole, i) // whole without its newline
		}
	}
	for _, tt := range []struct {
		name  string
		file  []byte
		whole []int
	}{{"zstd", zipped, zippedWhole}, {"plain", text, plainWhole}} {
		t.Run(tt.name, func(t *testing.T) {
			for cut := range len(tt.file) + 1 {
				want := -1 // lines behind the head
				for _, at := range tt.whole {
					if at <= cut {
						want++
					}
				}
				checkCut(t, tt.file[:cut], cut, lines, want)
			}
		})
	}
}

// checkCut reads a file that was cut; want is how many of lines are whole in
// it, -1 where not even the head is.
func checkCut(t *testing.T, file []byte, cut int, lines []sample.Line, want int) {
	t.Helper()
	r, err := sample.NewReader(bytes.NewReader(file), "cut")
	if want < 0 {
		var bad *config.InputError
		if !errors.As(err, &bad) {
			t.Errorf("cut at %d, within the head: %v, want an InputError", cut, err)
		}
		return
	}
	if err != nil {
		t.Errorf("cut at %d: %v", cut, err)
		return
	}
	got, err := readAll(r)
	if err != io.EOF {
		t.Errorf("cut at %d: after %d lines %v, want io.EOF", cut, len(got), err)
	}
	if len(got) != want {
		t.Errorf("cut at %d: %d lines, want %d", cut, len(got), want)
		return
	}
	if diff := diffLines(lines[:want], got); diff != "" {
		t.Errorf("cut at %d (-written +read):\n%s", cut, diff)
	}
	if want < len(lines) && !r.Truncated() {
		t.Errorf("cut at %d: not called truncated", cut)
	}
}

// A file as the writer makes it, cut at every offset: a prefix of its lines.
func TestCutWriterFile(t *testing.T) {
	lines := everyKind()
	path, end := record(t, lines)
	lines = append(lines, sample.Line{End: &end})
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for cut := range len(file) + 1 {
		r, err := sample.NewReader(bytes.NewReader(file[:cut]), "cut")
		if err != nil {
			if read > 0 {
				t.Fatalf("cut at %d: %v, though a shorter file was read", cut, err)
			}
			continue
		}
		got, err := readAll(r)
		if err != io.EOF || len(got) < read {
			t.Fatalf("cut at %d: %d lines, then %v", cut, len(got), err)
		}
		read = len(got)
		if diff := diffLines(lines[:read], got); diff != "" {
			t.Fatalf("cut at %d (-written +read):\n%s", cut, diff)
		}
	}
	if read != len(lines) {
		t.Errorf("the whole file gave %d lines, want %d", read, len(lines))
	}
}

func TestReaderRefuses(t *testing.T) {
	long := strings.Repeat(" ", sample.MaxLine+1)
	damaged := zip(t, []byte(head1+strings.Repeat(`{"signal":{"at":1,"kind":"phase","source":"s","name":"n"}}`+"\n", 100)), zstd.WithEncoderCRC(true))
	damaged[len(damaged)-1] ^= 1 // its checksum
	wide, _ := blocks(t, []byte(head1), zstd.WithWindowSize(64<<20))
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, `f: is empty; give the samples file of a run`},
		{"blank", []byte("\n\n"), `f: ends before its first line is whole, so that nothing can be judged from it; give another file, or run again`},
		{"garbage", []byte("\x00\x01\x02garbage\nmore\n"), `f: is not a samples file: it does not begin with a run's head; give the samples file of a run, like cutwatch-report/samples.ndjson.zst`},
		{"result.json", []byte(`{"schema": 1, "cutwatch": "0.1.0"}`), `f: is not a samples file: it does not begin with a run's head; give the samples file of a run, like cutwatch-report/samples.ndjson.zst`},
		{"no head", []byte(`{"end":{"at":1,"reason":"complete"}}` + "\n"), `f: is not a samples file: it does not begin with a run's head; give the samples file of a run, like cutwatch-report/samples.ndjson.zst`},
		{"a head without a schema", []byte(`{"run":{}}` + "\n"), `f: is not a samples file: it does not begin with a run's head; give the samples file of a run, like cutwatch-report/samples.ndjson.zst`},
		{"another schema", []byte(`{"run":{"schema":2,"cutwatch":"9.0.0","config":"of another kind"}}` + "\n"), `f: is of schema 2, and this Cutwatch reads schema 1; read it with the Cutwatch that recorded it, "9.0.0"`},
		{"a head that does not parse", []byte(`{"run":{"schema":1,"config":{"rate":"x"}}}` + "\n"),
			`f: has a head that does not parse ("\"x\" is not a rate; write requests per second, like 100/s or 0.5/s, or max"); record it again`},
		{"a head and more", []byte(`{"run":{"schema":1},"end":{"at":1}}` + "\n"), `f: has a head that is wrong: it holds 2 kinds of record, not one; record it again`},
		{"a line that does not parse", []byte(head1 + "{\n" + head1),
			`f: line 2 does not parse ("unexpected end of JSON input"); the lines before it are whole, so cut the file there, or record it again`},
		{"a line of no kind", []byte(head1 + `{"alien":{}}` + "\n"), `f: line 2 is wrong: it holds 0 kinds of record, not one; cut the file there, or record it again`},
		{"a second head", []byte(head1 + "\n" + head1), `f: line 3 is wrong: it is the head of a second run; cut the file there, or record it again`},
		{"a line behind the end", []byte(head1 + `{"end":{"at":1}}` + "\n" + `{"end":{"at":2}}` + "\n"), `f: line 3 is wrong: it stands behind the end of the run; cut the file there, or record it again`},
		{"a time that no run has", []byte(head1 + `{"end":{"at":4000000000000000000}}` + "\n"), `f: line 2 is wrong: it holds a time of 4000000000000000000 ns, which no run has; cut the file there, or record it again`},
		{"a line too long", []byte(head1 + long + "\n"), `f: line 2 is longer than 1048576 bytes, which no run writes; give the samples file of a run`},
		{"a head too long", []byte(long), `f: line 1 is longer than 1048576 bytes, which no run writes; give the samples file of a run`},
		{"a bomb", zip(t, []byte(head1+strings.Repeat("x", 4<<20))), `f: line 2 is longer than 1048576 bytes, which no run writes; give the samples file of a run`},
		{"a wide window", wide,
			`f: is compressed with a window above 16 MiB; compress it again without --ultra and --long`},
		{"damaged", damaged, `f: is damaged after 0 whole lines (CRC check failed); copy it again from where it was recorded, or record it again`},
		{"something behind the end", append(zip(t, []byte(head1)), "garbage"...), `f: is damaged after 1 whole lines (invalid input: magic number mismatch); copy it again from where it was recorded, or record it again`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := sample.NewReader(bytes.NewReader(tt.file), "f")
			if err == nil {
				_, err = readAll(r)
				if _, again := r.Next(); again != err {
					t.Errorf("Next again: %v, want the same error", again)
				}
			}
			var bad *config.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if bad.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", bad, tt.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none")
	_, err := sample.Open(path)
	var bad *config.InputError
	want := path + ": cannot be opened (no such file or directory); give a samples file of a run, like cutwatch-report/samples.ndjson.zst"
	if !errors.As(err, &bad) || bad.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = sample.Open(dir)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v, want an error that names it", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(head1+`{"sample":{"n":1,"lane":"kept","sched":1,"start":1,"end":2}}`+"\n"+`{"end":{"at":3,"reason":"complete"}}`+"\n"), 20)
	f.Add([]byte(head1+`{"signal":{"at":1}}`), 90)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0}, 5)
	f.Fuzz(func(t *testing.T, file []byte, cut int) {
		r, err := sample.NewReader(bytes.NewReader(file), "fuzz")
		if err != nil {
			return
		}
		all, end := readAll(r)
		for _, line := range all {
			if line.Run != nil || line == (sample.Line{}) {
				t.Errorf("a line that should have been refused: %+v", line)
			}
		}
		if end != io.EOF || cut < 0 || cut > len(file) {
			return
		}
		r, err = sample.NewReader(bytes.NewReader(file[:cut]), "fuzz")
		if err != nil {
			return
		}
		some, err := readAll(r)
		if err != io.EOF || len(some) > len(all) {
			t.Fatalf("cut: %d of %d lines, then %v", len(some), len(all), err)
		}
		if diff := diffLines(all[:len(some)], some); diff != "" {
			t.Errorf("cut (-whole +cut):\n%s", diff)
		}
	})
}
