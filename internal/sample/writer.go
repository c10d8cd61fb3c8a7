package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	// flushEvery bounds what a probe that is killed loses; four times as
	// often as the second that is promised, so that a busy machine keeps it.
	flushEvery = 250 * time.Millisecond
	flushAt    = 1 << 20 // bytes pending that are written at once
	maxPending = 4 << 20 // bytes pending at which Write waits, so that memory stays flat
	maxLine    = 1 << 20 // bytes of one line
	window     = 256 << 10
)

// ErrClosed is returned by a Write after Close.
var ErrClosed = errors.New("record samples: the file is closed")

// Writer streams lines to a samples file. It holds at most a quarter of a
// second of lines, or a few megabytes, in memory; the rest is in the file,
// readable, whatever becomes of the process.
type Writer struct {
	file *os.File
	zip  *zstd.Encoder

	mu      sync.Mutex
	room    sync.Cond // pending shrank, or err is set
	pending []byte
	spare   []byte // the other buffer: while one is compressed, the other fills
	err     error  // the first error of the file
	closed  bool

	wake chan struct{} // pending is long: write at once
	stop chan struct{}
	done chan struct{} // the flusher is gone
}

// empty takes the file from earlier recordings, but from none that is still
// being made.
func empty(file *os.File) error {
	if err := lock(file); err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err // a device has nothing to be emptied of
	}
	return file.Truncate(0)
}

// Create makes the file, or empties it, and writes its first line. The file
// can be read from then on.
func Create(path string, head Run) (*Writer, error) {
	line, err := encode(Line{Run: &head})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, recordError(err)
	}
	if err := empty(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	zip, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record samples: %w", err), file.Close())
	}
	w := &Writer{
		file: file, zip: zip, pending: line,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.room.L = &w.mu
	w.flush()
	if w.err != nil {
		return nil, errors.Join(w.err, file.Close())
	}
	go w.flushLoop()
	return w, nil
}

// Write records one line. It may be called from many goroutines at a time, and
// returns at once unless the disk is megabytes behind. Once the file could not
// be written (a full disk, say), every Write returns that first error; what was
// recorded before it stays readable.
func (w *Writer) Write(line Line) error {
	data, err := encode(line)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) >= maxPending && w.err == nil && !w.closed {
		w.room.Wait()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return ErrClosed
	}
	w.pending = append(w.pending, data...)
	if len(w.pending) >= flushAt {
		select {
		case w.wake <- struct{}{}:
		default: // woken already
		}
	}
	return nil
}

// Close writes the last line, sees that everything is on the disk and closes
// the file. It returns the first error that writing met, then or before.
func (w *Writer) Close(end End) error {
	line, err := encode(Line{End: &end})
	if err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.closed = true
	w.pending = append(w.pending, line...)
	w.room.Broadcast()
	w.mu.Unlock()

	close(w.stop)
	<-w.done
	w.flush()
	if w.err == nil {
		w.fail(w.zip.Close())
	}
	if w.err == nil {
		w.fail(w.file.Sync())
	}
	w.fail(w.file.Close())
	return w.err
}

func (w *Writer) flushLoop() {
	defer close(w.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-w.wake:
		case <-w.stop:
			return
		}
		w.flush()
	}
}

// flush writes what is pending to the file. Only one goroutine calls it at a
// time: Create, then the flusher, then Close. The lock is not held while it
// compresses and writes, so that Write goes on.
func (w *Writer) flush() {
	w.mu.Lock()
	data := w.pending
	w.pending, w.spare = w.spare[:0], nil
	failed := w.err != nil
	w.room.Broadcast()
	w.mu.Unlock()

	if len(data) > 0 && !failed {
		_, err := w.zip.Write(data)
		if err == nil {
			err = w.zip.Flush() // ends the block: a reader sees all of it
		}
		w.fail(err)
	}
	w.mu.Lock()
	w.spare = data
	w.mu.Unlock()
}

// fail keeps the first error of the file and lets those go who wait for room.
func (w *Writer) fail(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = recordError(err)
	}
	w.room.Broadcast()
}

func recordError(err error) error {
	return fmt.Errorf("record samples: %w; free some space there, or give report-dir another folder", err)
}

// encode is the line's JSON with its newline.
func encode(line Line) ([]byte, error) {
	if problem := line.problem(); problem != "" {
		return nil, fmt.Errorf("record samples: a line that no reader would take: %s", problem)
	}
	data, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("record samples: %w", err)
	}
	if len(data) >= maxLine {
		return nil, fmt.Errorf("record samples: a line of %d bytes; at most %d can be read back", len(data), maxLine-1)
	}
	return append(data, '\n'), nil
}
