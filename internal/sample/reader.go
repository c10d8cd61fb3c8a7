package sample

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/cutwatch/cutwatch/internal/config"
)

// Schema is the version of the file's format that is written and read.
const Schema = 1

// bufferSize holds most lines many times over.
const bufferSize = 16 << 10

// maxWindow bounds the decoder's memory. zstd's own command stays under it
// unless it is told --ultra or --long.
const maxWindow = 16 << 20

// zstdMagic begins a zstd frame.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Reader reads a samples file, or the plain NDJSON in it. It takes a file that
// was cut at any byte: every whole line up to the cut is there. Of a file that
// is something else, or damaged, it returns a [config.InputError] that names
// the file.
type Reader struct {
	name   string
	file   *os.File // nil where it reads something else
	zip    *zstd.Decoder
	lines  *bufio.Reader
	long   []byte // a line longer than the buffer of lines
	head   Run
	n      int  // lines read, blank ones too: the number of the last
	open   bool // the last line that was read had no newline
	ended  bool
	cut    bool
	err    error // what Next returns from now on
	intern interner
}

// Open opens the file and reads its first line.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil, &config.InputError{Input: path, Problem: "cannot be opened (" + errors.Unwrap(err).Error() + "); give a samples file of a run, like cutwatch-report/samples.ndjson.zst"}
	}
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(&config.InputError{Input: path, Problem: "is a folder; give the samples file in it, like samples.ndjson.zst"}, file.Close())
	}
	r, err := NewReader(file, path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file = file
	return r, nil
}

// NewReader reads the first line of what src holds, a samples file that errors
// call name. Closing the reader leaves src open.
func NewReader(src io.Reader, name string) (*Reader, error) {
	r := &Reader{name: name, intern: interner{}}
	in := bufio.NewReaderSize(src, bufferSize)
	start, err := in.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, r.failure(err)
	}
	if len(start) == 0 {
		return nil, r.bad("is empty; give the samples file of a run")
	}
	src = in
	if bytes.Equal(start, zstdMagic) {
		r.zip, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		src = r.zip
	}
	r.lines = bufio.NewReaderSize(src, bufferSize)
	if err := r.readHead(len(start) < len(zstdMagic) && bytes.HasPrefix(zstdMagic, start)); err != nil {
		r.closeZip()
		return nil, err
	}
	return r, nil
}

// readHead reads the first line; cutMagic says that not even the magic number is whole.
func (r *Reader) readHead(cutMagic bool) error {
	line, err := r.line()
	if cutMagic || err == io.EOF {
		return r.bad("ends before its first line is whole, so that nothing can be judged from it; give another file, or run again")
	}
	if err != nil {
		return err
	}
	// Another schema's head need not parse as ours: the number first.
	var peek struct {
		Run *struct {
			Schema   *int   `json:"schema"`
			Cutwatch string `json:"cutwatch"`
		} `json:"run"`
	}
	if err := json.Unmarshal(line, &peek); err != nil || peek.Run == nil || peek.Run.Schema == nil {
		return r.bad("is not a samples file: it does not begin with a run's head; give the samples file of a run, like cutwatch-report/samples.ndjson.zst")
	}
	if *peek.Run.Schema != Schema {
		return r.bad("is of schema %d, and this Cutwatch reads schema %d; read it with the Cutwatch that recorded it, %.40q", *peek.Run.Schema, Schema, peek.Run.Cutwatch)
	}
	var first Line
	if err := json.Unmarshal(line, &first); err != nil {
		return r.bad("has a head that does not parse (%.200q); record it again", err.Error())
	}
	if problem := first.problem(); problem != "" {
		return r.bad("has a head that is wrong: %s; record it again", problem)
	}
	r.head = *first.Run
	return nil
}

// Head is the first line: what was asked for, and when it began.
func (r *Reader) Head() Run { return r.head }

// Next is the next line after the head, and io.EOF behind the last one, also
// where the file was cut. Any other error stays: there is no line behind it.
func (r *Reader) Next() (Line, error) {
	if r.err != nil {
		return Line{}, r.err
	}
	line, err := r.next()
	if err != nil && r.open {
		// The beginning of a line may be JSON too: no damage, the cut.
		r.cut, err = true, io.EOF
	}
	if err != nil {
		r.err = err
		return Line{}, err
	}
	return line, nil
}

func (r *Reader) next() (Line, error) {
	text, err := r.line()
	if err != nil {
		return Line{}, err
	}
	var line Line
	if err := json.Unmarshal(text, &line); err != nil {
		return Line{}, r.bad("line %d does not parse (%.200q); the lines before it are whole, so cut the file there, or record it again", r.n, err.Error())
	}
	problem := line.problem()
	switch {
	case problem != "":
	case line.Run != nil:
		problem = "it is the head of a second run"
	case r.ended:
		problem = "it stands behind the end of the run"
	}
	if problem != "" {
		return Line{}, r.bad("line %d is wrong: %s; cut the file there, or record it again", r.n, problem)
	}
	r.ended = line.End != nil
	r.intern.line(&line)
	return line, nil
}

// Truncated tells, once Next has returned io.EOF, that the run's end is
// missing: the probe died, or the file was cut.
func (r *Reader) Truncated() bool { return r.cut || r.err == io.EOF && !r.ended }

// Close closes the file.
func (r *Reader) Close() error {
	r.closeZip()
	if r.err == nil {
		r.err = errors.New("read samples: the file is closed")
	}
	if r.file == nil {
		return nil
	}
	if err := r.file.Close(); err != nil {
		return fmt.Errorf("read samples: %w", err)
	}
	return nil
}

func (r *Reader) closeZip() {
	if r.zip != nil {
		r.zip.Close()
	}
}

// line is the next line that is not blank, valid until the next call. A last
// line without a newline counts if it is whole.
func (r *Reader) line() ([]byte, error) {
	for {
		text, err := r.slice()
		text = bytes.TrimSpace(text)
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		switch {
		case err == nil && len(text) == 0:
			r.n++
			continue
		case err == nil, end && json.Valid(text):
			r.n++
			r.open = end
			return text, nil
		case err == errTooLong:
			return nil, r.bad("line %d is longer than %d bytes, which no run writes; give the samples file of a run", r.n+1, maxLine)
		case !end:
			return nil, r.failure(err)
		}
		r.open = false
		r.cut = r.cut || len(text) > 0 || err == io.ErrUnexpectedEOF
		return nil, io.EOF
	}
}

// errTooLong is a line longer than maxLine.
var errTooLong = errors.New("line too long")

// slice is all up to the next newline, that included, or up to the error.
func (r *Reader) slice() ([]byte, error) {
	text, err := r.lines.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return text, err
	}
	r.long = r.long[:0]
	for err == bufio.ErrBufferFull && len(r.long)+len(text) <= maxLine {
		r.long = append(r.long, text...)
		text, err = r.lines.ReadSlice('\n')
	}
	if len(r.long)+len(text) > maxLine {
		return nil, errTooLong
	}
	r.long = append(r.long, text...)
	return r.long, err
}

// failure is the error of a file that could not be read on: the system's
// fault, or the file's.
func (r *Reader) failure(err error) error {
	var system *os.PathError
	if errors.As(err, &system) {
		return fmt.Errorf("read samples: %w", err)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return r.bad("is compressed with a window above %d MiB; compress it again without --ultra and --long", maxWindow>>20)
	}
	return r.bad("is damaged after %d whole lines (%s); copy it again from where it was recorded, or record it again", r.n, err)
}

func (r *Reader) bad(format string, args ...any) error {
	return &config.InputError{Input: r.name, Problem: fmt.Sprintf(format, args...)}
}
