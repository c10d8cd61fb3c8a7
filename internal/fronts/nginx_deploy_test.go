//go:build linux

package fronts

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A swap of the upstream by a reload: old workers close their clients' idle
// connections and finish the rest, and only then is old stopped. Nothing is
// dropped, however many connections are closed.
func TestNginxReload(t *testing.T) {
	t.Parallel()
	need(t, "nginx")
	var gone map[string]bool
	watch(t, func(t *testing.T) *truth {
		apps := startOld(t)
		front := startNginx(t, apps.old.Addr())
		p := probe(t, front.port, func(ctx context.Context) error {
			if err := apps.startNew(ctx); err != nil {
				return err
			}
			if err := front.reload(ctx, apps.new.Addr()); err != nil {
				return err
			}
			if err := front.drained(ctx); err != nil {
				return err
			}
			apps.stopOld(apps.old.Terminate)
			return nil
		})
		gone = front.workers().gone
		tr := compare(t, p, apps, front.finish())
		tr.checkUnseen(front.crossedClose(tr, gone))
		return tr
	}, func(tr *truth) {
		tr.checkDrained()
		checkReconnects(tr, gone)
	})
}

// crossedClose explains what nginx did not log: a worker that was leaving
// closed an idle connection while the request was on its way to it.
func (n *nginx) crossedClose(tr *truth, gone map[string]bool) func(string, *sample.Sample, []seen) string {
	return func(id string, s *sample.Sample, before []seen) string {
		if _, took := tr.old[id]; took {
			return ""
		}
		if _, took := tr.new[id]; took {
			return ""
		}
		if !slices.ContainsFunc(n.closings, func(c span) bool { return tr.crossed(s, c) }) {
			return ""
		}
		worker := before[len(before)-1].worker
		for _, b := range before {
			if b.worker != worker || !gone[worker] {
				return ""
			}
		}
		return fmt.Sprintf("worker %s, which left in the reload, closed port %d after %d requests", worker, s.LocalPort, len(before))
	}
}

// checkReconnects: every kept connection that nginx closed was replaced and
// counted, those that it announced and those that it closed idle.
func checkReconnects(tr *truth, gone map[string]bool) {
	tr.t.Helper()
	conns, why, atReload := map[int64]bool{}, map[string]int{}, 0
	for _, s := range tr.p.samples {
		if s.Lane == sample.Kept && !conns[s.Conn] {
			conns[s.Conn] = true
			why[s.Reconnect]++
		}
	}
	last := map[int64]*sample.Sample{} // of each kept connection, as far as nginx logged it
	for id, s := range tr.p.ids {
		if _, ok := tr.log[id]; ok && s.Lane == sample.Kept && (last[s.Conn] == nil || last[s.Conn].Before < s.Before) {
			last[s.Conn] = s
		}
	}
	for _, s := range last {
		if gone[tr.log[sample.RequestID(tr.p.Head.ID, s.N)].worker] && s.Before < nginxRequests-1 {
			atReload++
		}
	}
	want := len(conns) - connections
	if got := tr.p.Analysis.Requests.Reconnects; got != want-why["failure"] {
		tr.t.Errorf("%d reconnects, by the connections %d, of them %d after failures", got, want, why["failure"])
	}
	// An idle connection is closed silently, one with a request in flight after
	// a word in the answer.
	if atReload < connections/2 || why["idle-close"] < connections/2 || why["connection-close"] < connections {
		tr.t.Errorf("%d connections were closed by the reload, and there were %d; why others replaced them: %v", atReload, connections, why)
	}
	tr.t.Logf("%d connections closed by the reload; reconnects: %v", atReload, why)
}

// A kill of an app that nginx still passes requests to, beside new: what is in
// flight there is lost, and a share of what comes until nginx is told.
func TestNginxKillInRotation(t *testing.T) {
	t.Parallel()
	killBehindNginx(t, true)
}

// A kill of the only app: nothing answers until nginx knows of new.
func TestNginxKillAlone(t *testing.T) {
	t.Parallel()
	killBehindNginx(t, false)
}

func killBehindNginx(t *testing.T, inRotation bool) {
	need(t, "nginx")
	var apps *pair
	watch(t, func(t *testing.T) *truth {
		apps = startOld(t)
		front := startNginx(t, apps.old.Addr())
		p := probe(t, front.port, front.killing(apps, inRotation))
		gone := front.workers().gone
		tr := compare(t, p, apps, front.finish())
		tr.checkUnseen(front.crossedClose(tr, gone))
		for _, id := range tr.lost {
			if line, ok := tr.log[id]; ok && line.status != http.StatusBadGateway {
				t.Errorf("nginx lost a request in a way of its own: %q", line.line)
			}
		}
		return tr
	}, func(tr *truth) { tr.checkKilled(apps) })
}

// killing is the deploy that kills old.
func (n *nginx) killing(apps *pair, inRotation bool) rollout {
	return func(ctx context.Context) error {
		if err := apps.startNew(ctx); err != nil {
			return err
		}
		if inRotation {
			if err := n.reload(ctx, apps.old.Addr(), apps.new.Addr()); err != nil {
				return err
			}
			if err := apps.new.serving(ctx, overlapped); err != nil {
				return err
			}
		}
		apps.stopOld(apps.old.Kill)
		if err := until(ctx, func() bool { return losses(n.log()) >= refused }); err != nil {
			return fmt.Errorf("nginx does not refuse: %w", err)
		}
		if err := n.reload(ctx, apps.new.Addr()); err != nil {
			return err
		}
		return n.drained(ctx)
	}
}
