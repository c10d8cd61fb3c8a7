package sample_test

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// A disk that stands still, here a pipe that nobody empties, makes Write wait
// once a few megabytes are pending; when it goes on, nothing is lost.
func TestStalledDiskBoundsMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipe here:", err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that Create need not wait
	if err != nil {
		t.Fatal(err)
	}
	w, err := sample.Create(path, sampletest.Head())
	if err != nil {
		t.Fatal(err)
	}
	const lines, size = 400, 64 << 10 // 25 MB
	var written atomic.Int64
	done := make(chan error, 1)
	go func() {
		noise := make([]byte, size/2)
		for range lines {
			rand.Read(noise)
			if err := w.Write(sample.Line{Signal: &sample.Signal{Message: hex.EncodeToString(noise)}}); err != nil {
				done <- err
				return
			}
			written.Add(1)
		}
		done <- nil
	}()
	held := waitUntilStill(t, &written)
	t.Logf("%d kB taken before Write waited", held*size>>10)
	if held == 0 || held*size > 10<<20 {
		t.Errorf("%d lines of %d kB were taken from a disk that stands still, want at most 10 MB", held, size>>10)
	}
	go io.Copy(io.Discard, pipe) // ends when the pipe is closed
	if err := <-done; err != nil {
		t.Errorf("the disk goes on, and Write fails: %v", err)
	}
	if n := written.Load(); n != lines {
		t.Errorf("%d of %d lines written", n, lines)
	}
	if err := w.Close(sample.End{Reason: sample.EndComplete}); err == nil {
		t.Error("a pipe cannot be synced, and Close says nothing of it")
	}
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}

// waitUntilStill is the count once it has not changed for half a second.
func waitUntilStill(t *testing.T, count *atomic.Int64) int64 {
	t.Helper()
	begin, last, since := time.Now(), int64(0), time.Now()
	for time.Since(since) < 500*time.Millisecond {
		if n := count.Load(); n != last || n == 0 {
			last, since = n, time.Now()
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("still counting after %v: %d", time.Since(begin), last)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return last
}
