package sidecar

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// maxLine is how much of one line of a probe's log is shown, in bytes.
const maxLine = 8 << 10

// ended tells whether an error says that a container does not run (any more).
func ended(err error) bool { return errdefs.IsConflict(err) || errdefs.IsNotFound(err) }

// Follow passes on what the probe prints, line by line, from a moment on (zero:
// all) until it ends or ctx is done.
func (p *Probe) Follow(ctx context.Context, since time.Time, line func(string)) error {
	o := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true}
	if !since.IsZero() {
		o.Since = since.Format(time.RFC3339Nano)
	}
	logs, err := p.engine.api.ContainerLogs(ctx, p.ID, o)
	if err != nil && ctx.Err() != nil {
		return nil // told to stop before it began
	}
	if err != nil {
		return err
	}
	defer logs.Close()
	r, w := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(w, w, logs)
		w.CloseWithError(err)
	}()
	defer r.Close()
	err = eachLine(r, line)
	if ctx.Err() != nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // told to stop, or the engine was stopped: others see that
	}
	return err
}

// eachLine passes on lines, the beginning of those that are very long.
func eachLine(r io.Reader, line func(string)) error {
	in := bufio.NewReaderSize(r, maxLine)
	cut := false
	for {
		text, more, err := in.ReadLine()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if !cut {
			line(string(text))
		}
		cut = more
	}
}
