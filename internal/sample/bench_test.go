package sample_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

func BenchmarkWrite(b *testing.B) {
	var lines []sample.Line
	for line := range sampletest.Lines(sampletest.Options{Samples: 10_000}) {
		lines = append(lines, line)
	}
	w, err := sample.Create(filepath.Join(b.TempDir(), "s"), sampletest.Head())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := w.Write(lines[i%len(lines)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkNext(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s")
	if err := sampletest.Write(path, sampletest.Options{Samples: 50_000}); err != nil {
		b.Fatal(err)
	}
	var r *sample.Reader
	b.ReportAllocs()
	for b.Loop() {
		if r == nil {
			var err error
			if r, err = sample.Open(path); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := r.Next(); err == io.EOF {
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
			r = nil
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
