// Package export writes tables as CSV, XLSX and JSON Lines files.
//
// Rows are streamed, so memory use does not depend on the number of rows.
package export

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Writer writes a table row by row. A cell is nil, string, float64, int64, bool or
// time.Time. Values that the format cannot represent become empty cells: NaN,
// infinities and years outside 0 to 9999.
type Writer interface {
	// Row writes one row. It needs as many cells as the header and does not retain
	// them. A rejected row (wrong width or cell type) leaves the file unchanged. After
	// a write error, every call returns that error.
	Row(cells []any) error
	// Close completes the file, which is invalid without it. It does not close the
	// underlying writer.
	Close() error
}

// flushAt is the number of buffered bytes at which a flush happens.
const flushAt = 64 << 10

var (
	errClosed    = errors.New("the table is closed")
	errNoColumns = errors.New("a table needs at least one column")
)

// stream is the buffered output that all formats share. The buffer is reused for every
// row.
type stream struct {
	out   io.Writer
	buf   []byte
	width int
	err   error // sticky: the first write error, or errClosed
}

// checkRow reports why cells cannot be the next row.
func (s *stream) checkRow(cells []any) error {
	if s.err != nil {
		return s.err
	}
	if len(cells) != s.width {
		return fmt.Errorf("row has %d cells, table has %d columns", len(cells), s.width)
	}
	for i, cell := range cells {
		switch cell.(type) {
		case nil, string, float64, int64, bool, time.Time:
		default:
			return fmt.Errorf("column %d: unsupported cell type %T", i+1, cell)
		}
	}
	return nil
}

// commit stores the buffer after a row was appended and flushes it if it is full.
func (s *stream) commit(b []byte) error {
	s.buf = b
	if len(b) < flushAt {
		return nil
	}
	return s.flush()
}

func (s *stream) flush() error {
	if s.err != nil || len(s.buf) == 0 {
		return s.err
	}
	if _, err := s.out.Write(s.buf); err != nil {
		s.err = fmt.Errorf("write rows: %w", err)
	}
	s.buf = s.buf[:0]
	return s.err
}
