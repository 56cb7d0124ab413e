package export

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type csvWriter struct{ stream }

// NewCSV writes RFC 4180: UTF-8 without a byte order mark, CRLF line endings. Times are
// RFC 3339 in UTC, numbers are written unchanged. Text that a spreadsheet could read as
// a formula gets a leading single quote, and so does text that already starts with one:
// to decode a cell, strip one leading quote if present.
func NewCSV(out io.Writer, header []string) (Writer, error) {
	if len(header) == 0 {
		return nil, errNoColumns
	}
	w := &csvWriter{stream{out: out, width: len(header)}}
	cells := make([]any, len(header))
	for i, name := range header {
		cells[i] = name
	}
	if err := w.Row(cells); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *csvWriter) Row(cells []any) error {
	if err := w.checkRow(cells); err != nil {
		return err
	}
	b := w.buf
	for i, cell := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		switch v := cell.(type) {
		case string:
			b = appendField(b, v)
		case float64:
			b = appendFloat(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case bool:
			b = strconv.AppendBool(b, v)
		case time.Time:
			b = appendTime(b, v)
		}
	}
	if w.width == 1 && len(b) == len(w.buf) {
		b = append(b, `""`...) // many readers skip empty lines
	}
	return w.commit(append(b, '\r', '\n'))
}

func (w *csvWriter) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	w.err = errClosed
	return nil
}

// Treatment that a byte requires for the field that contains it.
const (
	fieldQuotes = 1 << iota // quote the field
	fieldUTF8               // check the encoding of the field
)

// fieldBytes maps each byte to the treatment of its field. Semicolons and tabs are
// quoted too: spreadsheets that also split at them would read the rest as a separate
// cell, possibly a formula.
var fieldBytes = func() (treatment [256]byte) {
	for _, c := range []byte(",;\t\r\n\"") {
		treatment[c] = fieldQuotes
	}
	for c := utf8.RuneSelf; c < len(treatment); c++ {
		treatment[c] = fieldUTF8
	}
	return treatment
}()

func appendField(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	var treatment byte
	for i := range len(text) {
		treatment |= fieldBytes[text[i]]
	}
	if treatment&fieldUTF8 != 0 && !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each byte that is not valid UTF-8
	}
	guard := text[0] == '\'' || looksLikeFormula(text)
	if treatment&fieldQuotes == 0 {
		if guard {
			b = append(b, '\'')
		}
		return append(b, text...)
	}
	b = append(b, '"')
	if guard {
		b = append(b, '\'')
	}
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		b = append(b, text[:i]...)
		b = append(b, '"', '"')
		text = text[i+1:]
	}
	b = append(b, text...)
	return append(b, '"')
}
