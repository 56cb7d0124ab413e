// Package export writes tables as files that spreadsheets open: CSV and XLSX.
// Rows go in one by one and bytes come out as they come, so that a table of
// millions of rows takes as much memory as a table of ten.
package export

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Writer takes a table row by row. A cell is nil, string, float64, int64, bool
// or time.Time. What a format cannot say is an empty cell: NaN, infinities and
// years outside 0 to 9999.
type Writer interface {
	// Row takes as many cells as the header has and does not keep them. A row
	// that is refused (its width, the type of a cell) leaves the file as it
	// was; after a failure to write, every call returns that failure.
	Row(cells []any) error
	// Close ends the file; without it the file is not whole. It does not close
	// the underlying writer.
	Close() error
}

// flushAt is how many bytes gather before they are written.
const flushAt = 64 << 10

var (
	errClosed    = errors.New("the table is closed")
	errNoColumns = errors.New("a table needs at least one column")
)

// stream is what the formats share: one buffer, used again and again, in front
// of what is written to.
type stream struct {
	out   io.Writer
	buf   []byte
	width int
	err   error // why nothing can be written any more
}

// checkRow says whether cells can be the next row.
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

// commit takes the buffer back after a row, and empties it when it is full.
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
