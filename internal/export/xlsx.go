package export

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"fmt"
	"io"
	"strconv"
)

// What the format allows on a sheet.
const (
	sheetRows    = 1 << 20
	sheetColumns = 1 << 14
)

// xlsxWriter writes the parts of a workbook one after the other into a zip
// archive: first those that are always the same, then the sheets, and on Close
// those that list the sheets.
type xlsxWriter struct {
	stream  // into the sheet that is open
	file    *bufio.Writer
	archive *zip.Writer
	header  []any
	columns []string // their letters
	rowsMax int      // how many rows a sheet takes, its header among them; at least 2
	rows    int      // on the sheet that is open
	sheets  int
}

// NewXLSX writes a workbook whose sheets are named Responses, Responses 2 and
// so on: where a sheet is full the next one goes on, with the header repeated.
// Texts are strings and never formulas; they are cut at what a cell takes,
// their line breaks are line feeds, and characters that XML forbids are left
// out. Times are in UTC, in cells that are formatted as such; those before
// March 1900, which spreadsheets count in different ways, are RFC 3339 texts.
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
	// One is enough for all parts: the archive ends one before the next begins.
	w.archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		compressor.Reset(to)
		return compressor, nil
	})
	w.part("_rels/.rels", partRelationships)
	w.part("xl/styles.xml", partStyles)
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
	return w.row(cells, stylePlain)
}

// row writes cells whose texts have a style.
func (w *xlsxWriter) row(cells []any, style byte) error {
	b := append(w.buf, `<row r="`...)
	at := len(b)
	b = strconv.AppendInt(b, int64(w.rows)+1, 10)
	number := b[at:]
	b = append(b, `">`...)
	for i, cell := range cells {
		b = appendCell(b, w.columns[i], number, cell, style)
	}
	w.rows++
	return w.commit(append(b, `</row>`...))
}

// beginSheet opens the next sheet and writes its header. A failure is kept.
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
	w.row(w.header, styleHeader)
}

func (w *xlsxWriter) endSheet() {
	w.buf = append(w.buf, sheetEnd...)
	w.flush()
}

// Close writes what lists the sheets, and the directory of the archive.
func (w *xlsxWriter) Close() error {
	if w.err != nil {
		return w.err
	}
	w.endSheet()
	w.part("xl/workbook.xml", workbook(w.sheets))
	w.part("xl/_rels/workbook.xml.rels", workbookRelationships(w.sheets))
	w.part("[Content_Types].xml", contentTypes(w.sheets))
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

// part writes a whole part of the archive. A failure is kept.
func (w *xlsxWriter) part(path, content string) {
	to := w.create(path)
	if w.err != nil {
		return
	}
	if _, err := io.WriteString(to, content); err != nil {
		w.err = fmt.Errorf("write %s: %w", path, err)
	}
}

// create opens a part of the archive, which ends the one before. A failure is
// kept.
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
