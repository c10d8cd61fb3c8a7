//go:build unix

package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

const serveEnv = "CUTWATCH_PROBE_BENCH_SERVE"

// The test binary, started anew, is the benchmarks' server: in a process of its
// own it does not share the scheduler or the CPU time that are measured.
func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() { // it ends with the process that began it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("http://" + l.Addr().String())
	fmt.Fprintln(os.Stderr, http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Version", "v1")
		_, _ = io.WriteString(w, "ok")
	})))
	os.Exit(1)
}

// serverProcess starts a server in a process of its own.
func serverProcess(b *testing.B) (url string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// keptFor runs the kept lane alone for a time and returns its requests, all good.
func keptFor(b *testing.B, given settings, length time.Duration) []*sample.Sample {
	b.Helper()
	p, rec := newProbe(b, given)
	ctx, cancel := context.WithTimeout(b.Context(), length)
	defer cancel()
	r := &run{Probe: p, ctx: ctx, requests: b.Context(), first: p.now()}
	r.startKept()
	r.fast.Wait()
	got := rec.samples("")
	for _, s := range got {
		if s.Failed() {
			b.Fatalf("request %d failed: %s %s", s.N, s.Class, s.Error)
		}
	}
	return got
}

// allFor is keptFor of a whole run.
func allFor(b *testing.B, given settings, length time.Duration) []*sample.Sample {
	b.Helper()
	p, rec := newProbe(b, given)
	ctx, cancel := context.WithTimeout(b.Context(), length)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		b.Fatal(err)
	}
	return rec.samples(sample.Kept)
}

func p99(values []int64) float64 {
	slices.Sort(values)
	return float64(values[len(values)*99/100]) / 1e6
}

// BenchmarkLateness500 compares how late the prober is at 500 requests/s with
// how late a bare loop that sleeps at that rate is on this machine. Both have rounds in
// turn, so that what else runs here disturbs both. One operation is a round.
func BenchmarkLateness500(b *testing.B) {
	const rate, length = 500, 2 * time.Second
	url := serverProcess(b)
	var probe, bare []int64
	for b.Loop() {
		for _, s := range allFor(b, settings{"url": url, "rate": fmt.Sprint(rate)}, length) {
			probe = append(probe, s.Late)
		}
		start := time.Now()
		for k := range int64(rate * length / time.Second) {
			due := start.Add(time.Duration(k) * time.Second / rate)
			time.Sleep(time.Until(due))
			bare = append(bare, int64(time.Since(due)))
		}
	}
	b.ReportMetric(p99(probe), "late-p99-ms")
	b.ReportMetric(p99(bare), "ticker-p99-ms")
	b.ReportMetric(p99(probe)/p99(bare), "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkThroughput reports requests per second of this process's CPU time,
// in a closed loop of 20 connections, beside net/http's Transport.
func BenchmarkThroughput(b *testing.B) {
	const length = 2 * time.Second
	url := serverProcess(b)
	b.Run("probe", func(b *testing.B) {
		n, before := 0, cpuTime(b)
		for b.Loop() {
			n += len(keptFor(b, settings{"url": url, "rate": "max", "connections": "20"}, length))
		}
		b.ReportMetric(float64(n)/(cpuTime(b)-before).Seconds(), "requests/cpu-s")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("transport", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
		defer client.CloseIdleConnections()
		n, before := 0, cpuTime(b)
		for b.Loop() {
			n += transportLoop(b, client, url, length)
		}
		b.ReportMetric(float64(n)/(cpuTime(b)-before).Seconds(), "requests/cpu-s")
		b.ReportMetric(0, "ns/op")
	})
}

func transportLoop(b *testing.B, client *http.Client, url string, length time.Duration) (n int) {
	ctx, cancel := context.WithTimeout(b.Context(), length)
	defer cancel()
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range 20 {
		workers.Go(func() {
			sent := 0
			for get(ctx, client, url, "id") == nil {
				sent++
			}
			mu.Lock()
			defer mu.Unlock()
			n += sent
		})
	}
	workers.Wait()
	return n
}

// cpuTime is what this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
