package sidecar

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/moby/moby/client"
)

// Where a probe's container has its files.
const (
	Dir       = "/cutwatch"         // the marks
	ReportDir = "/cutwatch/report"  // what the probe writes
	Earlier   = "/cutwatch/history" // earlier results
)

const (
	maxMark   = 16 << 20 // bytes
	maxReport = 4 << 30  // bytes, all files together
	maxFiles  = 100      // in a report
)

// archive is a tar of files and folders: those whose names end in "/".
func archive(files []File) (*bytes.Buffer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: strings.TrimPrefix(f.Path, "/"), ModTime: time.Now(), Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(f.Data))}
		if strings.HasSuffix(f.Path, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	return &out, w.Close()
}

// File is a file for a probe's container; its path ends in "/" where it is a folder.
type File struct {
	Path string
	Data []byte
}

func (p *Probe) put(ctx context.Context, files []File) error {
	content, err := archive(files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err = p.engine.api.CopyToContainer(ctx, p.ID, client.CopyToContainerOptions{DestinationPath: "/", Content: content})
	return err
}

// Mark leaves a mark in the probe's folder.
func (p *Probe) Mark(ctx context.Context, name string, mark any) error {
	data, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return p.put(ctx, []File{{Path: path.Join(Dir, name), Data: append(data, '\n')}})
}

// Read reads a mark out of the probe's folder and tells whether it was there.
func (p *Probe) Read(ctx context.Context, name string, mark any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	out, err := p.engine.api.CopyFromContainer(ctx, p.ID, client.CopyFromContainerOptions{SourcePath: path.Join(Dir, name)})
	if Gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer out.Content.Close()
	in := tar.NewReader(io.LimitReader(out.Content, maxMark))
	if _, err := in.Next(); err != nil {
		return false, fmt.Errorf("the mark %s cannot be read: %w", name, err)
	}
	if err := json.NewDecoder(in).Decode(mark); err != nil {
		return false, fmt.Errorf("the mark %s cannot be read: %w", name, err)
	}
	return true, nil
}

// Fetch copies the files that the probe wrote into a folder, each in the place
// of one that is there, and tells their paths. No file at all is no error.
func (p *Probe) Fetch(ctx context.Context, dir string) ([]string, error) {
	out, err := p.engine.api.CopyFromContainer(ctx, p.ID, client.CopyFromContainerOptions{SourcePath: ReportDir})
	if Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer out.Content.Close()
	return extract(io.LimitReader(out.Content, maxReport), dir)
}

// Open opens a file that the probe wrote, and reads it where it is.
func (p *Probe) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	out, err := p.engine.api.CopyFromContainer(ctx, p.ID, client.CopyFromContainerOptions{SourcePath: path.Join(ReportDir, name)})
	if err != nil {
		return nil, err
	}
	in := tar.NewReader(io.LimitReader(out.Content, maxReport))
	if _, err := in.Next(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be read: %w", name, err), out.Content.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{in, out.Content}, nil
}

// extract writes the regular files at the top of a tar's folder into dir.
func extract(r io.Reader, dir string) ([]string, error) {
	var written []string
	in := tar.NewReader(r)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, fmt.Errorf("the report breaks off: %w", err)
		}
		name, ok := reportFile(h)
		if !ok {
			continue
		}
		if len(written) == maxFiles {
			return written, fmt.Errorf("the report has more than %d files", maxFiles)
		}
		target := filepath.Join(dir, name)
		if err := writeFile(target, in); err != nil {
			return written, err
		}
		written = append(written, target)
	}
}

// reportFile is the name of a file right in the report's folder; false for
// anything else. The names come from a container in which only we run, and are
// not trusted all the same.
func reportFile(h *tar.Header) (string, bool) {
	parts := strings.Split(h.Name, "/")
	if h.Typeflag != tar.TypeReg || len(parts) != 2 {
		return "", false
	}
	name := parts[1]
	return name, name != "" && name[0] != '.' && filepath.IsLocal(name) && !strings.ContainsAny(name, "\\\x00")
}

// writeFile puts a file in path's place, whole or not at all.
func writeFile(path string, r io.Reader) (err error) {
	f, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o644), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
