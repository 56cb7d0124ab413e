package export

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type csvWriter struct{ stream }

// NewCSV writes RFC 4180: UTF-8 without a byte order mark, lines that end in
// CRLF. Times are RFC 3339 in UTC. A text that a spreadsheet could take for a
// formula has a single quote in front, and so has one that starts with such a
// quote; hence to read a text back, take one leading quote away if there is
// one. Numbers are written as they are.
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
		b = append(b, `""`...) // readers skip an empty line
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

// What a byte asks of the field that it is in.
const (
	fieldQuotes = 1 << iota // it stands in quotes
	fieldUTF8               // its encoding is checked
)

// fieldBytes says it for every byte. The semicolon and the tab ask for quotes
// too: where a spreadsheet also separates by them, what follows would be a cell
// of its own, and perhaps a formula.
var fieldBytes = func() (asks [256]byte) {
	for _, c := range []byte(",;\t\r\n\"") {
		asks[c] = fieldQuotes
	}
	for c := utf8.RuneSelf; c < len(asks); c++ {
		asks[c] = fieldUTF8
	}
	return asks
}()

func appendField(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	var asks byte
	for i := range len(text) {
		asks |= fieldBytes[text[i]]
	}
	if asks&fieldUTF8 != 0 && !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each byte that is none of UTF-8
	}
	guard := text[0] == '\'' || looksLikeFormula(text)
	if asks&fieldQuotes == 0 {
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
