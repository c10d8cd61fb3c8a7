//go:build linux

package trouble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/run"
)

// network is a namespace of its own for the prober, and one link to it.
type network struct {
	ip        string // the program
	namespace string
	near, far string // ends of the link: ours, the prober's
	address   string // of our end
}

// newNetwork makes the namespace and the link. Both are gone when the test has ended.
func newNetwork(t *testing.T) *network {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "only root may make a network namespace")
	}
	id := fmt.Sprintf("%d-%d", os.Getpid()%100000, rand.IntN(1000))
	n := &network{ip: need(t, "ip"), namespace: "cutwatch-" + id, near: "cw" + id + "a", far: "cw" + id + "b"}
	// The addresses are those that are set aside for tests of networks.
	third, fourth := rand.IntN(256), 4*rand.IntN(64)
	n.address = fmt.Sprintf("198.18.%d.%d", third, fourth+1)
	n.run(t, "netns", "add", n.namespace)
	t.Cleanup(func() { n.remove(t) })
	n.run(t, "link", "add", n.near, "type", "veth", "peer", "name", n.far, "netns", n.namespace)
	n.run(t, "address", "add", n.address+"/30", "dev", n.near)
	n.run(t, "link", "set", n.near, "up")
	n.run(t, "-n", n.namespace, "address", "add", fmt.Sprintf("198.18.%d.%d/30", third, fourth+2), "dev", n.far)
	n.run(t, "-n", n.namespace, "link", "set", n.far, "up")
	return n
}

// wrapper runs a command in the namespace.
func (n *network) wrapper() []string { return []string{n.ip, "netns", "exec", n.namespace} }

func (n *network) run(t *testing.T, args ...string) {
	t.Helper()
	if err := n.command(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func (n *network) command(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, n.ip, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// remove takes the namespace away, and with it the link, and sees to it that
// both are gone.
func (n *network) remove(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the test's own has ended
	defer cancel()
	if err := n.command(ctx, "netns", "delete", n.namespace); err != nil {
		t.Error(err)
	}
	for ctx.Err() == nil {
		_, link := net.InterfaceByName(n.near)
		_, namespace := os.Stat("/run/netns/" + n.namespace)
		if link != nil && errors.Is(namespace, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the namespace %s or its link %s is left", n.namespace, n.near)
}

// The prober's network is gone for 2 s, in three ways, of which each looks
// different to it, while old answers and in the cutover.
func TestCutOff(t *testing.T) {
	t.Parallel()
	cutwatch := build(t)
	for _, how := range []struct {
		name      string
		cut, mend func(n *network) []string
	}{
		{"at the far side", // nothing comes and nothing is refused
			func(n *network) []string { return []string{"link", "set", n.near, "down"} },
			func(n *network) []string { return []string{"link", "set", n.near, "up"} }},
		{"at its own side", // there is no route
			func(n *network) []string { return []string{"-n", n.namespace, "link", "set", n.far, "down"} },
			func(n *network) []string { return []string{"-n", n.namespace, "link", "set", n.far, "up"} }},
		{"by a route", // the kernel refuses to send
			func(n *network) []string { return []string{"-n", n.namespace, "route", "add", "blackhole", n.address} },
			func(n *network) []string {
				return []string{"-n", n.namespace, "route", "delete", "blackhole", n.address}
			}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			inTrouble(t, func(t *testing.T) (problems, *record, *run.Outcome) {
				n, st := newNetwork(t), newStage(t)
				s := startService(t, n.address)
				p := startProber(t, cutwatch, s, st, n.wrapper()...)
				end := st.begun(t)
				time.Sleep(calm)
				n.run(t, how.cut(n)...)
				time.Sleep((trouble - overlap) / 2)
				s.swap(t)
				time.Sleep((trouble + overlap) / 2)
				n.run(t, how.mend(n)...)
				time.Sleep(calm)
				end()
				out := p.judged(t)
				return checkCutOff(out), s.tells(t), out
			})
		})
	}
}

func checkCutOff(out *run.Outcome) (wrong problems) {
	if n := out.Analysis.Requests.Failed; n < 20 {
		wrong.addf("%d requests failed, want 20 at least: twice a timeout passed without a network", n)
	}
	wrong.checkBlameless(out)
	wrong.checkHidden(out)
	return wrong
}
