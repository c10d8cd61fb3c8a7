package sampletest_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

func TestLines(t *testing.T) {
	o := sampletest.Options{Samples: 20_000, Seed: 7}
	lines := slices.Collect(sampletest.Lines(o))
	var samples, cut, followUps, signals int
	last := int64(0)
	versions := map[string]bool{}
	for _, line := range lines {
		switch {
		case line.Sample != nil:
			samples++
			versions[line.Sample.Version] = true
			if line.Sample.Failed() {
				cut++
			}
			if line.Sample.Ended < last {
				t.Fatalf("request %d ended before the one recorded before it", line.Sample.N)
			}
			last = line.Sample.Ended
		case line.FollowUp != nil:
			followUps++
		case line.Signal != nil:
			signals++
		}
	}
	end := lines[len(lines)-1].End
	if samples != o.Samples || cut == 0 || followUps != cut || signals != 3 || end == nil || end.At < last {
		t.Errorf("%d samples, %d cut, %d follow-ups, %d signals, end %+v", samples, cut, followUps, signals, end)
	}
	for _, version := range []string{"9f3c2a1b7d60", "f0e1d2c3b4a5"} {
		if !versions[version] {
			t.Errorf("version %s never answered", version)
		}
	}
	if diff := cmp.Diff(lines[:1000], first(sampletest.Lines(o), 1000)); diff != "" {
		t.Errorf("the same options made another recording:\n%s", diff)
	}
	if cmp.Equal(lines[:1000], first(sampletest.Lines(sampletest.Options{Samples: o.Samples, Seed: 8}), 1000)) {
		t.Error("another seed made the same recording")
	}
}

func first(lines iter.Seq[sample.Line], n int) (out []sample.Line) {
	for line := range lines {
		if out = append(out, line); len(out) == n {
			break
		}
	}
	return out
}
