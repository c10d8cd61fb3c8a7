package probe

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// All lanes at once against a service that answers: what each of them is.
func TestLanes(t *testing.T) {
	url := server(t, func(c *net.TCPConn) {
		requests(c, func(_ int, req *http.Request) (string, bool) {
			if seconds := req.URL.Query().Get("s"); seconds != "" {
				d, err := time.ParseDuration(seconds + "s")
				if err != nil {
					return "", false
				}
				time.Sleep(d)
			}
			return okAnswer, true
		})
	})
	p, rec := newProbe(t, settings{"url": url, "rate": "200/s", "connections": "3",
		"slow-url": url + "/slow?s={seconds}", "slow-seconds": "0.1,0.25", "slow-interval": "100ms"})
	if err := p.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	runUntil(t, p, func() bool { return len(rec.samples(sample.Slow)) >= 6 })
	eventually(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before+1 })

	numbers, schedule := map[int64]bool{}, map[sample.Lane][]int64{}
	conns := map[sample.Lane]map[int64]bool{sample.Kept: {}, sample.Fresh: {}, sample.Slow: {}}
	for _, s := range rec.samples("") {
		if s.Failed() || s.Unfinished && s.Lane != sample.Slow {
			t.Errorf("%s request %d: class %q, unfinished %v (%s)", s.Lane, s.N, s.Class, s.Unfinished, s.Error)
		}
		if s.Started < s.Scheduled || s.Late+s.Queued != s.Started-s.Scheduled || (s.Connected == 0) != (s.Before > 0) {
			t.Errorf("request does not add up: %+v", s)
		}
		if !s.Unfinished && (s.Version != "v1" || s.Instance != "i1" || s.By != sample.ByApp || s.Proto != "HTTP/1.1" || s.LocalPort == 0 || "http://"+s.Remote != url) {
			t.Errorf("request does not tell who answered: %+v", s)
		}
		if conns[s.Lane][s.Conn] && s.Lane != sample.Kept {
			t.Errorf("%s request %d is on a used connection", s.Lane, s.N)
		}
		conns[s.Lane][s.Conn], numbers[s.N] = true, true
		schedule[s.Lane] = append(schedule[s.Lane], s.Scheduled)
		if s.Lane == sample.Slow && !s.Unfinished && (float64(s.Ended-s.Started) < s.Seconds*1e9 || s.Seconds == 0) {
			t.Errorf("slow request of %g s took %d ns", s.Seconds, s.Ended-s.Started)
		}
	}
	if len(conns[sample.Kept]) != 3 {
		t.Errorf("%d kept connections, want 3", len(conns[sample.Kept]))
	}
	if len(numbers) != len(rec.samples("")) {
		t.Error("a number was used twice")
	}
	for lane, gap := range map[sample.Lane]int64{sample.Kept: 5 * ms, sample.Fresh: 50 * ms, sample.Slow: 100 * ms} {
		times := schedule[lane]
		slices.Sort(times)
		for i := 1; i < len(times); i++ {
			if times[i]-times[i-1] != gap {
				t.Errorf("%s: slots %d and %d are %d ns apart", lane, i-1, i, times[i]-times[i-1])
			}
		}
	}
	if phase := (schedule[sample.Fresh][0] - schedule[sample.Kept][0]) % (5 * ms); phase != 5*ms/2 {
		t.Errorf("fresh fires %d ns after kept", phase)
	}
}

// At the end slow requests are left, fast ones are waited for.
func TestEndOfTheRun(t *testing.T) {
	var fastHeld atomic.Bool
	release := make(chan struct{})
	url := server(t, func(c *net.TCPConn) {
		requests(c, func(_ int, req *http.Request) (string, bool) {
			if strings.HasPrefix(req.URL.Path, "/slow") {
				hold(c)
				return "", false
			}
			if fastHeld.CompareAndSwap(false, true) {
				<-release // one fast request is answered only after the end
			}
			return okAnswer, true
		})
	})
	p, rec := newProbe(t, settings{"url": url, "rate": "100/s", "connections": "2", "slow-url": url + "/slow", "slow-interval": "20ms"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- p.Run(ctx) }()
	eventually(t, "two slow requests and a fast one in flight", func() bool {
		return fastHeld.Load() && len(p.InFlight(sample.Slow)) >= 2 && len(p.InFlight(sample.Kept))+len(p.InFlight(sample.Fresh)) >= 1
	})
	slow := p.InFlight(sample.Slow)
	cancel()
	ended := p.now()
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	if took := p.now() - ended; took < 50*ms || took > 10*sec {
		t.Errorf("the end took %d ns", took)
	}
	unfinished := map[int64]int64{}
	for _, s := range rec.samples("") {
		if s.Failed() {
			t.Errorf("request %d failed: %s %s", s.N, s.Class, s.Error)
		}
		if s.Unfinished != (s.Lane == sample.Slow) {
			t.Errorf("%s request %d: unfinished %v", s.Lane, s.N, s.Unfinished)
		}
		if s.Unfinished {
			unfinished[s.N] = s.Started
		}
		if s.Started > ended {
			t.Errorf("request %d was begun after the end", s.N)
		}
	}
	for _, f := range slow {
		if unfinished[f.N] != f.Started {
			t.Errorf("slow request %d of %d in flight is not among the unfinished", f.N, f.Started)
		}
	}
	if left := p.InFlight(sample.Slow); len(left) != 0 {
		t.Errorf("%d requests in flight after the end", len(left))
	}
	if err := p.Run(ctx); err == nil {
		t.Error("a second Run is accepted")
	}
}

// A service that holds every fast request at the end is left after two seconds.
func TestEndDoesNotWaitForEver(t *testing.T) {
	p, rec := newProbe(t, settings{"url": server(t, func(c *net.TCPConn) { hold(c) }), "rate": "100/s", "connections": "3"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- p.Run(ctx) }()
	eventually(t, "three requests in flight", func() bool { return len(p.InFlight(sample.Kept)) == 3 })
	cancel()
	ended := p.now()
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	if took := p.now() - ended; took < 2*sec || took > 8*sec {
		t.Errorf("the end took %d ns, want a little over 2 s", took)
	}
	if got := rec.samples(sample.Kept); len(got) != 3 || !got[0].Unfinished || got[0].Class != sample.OK || got[0].Phase != sample.PhaseResponse {
		t.Errorf("%d samples, the first %+v", len(got), got[0])
	}
	if n := len(rec.followUps()); n != 0 {
		t.Errorf("%d follow-ups of requests that did not fail", n)
	}
}

// A service that stops answering for a while, on real connections: the schedule
// goes on, and everything due is either sent in its second or counted as not sent.
func TestStall(t *testing.T) {
	var stalled sync.RWMutex // locked: no request is answered
	url := server(t, func(c *net.TCPConn) {
		requests(c, func(int, *http.Request) (string, bool) {
			stalled.RLock()
			defer stalled.RUnlock()
			return okAnswer, true
		})
	})
	p, rec := newProbe(t, settings{"url": url, "rate": "100/s", "connections": "4"})
	var since int64
	runUntil(t, p, func() bool {
		switch now := p.now(); {
		case since == 0 && len(rec.samples(sample.Kept)) >= 20:
			stalled.Lock()
			since = now
		case since > 0 && now-since > 2*sec:
			stalled.Unlock()
			since = -now
		case since < 0 && now+since > sec/4:
			return true
		}
		return false
	})
	sent := rec.samples(sample.Kept)
	var skipped int
	for _, l := range rec.all() {
		if l.Skip != nil && l.Skip.Lane == sample.Kept {
			skipped += l.Skip.N
		}
	}
	slices.SortFunc(sent, func(a, b *sample.Sample) int { return int(a.Scheduled - b.Scheduled) })
	last := sent[len(sent)-1]
	slots := int((last.Scheduled-sent[0].Scheduled)/(10*ms)) + 1
	if len(sent)+skipped != slots {
		t.Errorf("%d sent + %d not sent = %d of %d slots", len(sent), skipped, len(sent)+skipped, slots)
	}
	if skipped < 50 {
		t.Errorf("%d not sent in a stall of two seconds", skipped)
	}
	var queued int64
	for _, s := range sent {
		queued = max(queued, s.Queued)
		if s.Failed() || s.Started-s.Scheduled > sec+sec/10 {
			t.Errorf("request %d begun %d ns after its time, class %q", s.N, s.Started-s.Scheduled, s.Class)
		}
	}
	if queued < sec/2 {
		t.Errorf("the longest wait for a connection is %d ns", queued)
	}
}

// A closed loop: each connection sends as soon as it was answered.
func TestRateMax(t *testing.T) {
	p, rec := newProbe(t, settings{"url": answering(t, okAnswer), "rate": "max", "connections": "10"})
	runUntil(t, p, func() bool { return len(rec.samples(sample.Kept)) >= 500 && len(rec.samples(sample.Fresh)) >= 10 })
	conns := map[int64]bool{}
	for _, s := range rec.samples(sample.Kept) {
		conns[s.Conn] = true
		if s.Failed() || s.Scheduled != s.Started || s.Late != 0 || s.Queued != 0 {
			t.Errorf("request %+v", s)
		}
	}
	if len(conns) != 10 {
		t.Errorf("%d connections, want 10", len(conns))
	}
	for _, l := range rec.all() {
		if l.Skip != nil {
			t.Errorf("a closed loop skips: %+v", l.Skip)
		}
	}
}

// A closed loop does not spin while nothing listens.
func TestRateMaxEasesOff(t *testing.T) {
	p, rec := newProbe(t, settings{"url": "http://" + freePort(t), "rate": "max", "connections": "2"})
	runUntil(t, p, func() bool { return p.now() > sec/2 })
	n := len(rec.samples(""))
	if longest := int(p.now()/(10*ms)+1) * 3; n < 3 || n > longest {
		t.Errorf("%d requests of 3 loops in %d ms", n, p.now()/ms)
	}
}

// More fresh requests than the timeout explains are not opened.
func TestFreshIsBounded(t *testing.T) {
	p, rec := newProbe(t, settings{"url": server(t, func(c *net.TCPConn) { hold(c) }), "rate": "1000/s", "connections": "1", "timeout": "100ms"})
	r := newRun(t, p)
	stop, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.ctx = stop
	never := job{to: p.main.to, msg: p.main.msg, timeout: time.Minute}
	r.spread(lane{name: sample.Fresh, schedule: newSchedule(r.first, 1000), timeout: 20 * time.Millisecond, work: &r.fast, job: func() (job, float64) { return never, 0 }})
	eventually(t, "a full lane", func() bool { return len(p.InFlight(sample.Fresh)) == 20+headroom })
	eventually(t, "time for more", func() bool { return p.now()-r.first > 200*ms })
	if n := len(p.InFlight(sample.Fresh)); n != 20+headroom {
		t.Errorf("%d in flight", n)
	}
	cancel()
	r.skips[0].flush()
	lines := rec.all()
	if len(lines) == 0 || lines[0].Skip == nil || lines[0].Skip.N < 50 || lines[0].Skip.Prober {
		t.Errorf("lines: %+v", lines)
	}
}
