package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const bufferSize = 64 << 10

// buffers are shared by all copies, so that many slow uploads need little memory.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// source reads what Put stores. It keeps errors of the caller's reader apart from those
// of the storage, ends when the context does, and checks the size.
type source struct {
	ctx  context.Context
	r    io.Reader
	size int64 // -1: not known
	read int64
	err  error // of the caller: not io.EOF
}

var (
	errShort = errors.New("the file is shorter than its length says")
	errLong  = errors.New("the file is longer than its length says")
)

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.read += int64(n)
	switch {
	case s.size >= 0 && s.read > s.size:
		n, err = 0, errLong
	case err == io.EOF && s.read < s.size:
		err = errShort
	}
	if err != nil && err != io.EOF {
		s.err = fmt.Errorf("read the file: %w", err)
		err = s.err
	}
	return n, err
}

// copyTo writes everything that the source returns.
func (s *source) copyTo(w io.Writer) error {
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	// Hiding other methods of the two makes io.CopyBuffer use the buffer.
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{s}, buffer[:])
	return err
}
