package probe

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A failure is followed up at once, on a new connection and at the control
// host, with its own id and a mark.
func TestFollowUps(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	note := func(where string, req *http.Request) string {
		mu.Lock()
		defer mu.Unlock()
		id := req.Header.Get(requestIDHeader)
		seen[where+id] = req.Header
		return id
	}
	url := server(t, func(c *net.TCPConn) {
		requests(c, func(_ int, req *http.Request) (string, bool) {
			if strings.HasSuffix(note("service ", req), serviceMark) {
				return okAnswer, true
			}
			return "", false
		})
	})
	control := server(t, func(c *net.TCPConn) {
		requests(c, func(_ int, req *http.Request) (string, bool) {
			note("control ", req)
			return "HTTP/1.1 503 Busy\r\nX-Version: not-the-service\r\nContent-Length: 0\r\n\r\n", true
		})
	})
	p, rec := newProbe(t, settings{"url": url, "control-url": control, "headers": "Authorization: secret"})
	r := newRun(t, p)
	failed := r.sendOnce()
	if failed.Class != sample.EOF {
		t.Fatalf("class %q", failed.Class)
	}
	p.follow.stop()
	p.follow.wait()

	got := map[string]sample.FollowUp{}
	for _, f := range rec.followUps() {
		if f.Started < failed.Ended || f.Ended < f.Started {
			t.Errorf("%s: from %d to %d, and the request failed at %d", f.Kind, f.Started, f.Ended, failed.Ended)
		}
		f.Started, f.Ended = 0, 0
		got[f.Kind] = *f
	}
	want := map[string]sample.FollowUp{
		"fresh":   {N: failed.N, Kind: "fresh", Status: 200, Version: "v1", Instance: "i1"},
		"control": {N: failed.N, Kind: "control", Status: 503}, // any answer shows that it is reached
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("follow-ups (-want +got):\n%s", diff)
	}
	id := sample.RequestID("test", failed.N)
	for _, key := range []string{"service " + id, "service " + id + "-f", "control " + id + "-c"} {
		if seen[key] == nil {
			t.Errorf("no request %s", key)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d requests, want 3", len(seen))
	}
	if seen["control "+id+"-c"].Get("Authorization") != "" {
		t.Error("the control host was told the headers of the service")
	}
	if len(rec.samples("")) != 1 {
		t.Error("a follow-up is recorded as a sample")
	}
}

func TestFollowUpOfAnOutage(t *testing.T) {
	p, rec := newProbe(t, settings{"url": "http://" + freePort(t), "rate": "200/s"})
	runUntil(t, p, func() bool { return len(rec.samples("")) >= 200 })
	seconds := float64(p.now()) / 1e9
	n := len(rec.followUps())
	if n < followUpRate || float64(n) > followUpRate*(seconds+1)+1 {
		t.Errorf("%d follow-ups in %.1f s", n, seconds)
	}
	for _, f := range rec.followUps() {
		if f.Class != sample.ConnectRefused || f.Kind != "fresh" || f.Error == "" {
			t.Errorf("follow-up %+v", f)
		}
	}
}

// Failures of the prober's own machine are not followed up.
func TestNoFollowUpOfLocalFailures(t *testing.T) {
	p, rec := newProbe(t, settings{"url": answering(t, okAnswer)})
	p.main.to.names.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "dial udp: socket: too many open files"}
	}
	s := newRun(t, p).sendOnce()
	p.follow.stop()
	p.follow.wait()
	if s.Class != sample.Local || len(rec.followUps()) != 0 {
		t.Errorf("class %q, %d follow-ups", s.Class, len(rec.followUps()))
	}
}

func TestFollowUpBound(t *testing.T) {
	f := newFollowUps(nil)
	taken := func(now time.Duration, asked int) (n int) {
		for range asked {
			if f.take(int64(now)) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		now  time.Duration
		want int
	}{{0, 4}, {100 * time.Millisecond, 0}, {250 * time.Millisecond, 1}, {time.Second, 3}, {time.Minute, 4}} {
		if got := taken(c.now, 10); got != c.want {
			t.Errorf("at %s: %d let through, want %d", c.now, got, c.want)
		}
	}
}

// A follow-up goes to the address that failed, not to the next one.
func TestFollowUpKeepsTheAddress(t *testing.T) {
	p, _ := newProbe(t, settings{"url": "http://service.test", "slow-url": "http://another.test"})
	for _, c := range []struct {
		lane         sample.Lane
		remote, want string
	}{
		{sample.Kept, "10.0.0.7:80", "10.0.0.7"},
		{sample.Fresh, "[fd00::1]:80", "fd00::1"},
		{sample.Fresh, "", "invalid IP"},
		{sample.Slow, "10.0.0.7:80", "invalid IP"}, // of another host
	} {
		if got := p.sameAddress(&sample.Sample{Lane: c.lane, Remote: c.remote}); got.String() != c.want {
			t.Errorf("%s at %q: %s, want %s", c.lane, c.remote, got, c.want)
		}
	}
}

// The control host is asked once a second though nothing fails, so that what is
// usual for it is known.
func TestControlIsAskedRegularly(t *testing.T) {
	p, rec := newProbe(t, settings{"url": answering(t, okAnswer), "control-url": answering(t, okAnswer), "rate": "50/s"})
	runUntil(t, p, func() bool { return len(rec.followUps()) >= 3 })
	for i, f := range rec.followUps() {
		if f.N != 0 || f.Kind != toControl || f.Class != sample.OK || f.Status != 200 || f.Version != "" {
			t.Errorf("follow-up %+v", f)
		}
		if due := int64(i) * sec; f.Started < due || f.Started > due+sec {
			t.Errorf("number %d was begun at %d ns", i, f.Started)
		}
	}
	for _, s := range rec.samples("") {
		if s.Lane != sample.Kept && s.Lane != sample.Fresh {
			t.Errorf("it is recorded as a request: %+v", s)
		}
	}
}
