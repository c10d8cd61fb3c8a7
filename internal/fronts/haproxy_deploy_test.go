//go:build linux

package fronts

import (
	"context"
	"fmt"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A drain: new serves beside old, then old gets nothing more, and is stopped
// once it has answered all that it had.
func TestHAProxyDrain(t *testing.T) {
	t.Parallel()
	need(t, "haproxy")
	watch(t, func(t *testing.T) *truth {
		apps := startOld(t)
		front := startHAProxy(t, apps.old.Addr())
		p := probe(t, front.port, func(ctx context.Context) error {
			if err := front.besideOld(ctx, apps); err != nil {
				return err
			}
			if err := front.state(ctx, "old", "drain"); err != nil {
				return err
			}
			if err := front.drained(ctx, "old"); err != nil {
				return err
			}
			apps.stopOld(apps.old.Terminate)
			return nil
		})
		log, unlogged := front.finish()
		tr := compare(t, p, apps, log)
		tr.checkUnlogged(unlogged)
		if len(tr.lost) > 0 {
			t.Errorf("a drain lost %v", tr.lost)
		}
		if n := p.Analysis.Requests.Reconnects; n != 0 {
			t.Errorf("%d reconnects, and HAProxy closed no connection", n)
		}
		return tr
	}, func(tr *truth) {
		tr.checkDrained()
		if o := tr.p.Analysis.Cutover.Overlap; o <= 0 {
			tr.t.Errorf("overlap %v, and both served", o)
		}
	})
}

// besideOld starts new and lets it in, until it has served a while.
func (h *haproxy) besideOld(ctx context.Context, apps *pair) error {
	if err := apps.startNew(ctx); err != nil {
		return err
	}
	if err := h.place(ctx, apps.new.Addr()); err != nil {
		return err
	}
	return apps.new.serving(ctx, overlapped)
}

// A kill of an app that HAProxy still passes requests to, beside new.
func TestHAProxyKillInRotation(t *testing.T) {
	t.Parallel()
	killBehindHAProxy(t, func(ctx context.Context, h *haproxy, apps *pair) error {
		if err := h.besideOld(ctx, apps); err != nil {
			return err
		}
		return h.killOld(ctx, apps)
	})
}

// A kill of the only app: nothing answers until HAProxy is told of new.
func TestHAProxyKillAlone(t *testing.T) {
	t.Parallel()
	killBehindHAProxy(t, func(ctx context.Context, h *haproxy, apps *pair) error {
		if err := apps.startNew(ctx); err != nil {
			return err
		}
		if err := h.killOld(ctx, apps); err != nil {
			return err
		}
		return h.place(ctx, apps.new.Addr())
	})
}

// killOld kills old, and takes it out once enough was lost.
func (h *haproxy) killOld(ctx context.Context, apps *pair) error {
	apps.stopOld(apps.old.Kill)
	if err := until(ctx, func() bool { return losses(h.log()) >= refused }); err != nil {
		return fmt.Errorf("HAProxy does not refuse: %w", err)
	}
	return h.state(ctx, "old", "maint")
}

func killBehindHAProxy(t *testing.T, deploy func(context.Context, *haproxy, *pair) error) {
	need(t, "haproxy")
	var apps *pair
	watch(t, func(t *testing.T) *truth {
		apps = startOld(t)
		front := startHAProxy(t, apps.old.Addr())
		p := probe(t, front.port, func(ctx context.Context) error { return deploy(ctx, front, apps) })
		log, unlogged := front.finish()
		tr := compare(t, p, apps, log)
		tr.checkUnlogged(unlogged)
		tr.checkUnseen(silentClose(tr, apps))
		return tr
	}, func(tr *truth) { tr.checkKilled(apps) })
}

// checkUnlogged: HAProxy counted more requests than it logged, by just those
// that are said to be lost without a line. A request that was quietly sent a
// second time would be one more.
func (tr *truth) checkUnlogged(n int) {
	tr.t.Helper()
	if n != len(tr.unseen) {
		tr.t.Errorf("HAProxy took %d requests that it did not log; of those that were sent it logged all but %v", n, tr.unseen)
	}
}

// silentClose explains what HAProxy did not log: it answers nothing and closes
// the client's connection, for the client to try again, where an app's
// connection ended under a request that was not the client's first.
func silentClose(tr *truth, apps *pair) func(string, *sample.Sample, []seen) string {
	return func(id string, s *sample.Sample, before []seen) string {
		if _, took := tr.new[id]; took {
			return ""
		}
		if _, took := tr.old[id]; took {
			return fmt.Sprintf("old took it and was killed; HAProxy closed port %d after %d requests", s.LocalPort, len(before))
		}
		// Sent on a connection whose end HAProxy had not noticed yet.
		if !tr.crossed(s, apps.stop) {
			return ""
		}
		return fmt.Sprintf("it crossed old's death on the way there; HAProxy closed port %d after %d requests", s.LocalPort, len(before))
	}
}
