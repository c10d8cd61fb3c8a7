package sample_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// jsonNames are the names of a struct's fields in JSON.
func jsonNames(v any) []string {
	var out []string
	t := reflect.TypeOf(v)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// unzip is the text of a whole samples file.
func unzip(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// zip is text as a samples file.
func zip(t *testing.T, text []byte, o ...zstd.EOption) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, o...)
	if err != nil {
		t.Fatal(err)
	}
	out := enc.EncodeAll(text, nil)
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// diffLines is cmp.Diff, at a fraction of its cost where there is no difference.
func diffLines(want, got []sample.Line) string {
	if slices.EqualFunc(want, got, func(a, b sample.Line) bool { return reflect.DeepEqual(a, b) }) {
		return ""
	}
	return cmp.Diff(want, got)
}
