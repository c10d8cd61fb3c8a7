package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// dropper answers five requests on each connection, reads the sixth whole, and
// then ends the connection without an answer. It knows what it dropped.
type dropper struct {
	end func(*net.TCPConn)

	mu       sync.Mutex
	dropped  map[string]bool
	answered map[string]bool
}

func (d *dropper) serve(c *net.TCPConn) {
	requests(c, func(n int, req *http.Request) (string, bool) {
		id := req.Header.Get("X-Request-Id")
		d.mu.Lock()
		defer d.mu.Unlock()
		if n < 5 {
			d.answered[id] = true
			return okAnswer, true
		}
		d.dropped[id] = true
		d.end(c)
		return "", false
	})
}

func (d *dropper) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.dropped)
}

func newDropper(rst bool) *dropper {
	d := &dropper{dropped: map[string]bool{}, answered: map[string]bool{}, end: func(c *net.TCPConn) { _ = c.Close() }}
	if rst {
		d.end = reset
	}
	return d
}

// What the probe reports as failed is what the service dropped: the same requests.
func TestEveryDropIsSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		rst   bool
		class sample.Class
	}{{"FIN", false, sample.EOF}, {"RST", true, sample.Reset}} {
		t.Run(c.name, func(t *testing.T) {
			d := newDropper(c.rst)
			p, rec := newProbe(t, settings{"url": server(t, d.serve), "connections": "4", "rate": "300/s"})
			runUntil(t, p, func() bool { return d.count() >= 40 })

			failed, answered := map[string]bool{}, map[string]bool{}
			for _, s := range rec.samples("") {
				id := sample.RequestID("test", s.N)
				switch {
				case !s.Failed():
					answered[id] = true
				case s.Class != c.class || s.Phase != sample.PhaseResponse || s.Before != 5:
					t.Errorf("%s failed as %s in phase %s after %d others (%s)", id, s.Class, s.Phase, s.Before, s.Error)
					fallthrough
				default:
					failed[id] = true
				}
			}
			for id := range d.answered {
				if strings.HasSuffix(id, serviceMark) { // follow-ups are in no count
					delete(d.answered, id)
				}
			}
			if diff := cmp.Diff(d.dropped, failed); diff != "" {
				t.Errorf("dropped by the service (-) and seen by the probe (+):\n%s", diff)
			}
			if diff := cmp.Diff(d.answered, answered); diff != "" {
				t.Errorf("answered by the service (-) and seen by the probe (+):\n%s", diff)
			}
		})
	}
}

// The test above proves something: the same service looks whole to an ordinary client.
func TestOrdinaryClientSeesNoDrop(t *testing.T) {
	for _, rst := range []bool{false, true} {
		d := newDropper(rst)
		url := server(t, d.serve)
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 4, MaxIdleConnsPerHost: 4}}
		var workers sync.WaitGroup
		var n atomic.Int64
		for range 4 {
			workers.Go(func() {
				for range 50 {
					if err := get(t.Context(), client, url, fmt.Sprint(n.Add(1))); err != nil {
						t.Errorf("the ordinary client saw an error: %v", err)
					}
				}
			})
		}
		workers.Wait()
		client.CloseIdleConnections()
		if d.count() < 10 {
			t.Errorf("the service dropped %d requests only", d.count())
		}
	}
}

func get(ctx context.Context, client *http.Client, url, id string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set(requestIDHeader, id)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
