package db

import "strings"

// Texts keeps the texts of many rows in few allocations. They stay in memory together, so it
// is for rows that are needed together, such as a page.
type Texts struct {
	chunk strings.Builder
}

// Sizes of the allocations: the first, and the largest unless one text is larger.
const (
	firstChunk = 1 << 10
	largeChunk = 64 << 10
)

// Into returns a destination for Row.Scan that sets a string.
func (t *Texts) Into(value *string) *Text { return &Text{t, value} }

// Text is a text column of a row, kept in Texts.
type Text struct {
	texts *Texts
	value *string
}

func (d *Text) set(raw []byte) {
	chunk := &d.texts.chunk
	if used := chunk.Cap(); used-chunk.Len() < len(raw) {
		chunk.Reset() // the texts in it stay as they are
		chunk.Grow(max(len(raw), min(max(2*used, firstChunk), largeChunk)))
	}
	start := chunk.Len()
	chunk.Write(raw)
	*d.value = chunk.String()[start:]
}

// RawText is a destination for Row.Scan: a text that is not copied. It changes when the next row
// is read.
type RawText []byte
