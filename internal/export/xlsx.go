package export

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"fmt"
	"io"
	"strconv"
)

// Limits of the format.
const (
	sheetRows    = 1 << 20
	sheetColumns = 1 << 14
)

// xlsxWriter writes the parts of a workbook into a zip archive: first the constant
// parts, then the sheets, and on Close the parts that list the sheets.
type xlsxWriter struct {
	stream  // writes to the current sheet
	file    *bufio.Writer
	archive *zip.Writer
	header  []any
	columns []string // column letters
	rowsMax int      // rows per sheet including the header; at least 2
	rows    int      // rows on the current sheet
	sheets  int
}

// NewXLSX writes a workbook with sheets named Responses, Responses 2 and so on. When a
// sheet is full, the next one repeats the header. Text is stored as strings, never as
// formulas: cut to the length of a cell, with line feeds as line breaks and without
// characters that XML forbids. Times are UTC in cells with a date format. Times before
// March 1900, which spreadsheets count in different ways, are RFC 3339 strings.
func NewXLSX(out io.Writer, header []string) (Writer, error) {
	w, err := newXLSX(out, header)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func newXLSX(out io.Writer, header []string) (*xlsxWriter, error) {
	if len(header) == 0 {
		return nil, errNoColumns
	}
	if len(header) > sheetColumns {
		return nil, fmt.Errorf("a sheet can have up to %d columns, got %d", sheetColumns, len(header))
	}
	file := bufio.NewWriterSize(out, flushAt)
	w := &xlsxWriter{
		stream:  stream{width: len(header)},
		file:    file,
		archive: zip.NewWriter(file),
		header:  make([]any, len(header)),
		columns: make([]string, len(header)),
		rowsMax: sheetRows,
	}
	for i, name := range header {
		w.header[i] = name
		w.columns[i] = columnLetters(i)
	}
	compressor, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("create compressor: %w", err)
	}
	// All parts share one compressor, because the archive closes a part before it opens
	// the next.
	w.archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		compressor.Reset(to)
		return compressor, nil
	})
	w.writePart("_rels/.rels", partRelationships)
	w.writePart("xl/styles.xml", partStyles)
	w.beginSheet()
	if w.err != nil {
		return nil, w.err
	}
	return w, nil
}

func (w *xlsxWriter) Row(cells []any) error {
	if err := w.checkRow(cells); err != nil {
		return err
	}
	if w.rows == w.rowsMax {
		w.endSheet()
		w.beginSheet()
		if w.err != nil {
			return w.err
		}
	}
	return w.appendRow(cells, stylePlain)
}

// appendRow writes a row. The style applies to text cells.
func (w *xlsxWriter) appendRow(cells []any, style byte) error {
	b := append(w.buf, `<row r="`...)
	start := len(b)
	b = strconv.AppendInt(b, int64(w.rows)+1, 10)
	number := b[start:]
	b = append(b, `">`...)
	for i, cell := range cells {
		b = appendCell(b, w.columns[i], number, cell, style)
	}
	w.rows++
	return w.commit(append(b, `</row>`...))
}

// beginSheet opens the next sheet and writes its header. Errors are stored in w.err.
func (w *xlsxWriter) beginSheet() {
	if w.err != nil {
		return
	}
	w.sheets++
	w.rows = 0
	w.out = w.create(sheetPath(w.sheets))
	if w.err != nil {
		return
	}
	w.buf = append(w.buf, sheetStart(w.sheets == 1)...)
	w.appendRow(w.header, styleHeader)
}

func (w *xlsxWriter) endSheet() {
	w.buf = append(w.buf, sheetEnd...)
	w.flush()
}

// Close writes the parts that list the sheets, and the directory of the archive.
func (w *xlsxWriter) Close() error {
	if w.err != nil {
		return w.err
	}
	w.endSheet()
	w.writePart("xl/workbook.xml", workbook(w.sheets))
	w.writePart("xl/_rels/workbook.xml.rels", workbookRelationships(w.sheets))
	w.writePart("[Content_Types].xml", contentTypes(w.sheets))
	if w.err != nil {
		return w.err
	}
	if err := w.archive.Close(); err != nil {
		w.err = fmt.Errorf("close archive: %w", err)
		return w.err
	}
	if err := w.file.Flush(); err != nil {
		w.err = fmt.Errorf("close archive: %w", err)
		return w.err
	}
	w.err = errClosed
	return nil
}

// writePart writes a complete part of the archive. Errors are stored in w.err.
func (w *xlsxWriter) writePart(path, content string) {
	to := w.create(path)
	if w.err != nil {
		return
	}
	if _, err := io.WriteString(to, content); err != nil {
		w.err = fmt.Errorf("write %s: %w", path, err)
	}
}

// create opens a part of the archive, which closes the previous one. Errors are stored
// in w.err.
func (w *xlsxWriter) create(path string) io.Writer {
	if w.err != nil {
		return nil
	}
	to, err := w.archive.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
	if err != nil {
		w.err = fmt.Errorf("start %s: %w", path, err)
	}
	return to
}
