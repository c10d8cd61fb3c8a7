package box

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// struckBy is a tiny scene with incidents that are there from the first request on.
func struckBy(t *testing.T, front string, list ...Incident) *Box {
	t.Helper()
	s := tiny(front)
	for _, i := range list {
		i.At.Mark = MarkStart
		s.Incidents = append(s.Incidents, i)
	}
	return startBox(t, s)
}

// Each incident of a single request does what its name says, and is in the books
// with its owner.
func TestIncidentsOfARequest(t *testing.T) {
	status := func(want int, version string) func(*testing.T, reply, error) {
		return func(t *testing.T, r reply, err error) {
			if err != nil || r.StatusCode != want || r.Header.Get("X-Version") != version {
				t.Errorf("got %v, %+v; want %d by %q", err, r.Response, want, version)
			}
		}
	}
	fails := func(target error) func(*testing.T, reply, error) {
		return func(t *testing.T, _ reply, err error) {
			if !errors.Is(err, target) {
				t.Errorf("got %v, want %v", err, target)
			}
		}
	}
	for _, c := range []struct {
		name     string
		front    string
		incident Incident
		check    func(*testing.T, reply, error)
	}{
		{"status of the app", FrontEdge, Incident{Kind: IncidentStatus, Status: 503, As: AsApp}, status(503, "aaaaaaaaaa")},
		{"status of the edge", FrontEdge, Incident{Kind: IncidentStatus, Status: 502}, func(t *testing.T, r reply, err error) {
			if status(502, "")(t, r, err); r.Header.Get("Server") != "cloudflare" {
				t.Errorf("headers %v", r.Header)
			}
		}},
		{"status of nobody", FrontEdge, Incident{Kind: IncidentStatus, Status: 404, As: AsNobody, Headers: map[string]string{"Retry-After": "3"}, Body: "no"}, func(t *testing.T, r reply, err error) {
			if status(404, "")(t, r, err); r.Header.Get("Server") != "" || r.Header.Get("Retry-After") != "3" || r.body != "no" {
				t.Errorf("headers %v, body %q", r.Header, r.body)
			}
		}},
		{"reset by the edge", FrontEdge, Incident{Kind: IncidentReset}, fails(syscall.ECONNRESET)},
		{"reset", FrontDirect, Incident{Kind: IncidentReset}, fails(syscall.ECONNRESET)},
		{"closed by the edge", FrontEdge, Incident{Kind: IncidentEOF}, fails(io.ErrUnexpectedEOF)},
		{"closed", FrontDirect, Incident{Kind: IncidentEOF}, fails(io.ErrUnexpectedEOF)},
		{"cut, and it shows", FrontEdge, Incident{Kind: IncidentTruncate, How: CutVisible}, fails(io.ErrUnexpectedEOF)},
		{"cut, and it does not", FrontEdge, Incident{Kind: IncidentTruncate, How: CutSilent}, func(t *testing.T, r reply, err error) {
			if status(200, "aaaaaaaaaa")(t, r, err); r.ContentLength >= 0 || json.Valid([]byte(r.body)) || r.body == "" {
				t.Errorf("length %d, body %q", r.ContentLength, r.body)
			}
		}},
		{"another page", FrontEdge, Incident{Kind: IncidentReplace}, func(t *testing.T, r reply, err error) {
			if status(200, "")(t, r, err); !strings.Contains(r.body, "maintenance") {
				t.Errorf("body %q", r.body)
			}
		}},
		{"a redirect", FrontEdge, Incident{Kind: IncidentRedirect}, func(t *testing.T, r reply, err error) {
			if status(302, "")(t, r, err); r.Header.Get("Location") != "/" {
				t.Errorf("headers %v", r.Header)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.incident.Owner, c.incident.Count = "config", 1
			b := struckBy(t, c.front, c.incident)
			conn := dial(t, b.address())
			conn.send("/", "struck")
			r, err := conn.read()
			c.check(t, r, err)
			if again := dial(t, b.address()).get("/", "again"); again.StatusCode != 200 || again.Header.Get("X-Version") == "" {
				t.Errorf("the one after it: %+v", again.Response)
			}
			wantDrops(t, b, "struck incident")
			if d := b.Truth().Drops[0]; d.Owner != "config" || d.ByRollout {
				t.Errorf("%+v, want it config's", d)
			}
		})
	}
}

// A request that hangs gets nothing until its client gives up, and others go on.
func TestHang(t *testing.T) {
	for _, front := range []string{FrontEdge, FrontDirect} {
		b := struckBy(t, front, Incident{Kind: IncidentHang, Owner: "deploy", Count: 1})
		c := dial(t, b.address())
		c.send("/", "struck")
		if err := c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.r.Peek(1); err == nil {
			t.Errorf("%s: it was answered", front)
		}
		dial(t, b.address()).get("/", "again")
		wantDrops(t, b, "struck incident")
	}
}

// Delayed and held requests are answered late, and are no drops.
func TestLateIsNoDrop(t *testing.T) {
	for _, i := range []Incident{
		{Kind: IncidentDelay, Delay: 150 * ms},
		{Kind: IncidentHold, For: 150 * ms},
	} {
		b := struckBy(t, FrontEdge, i)
		c, begin := dial(t, b.address()), time.Now()
		c.get("/", "late")
		if took := time.Since(begin); took < 140*time.Millisecond {
			t.Errorf("%s: answered after %v", i.Kind, took)
		}
		wantDrops(t, b)
	}
}

// A cached answer says that it is one, grows older, and stays the same.
func TestCache(t *testing.T) {
	b := struckBy(t, FrontEdge, Incident{Kind: IncidentCache})
	c := dial(t, b.address())
	first, hit := c.get("/", "miss"), c.get("/", "hit")
	if first.Header.Get("Age") != "" || hit.Header.Get("Cf-Cache-Status") != "HIT" || hit.Header.Get("Age") != "0" || hit.body != first.body {
		t.Errorf("first %v, then %v, %q", first.Header, hit.Header, hit.body)
	}
	wantDrops(t, b)
}

// Lanes, roles and connections that were made before.
func TestWhomAnIncidentStrikes(t *testing.T) {
	old, fresh := &instance{id: "old"}, &instance{id: "new", isNew: true}
	began := time.Now()
	before, after := began.Add(-time.Second), began.Add(time.Second)
	for _, c := range []struct {
		name string
		i    Incident
		q    asked
		want bool
	}{
		{"any", Incident{}, asked{made: after}, true},
		{"fresh, and it is", Incident{Lane: "fresh"}, asked{}, true},
		{"fresh, and it is a later one", Incident{Lane: "fresh"}, asked{before: 1}, false},
		{"fresh, and it is slow", Incident{Lane: "fresh"}, asked{slow: true}, false},
		{"kept, and it is", Incident{Lane: "kept"}, asked{before: 3}, true},
		{"kept, and it is the first", Incident{Lane: "kept"}, asked{}, false},
		{"fast, and it is slow", Incident{Lane: "fast"}, asked{slow: true}, false},
		{"slow, and it is", Incident{Lane: "slow"}, asked{slow: true}, true},
		{"slow, and it is not", Incident{Lane: "slow"}, asked{}, false},
		{"old's", Incident{Role: "old"}, asked{inst: old}, true},
		{"old's, and it is new's", Incident{Role: "old"}, asked{inst: fresh}, false},
		{"new's, and it is nobody's", Incident{Role: "new"}, asked{}, false},
		{"made before", Incident{Made: true}, asked{made: before}, true},
		{"made after", Incident{Made: true}, asked{made: after}, false},
	} {
		if got := c.i.fits(c.q, began); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// An incident lasts its time, or until a mark; a share, a count and a single
// instance bound it.
func TestWhenAnIncidentStrikes(t *testing.T) {
	m := newMarks()
	x := newIncidents(Scene{Incidents: []Incident{
		{Kind: "a", At: Moment{MarkDeploy, 0}, For: 100 * ms},
		{Kind: "b", At: Moment{MarkDeploy, 0}, Until: Moment{MarkCutover, 0}},
		{Kind: "c", At: Moment{MarkDeploy, 0}, Count: 2},
		{Kind: "d", At: Moment{MarkDeploy, 0}, Share: 0.3},
		{Kind: "e", At: Moment{MarkDeploy, time.Hour}},
		{Kind: "f", At: Moment{MarkDeploy, 0}, One: true},
	}}, m)
	one, other := &instance{}, &instance{}
	strikes := func(kind string, in *instance) bool { return x.strike(asked{inst: in}, kind) != nil }
	want := func(when string, kinds string) {
		t.Helper()
		got := ""
		for _, kind := range strings.Split("abcef", "") {
			if strikes(kind, one) {
				got += kind
			}
		}
		if got != kinds {
			t.Errorf("%s: %q strike, want %q", when, got, kinds)
		}
	}
	want("before the mark", "")
	m.set(MarkDeploy)
	want("at the mark", "abcf")
	if strikes("f", other) {
		t.Error("f strikes a second instance")
	}
	n := 0
	for range 1000 {
		if strikes("d", one) {
			n++
		}
	}
	if n < 200 || n > 400 {
		t.Errorf("a share of 0.3 struck %d of 1000", n)
	}
	want("again", "abcf")
	if err := x.over(t.Context(), &x.list[0].Incident); err != nil {
		t.Fatal(err)
	}
	m.set(MarkCutover)
	want("after their ends", "f")
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]Moment{
		"cutover":      {MarkCutover, 0},
		"old-end+1.5s": {MarkOldEnd, 1500 * time.Millisecond},
		"deploy+90ms":  {MarkDeploy, 90 * time.Millisecond},
	} {
		var m Moment
		if err := m.UnmarshalText([]byte(text)); err != nil || m != want || m.validate() != nil {
			t.Errorf("%q is %+v: %v", text, m, err)
		}
		if back, err := m.MarshalText(); err != nil || string(back) != text {
			t.Errorf("%+v as text: %q, %v", m, back, err)
		}
	}
	for _, text := range []string{"cutover+", "cutover+soon", "cutover+-1s", "lunch", ""} {
		var m Moment
		if err := m.UnmarshalText([]byte(text)); err == nil && m.validate() == nil {
			t.Errorf("%q is taken for %+v", text, m)
		}
	}
}

func TestIncidentsAreValidated(t *testing.T) {
	at := Moment{Mark: MarkStart}
	for _, c := range []struct {
		front string
		i     Incident
		want  string
	}{
		{FrontEdge, Incident{Kind: "flood", At: at}, "no such kind"},
		{FrontDirect, Incident{Kind: IncidentStatus, Status: 500, At: at}, "a direct front"},
		{FrontEdge, Incident{Kind: IncidentStatus, At: at}, "status"},
		{FrontEdge, Incident{Kind: IncidentReset}, "moment"},
		{FrontEdge, Incident{Kind: IncidentReset, At: at, Share: 2}, "share"},
		{FrontEdge, Incident{Kind: IncidentReset, At: at, Lane: "left"}, "lane"},
		{FrontEdge, Incident{Kind: IncidentReset, At: at, Role: "both"}, "role"},
		{FrontEdge, Incident{Kind: IncidentReset, At: at, As: "me"}, "as must"},
		{FrontEdge, Incident{Kind: IncidentReset, At: at, For: config.Duration(1), Until: at}, "for or until"},
		{FrontEdge, Incident{Kind: IncidentTruncate, At: at}, "visible"},
		{FrontEdge, Incident{Kind: IncidentCertificate, At: at}, "renewed"},
	} {
		if err := c.i.validate(c.front); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q in it", c.i, err, c.want)
		}
	}
}

// An instance's loss is made good by another, and the truth knows.
func TestRetry(t *testing.T) {
	s := tiny(FrontEdge)
	s.Retry, s.Instances = true, 2
	b := startBox(t, s)
	c := dial(t, b.address())
	c.send("/slow?seconds=0.5", "lost")
	var on *instance
	eventually(t, "it is on an instance", func() bool {
		b.ledger.mu.Lock()
		defer b.ledger.mu.Unlock()
		if len(b.ledger.entries) > 0 && b.ledger.entries[0].reached {
			on = b.ledger.entries[0].inst
		}
		return on != nil
	})
	on.kill()
	r, err := c.read()
	if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("X-Instance") == on.id {
		t.Errorf("got %v, %+v; want the other instance's answer", err, r.Response)
	}
	if truth := b.Truth(); len(truth.Drops) != 0 || strings.Join(truth.RunTwice, " ") != "lost" {
		t.Errorf("drops %v, run twice %v", drops(truth), truth.RunTwice)
	}
}
