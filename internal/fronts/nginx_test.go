//go:build linux

package fronts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nginx is an nginx in front of the apps: two workers, connections kept to both
// sides, and nothing tried twice.
type nginx struct {
	*server
	t    *testing.T
	path string
	dir  string
	port int

	closings []span // when workers that were leaving closed idle connections
}

const nginxConf = `
daemon off;
worker_processes 2;
pid %[1]s/pid;
error_log %[1]s/error.log notice;
events { worker_connections 512; }
http {
  log_format ids '$http_x_cutwatch_id|$remote_port|$status|$request_completion|$upstream_addr|$pid';
  access_log %[1]s/access.log ids;
  client_body_temp_path %[1]s/tmp;
  proxy_temp_path %[1]s/tmp;
  fastcgi_temp_path %[1]s/tmp;
  uwsgi_temp_path %[1]s/tmp;
  scgi_temp_path %[1]s/tmp;
  keepalive_requests %[2]d;
  upstream app {
    %[4]s
    keepalive 16;
  }
  server {
    listen 127.0.0.1:%[3]d;
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_next_upstream off;
    }
  }
}
`

// nginxRequests is how many requests a client's connection may carry; the
// answer to the last announces its close. The kept lane's connections, used in
// turn, come to it every 3 s, and not when the baseline has just ended.
const nginxRequests = 15

// startNginx starts an nginx that passes everything to the app at upstream.
func startNginx(t *testing.T, upstream string) *nginx {
	t.Helper()
	n := &nginx{t: t, path: need(t, "nginx"), dir: t.TempDir()}
	n.server, n.port = startFront(t, func(port int) (*server, error) {
		if err := n.configure(port, upstream); err != nil {
			return nil, err
		}
		return spawn(nil, n.path, n.args()...)
	})
	return n
}

func (n *nginx) args() []string {
	return []string{"-p", n.dir, "-e", filepath.Join(n.dir, "error.log"), "-c", filepath.Join(n.dir, "conf")}
}

func (n *nginx) configure(port int, upstreams ...string) error {
	var servers strings.Builder
	for _, u := range upstreams {
		// A failed app is asked again with the next request, as nothing marks it.
		fmt.Fprintf(&servers, "server %s max_fails=0; ", u)
	}
	text := fmt.Sprintf(nginxConf, n.dir, nginxRequests, port, servers.String())
	return os.WriteFile(filepath.Join(n.dir, "conf"), []byte(text), 0o644)
}

// reload has nginx pass new requests to these apps from now on, and returns
// once it does. The workers before close idle connections, and finish what they
// have in hand.
func (n *nginx) reload(ctx context.Context, upstreams ...string) error {
	if err := n.configure(n.port, upstreams...); err != nil {
		return err
	}
	before, from := n.workers(), time.Now()
	args := append(n.args(), "-s", "reload")
	if out, err := exec.CommandContext(ctx, n.path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("nginx -s reload: %w: %s", err, out)
	}
	err := until(ctx, func() bool {
		w := n.workers()
		return w.started >= before.started+2 && w.leaving >= before.leaving+2
	})
	if err != nil {
		return fmt.Errorf("the workers were not replaced: %w", err)
	}
	n.closings = append(n.closings, span{from, time.Now()})
	return nil
}

// drained returns once only the workers of the last configuration are left.
func (n *nginx) drained(ctx context.Context) error {
	if err := until(ctx, func() bool { w := n.workers(); return w.started-len(w.gone) == 2 }); err != nil {
		return fmt.Errorf("old workers are left: %w", err)
	}
	return nil
}

// workers is what the error log says of them.
type workers struct {
	started, leaving int
	gone             map[string]bool // by process id
}

func (n *nginx) workers() workers {
	w := workers{gone: map[string]bool{}}
	for line := range strings.Lines(readFile(n.t, filepath.Join(n.dir, "error.log"))) {
		if strings.Contains(line, ": start worker process ") {
			w.started++
		}
		if strings.Contains(line, ": gracefully shutting down") {
			w.leaving++
		}
		if _, rest, ok := strings.Cut(line, ": worker process "); ok {
			if pid, _, ok := strings.Cut(rest, " exited with code "); ok {
				w.gone[pid] = true
			}
		}
	}
	return w
}

// log is what nginx has logged so far.
func (n *nginx) log() []seen {
	var list []seen
	for line := range strings.Lines(readFile(n.t, filepath.Join(n.dir, "access.log"))) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 6 {
			n.t.Errorf("access log: %q", line)
			continue
		}
		list = append(list, seen{
			id: f[0], port: number(n.t, f[1]), status: number(n.t, f[2]),
			whole: f[3] == "OK", worker: f[5], line: line,
		})
	}
	return list
}

// finish ends nginx and returns its whole log.
func (n *nginx) finish() []seen {
	n.t.Helper()
	n.end(n.t, syscall.SIGQUIT)
	if n.err != nil {
		n.t.Errorf("nginx: %v: %s", n.err, n.said.String())
	}
	return n.log()
}

func readFile(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("read %s: %v", path, err)
	}
	return string(data)
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Errorf("not a number in a log: %v", err)
	}
	return n
}
