//go:build linux

package fronts

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// haproxy is an HAProxy in front of the apps, without checks and retries. What
// it does is changed over its runtime socket.
type haproxy struct {
	*server
	t    *testing.T
	dir  string
	port int
}

const haproxyConf = `
global
    log stdout len 512 format raw local0 info
    stats socket %[1]s/sock mode 600 level admin
    hard-stop-after 10s
    nbthread 1
    maxconn 500
defaults
    mode http
    log global
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 0
frontend in
    bind 127.0.0.1:%[2]d
    http-request capture req.hdr(X-Cutwatch-Id) len 64
    log-format "request %%[capture.req.hdr(0)] %%cp %%ST %%ts %%s"
    default_backend app
backend app
    balance roundrobin
    server old %[3]s
    server new 127.0.0.1:1 disabled
`

// startHAProxy starts an HAProxy whose server "old" is the app at upstream, and
// whose server "new" has no app yet.
func startHAProxy(t *testing.T, upstream string) *haproxy {
	t.Helper()
	path := need(t, "haproxy")
	// Not the test's own folder: the path of a socket is at most 108 bytes long.
	dir, err := os.MkdirTemp("", "fronts")
	if err != nil {
		t.Fatal(err)
	}
	h := &haproxy{t: t, dir: dir}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// A file takes every line, where a socket could be full; and from one thread,
	// where of two that write at a time one would drop its own.
	out, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() }) //nolint:errcheck // HAProxy writes it, by a descriptor of its own
	h.server, h.port = startFront(t, func(port int) (*server, error) {
		conf := filepath.Join(dir, "conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, haproxyConf, dir, port, upstream), 0o644); err != nil {
			return nil, err
		}
		return spawn(out, path, "-db", "-f", conf)
	})
	return h
}

// ask gives one command to the runtime socket and returns the answer.
func (h *haproxy) ask(ctx context.Context, command string) (string, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", filepath.Join(h.dir, "sock"))
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // read to its end
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, command+"\n"); err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	return strings.TrimSpace(string(answer)), nil
}

// place tells HAProxy where the app of its server "new" is, and lets it in.
func (h *haproxy) place(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	command := fmt.Sprintf("set server app/new addr %s port %s", host, port)
	answer, err := h.ask(ctx, command)
	if err != nil {
		return err
	}
	if !strings.Contains(answer, "changed from") {
		return fmt.Errorf("%s: %s", command, answer)
	}
	return h.state(ctx, "new", "ready")
}

// state sets a server ready, to drain or to maint.
func (h *haproxy) state(ctx context.Context, name, state string) error {
	command := fmt.Sprintf("set server app/%s state %s", name, state)
	answer, err := h.ask(ctx, command)
	if err == nil && answer != "" {
		err = fmt.Errorf("%s: %s", command, answer)
	}
	return err
}

// drained returns once a server has no request in flight.
func (h *haproxy) drained(ctx context.Context, name string) error {
	var failed error
	err := until(ctx, func() bool {
		var n int
		n, failed = h.stat(ctx, "app", name, "scur")
		return n == 0 || failed != nil
	})
	return errors.Join(err, failed)
}

// stat is one of HAProxy's own counters.
func (h *haproxy) stat(ctx context.Context, proxy, name, column string) (int, error) {
	answer, err := h.ask(ctx, "show stat")
	if err != nil {
		return 0, err
	}
	r := csv.NewReader(strings.NewReader(answer))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return 0, fmt.Errorf("show stat: %w", err)
	}
	at := slices.Index(rows[0], column)
	for _, row := range rows {
		if at >= 0 && len(row) > at && strings.TrimPrefix(row[0], "# ") == proxy && row[1] == name {
			return strconv.Atoi(row[at])
		}
	}
	return 0, fmt.Errorf("show stat does not tell %s of %s/%s: %s", column, proxy, name, answer)
}

// log is what HAProxy has logged so far.
func (h *haproxy) log() []seen {
	var list []seen
	for line := range strings.Lines(readFile(h.t, filepath.Join(h.dir, "log"))) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		f := strings.Fields(line)
		if f[0] != "request" {
			continue // a word about a server
		}
		if f = f[1:]; len(f) != 5 {
			h.t.Errorf("log: %q", line)
			continue
		}
		list = append(list, seen{
			id: f[0], port: number(h.t, f[1]), status: number(h.t, f[2]),
			whole: f[3] == "--", line: line,
		})
	}
	return list
}

// finish ends HAProxy and returns its whole log. Its count of requests, which has
// connections without a request in it as the log has, says how many of them it
// did not log.
func (h *haproxy) finish() (log []seen, unlogged int) {
	h.t.Helper()
	ctx := context.Background()
	info, err := h.ask(ctx, "show info")
	if err != nil || !strings.Contains(info, "\nDroppedLogs: 0\n") {
		h.t.Errorf("HAProxy lost lines of its log (%v): %s", err, info)
	}
	taken, err := h.stat(ctx, "in", "FRONTEND", "req_tot")
	if err != nil {
		h.t.Fatal(err)
	}
	h.end(h.t, syscall.SIGUSR1)
	if h.err != nil {
		h.t.Errorf("HAProxy: %v: %s", h.err, h.said.String())
	}
	log = h.log()
	return log, taken - len(log)
}
