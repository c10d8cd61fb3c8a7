package analysis

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// dice takes decisions from fuzzed bytes; when they are used up all are 0.
type dice struct{ data []byte }

func (d *dice) roll(sides int) int {
	if len(d.data) == 0 {
		return 0
	}
	n := int(d.data[0])
	d.data = d.data[1:]
	return n % sides
}

func (d *dice) long() int64 {
	var b [8]byte
	n := copy(b[:], d.data)
	d.data = d.data[n:]
	return int64(binary.LittleEndian.Uint64(b[:]) >> 1)
}

func pick[T any](d *dice, of ...T) T { return of[d.roll(len(of))] }

// line makes any line, sensible or not: times may stand still, run backwards
// or be out of all bounds, and a sample's fields need not fit each other.
func (d *dice) line(n, now int64) sample.Line {
	switch d.roll(12) {
	case 0:
		return sample.Line{Signal: &sample.Signal{At: now, Kind: pick(d, sample.SignalBaseline, sample.SignalStart, sample.SignalPhase, sample.SignalEnd),
			Source: "x", Name: "y", Outcome: pick(d, "", sample.Succeeded, sample.Failed, sample.TimedOut), Offset: pick(d, 0, int64(3e9), -int64(90e9))}}
	case 1:
		return sample.Line{Skip: &sample.Skip{Lane: sample.Kept, From: now, To: now + 1, N: d.roll(5), Prober: d.roll(2) == 0}}
	case 2:
		return sample.Line{FollowUp: &sample.FollowUp{N: n - int64(d.roll(4)), Kind: pick(d, "fresh", "control"), Started: now, Ended: now + 1,
			Class: pick(d, sample.OK, sample.ConnectRefused)}}
	case 3:
		return sample.Line{Platform: &sample.Platform{Kind: pick(d, "digitalocean", "github"), DrainSeconds: pick(d, nil, new(0), new(15)),
			GracePeriodSeconds: pick(d, nil, new(120)), InstanceCount: pick(d, nil, new(1), new(2)), SleepSeconds: pick(d, nil, new(600)),
			Autoscaling: d.roll(2) == 0, ThreatControl: d.roll(2) == 0, HealthCheck: pick(d, "", "tcp", "http /")}}
	case 4:
		return sample.Line{Signal: &sample.Signal{At: now, Kind: sample.SignalNote, Source: "digitalocean", Deployment: pick(d, "", "d"),
			Name: pick(d, "ACTIVE", "api-lost", "api-back", "build-reused"), Message: pick(d, "", "m")}}
	}
	start := now - int64(d.roll(100))*int64(time.Millisecond)
	if d.roll(40) == 1 {
		start = d.long()
	}
	s := &sample.Sample{
		N: n, Lane: pick(d, sample.Kept, sample.Fresh, sample.Slow, sample.Lane("odd")),
		Scheduled: start, Started: start, Wrote: start + int64(d.roll(3)), FirstByte: pick(d, 0, now), Ended: now,
		Late: pick(d, 0, int64(time.Millisecond), int64(time.Second)),
		Conn: int64(d.roll(6)), Before: d.roll(3), Idle: int64(d.roll(200)) * int64(time.Millisecond),
		Status: pick(d, 200, 0, 502, 404, 429, 403, 503, 504), Edge: pick(d, "", "app-platform", "cloudflare"),
		Headers: pick(d, nil, map[string]string{"x-do-app-origin": "o"}, map[string]string{"x-do-failure-code": "UC", "x-do-orig-status": "503"}, map[string]string{"x-do-failure-code": "\x00"}),
		Excerpt: pick(d, "", "via_upstream (503 -)", "no_healthy_upstream (503 UH)", "waking"),
		Bytes:   int64(d.roll(3)) * 100, Seconds: float64(d.roll(5)),
		Version: pick(d, "v1", "v2", "", "v3"), Instance: pick(d, "a", "b", "", "c"), By: pick(d, sample.ByApp, sample.ByEdge, ""),
		Class:    pick(d, sample.OK, sample.OK, sample.OK, sample.Reset, sample.EOF, sample.Status, sample.Timeout, sample.ConnectRefused, sample.Truncated, sample.DNS, sample.TLS, sample.Local, sample.Body),
		CacheHit: d.roll(30) == 1, Close: d.roll(20) == 1, Broken: d.roll(30) == 1, Unsized: d.roll(2) == 1, Unfinished: d.roll(40) == 1,
		Error: pick(d, "", "certificate is not yet valid"), Leaf: pick(d, "", "l1", "l2"),
	}
	if d.roll(20) == 1 {
		s.Addrs = []string{pick(d, "192.0.2.1", "192.0.2.2")}
	}
	return sample.Line{Sample: s}
}

// FuzzAnalysis: whatever was recorded, the analysis ends without a panic, every
// failure has exactly one owner, a reason and evidence, and the counts add up.
func FuzzAnalysis(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("3\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00 some seconds of nothing in particular"))
	for seed := byte(1); seed < 8; seed++ {
		data := make([]byte, 4000)
		x := uint32(seed) * 2654435761
		for i := range data {
			x = x*1664525 + 1013904223
			data[i] = byte(x >> 24)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<15 {
			return
		}
		d := &dice{data: data}
		c := config.Default()
		c.URL = "http://h/"
		c.ExpectVersion = pick(d, "", "v2", "v9")
		if d.roll(5) == 1 {
			c.VersionFrom, c.InstanceFrom = config.Extractor{Kind: "none"}, config.Extractor{Kind: "none"}
		}
		head := sample.Run{Schema: 1, ID: "f", Config: *c, Deploy: pick(d, "", "command")}
		if d.roll(3) == 1 {
			head.History = &sample.History{Runs: 1, Requests: 100, Kinds: []sample.Past{{Class: sample.EOF, Episodes: 2, Largest: 3}}}
		}
		b := NewBuilder(head)
		failed := map[int64]bool{}
		now := int64(0)
		for n := int64(1); len(d.data) > 0; n++ {
			now += int64(d.roll(250)) * int64(time.Millisecond)
			l := d.line(n, now)
			b.Add(l)
			if l.Sample != nil && l.Sample.Failed() {
				failed[n] = true
			}
		}
		if d.roll(2) == 0 {
			b.Add(sample.Line{End: &sample.End{At: now, Reason: sample.EndComplete}})
		}
		checkAnalysis(t, b.Analysis(), failed)
	})
}

func checkAnalysis(t *testing.T, a *Analysis, failed map[int64]bool) {
	t.Helper()
	r := a.Requests
	if r.Failed != r.Deploy+r.Background+r.ProberOwn+r.Config+r.Undecided {
		t.Errorf("failed is not the sum of its owners: %+v", r)
	}
	if len(a.Failures) != r.Failed {
		t.Errorf("%d failures are described, %d counted", len(a.Failures), r.Failed)
	}
	if w := a.Slow; w.Total != w.Completed+w.Cut+w.Failed+w.Unfinished {
		t.Errorf("slow is not the sum of its parts: %+v", w)
	}
	seen := map[int64]bool{}
	for _, f := range a.Failures {
		if seen[f.N] {
			t.Errorf("request %d is described twice", f.N)
		}
		seen[f.N] = true
		if f.Reason == "" || f.Evidence == "" {
			t.Errorf("no reason or evidence: %+v", f)
		}
		switch f.Attribution {
		case ByDeploy, ByBackground, ByProber, ByConfig, Undecided:
		default:
			t.Errorf("request %d belongs to %q", f.N, f.Attribution)
		}
	}
	for n := range failed {
		if !seen[n] {
			t.Errorf("the failure of request %d is hidden", n)
		}
	}
}
