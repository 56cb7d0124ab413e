package card

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
)

// font reads outlines from a TrueType file. It reads what the Go fonts have and nothing
// else: package sfnt would add 250 KB to the program.
type font struct {
	glyphs, offsets, metrics, characters []byte // glyf, loca, hmtx, cmap
	isLong                               bool   // offsets have four bytes
	metricCount                          int
	unitsPerEm                           float32
}

var errFont = errors.New("the font is not readable")

// titleFont returns the font of titles. It has Latin, Greek and Cyrillic letters.
var titleFont = sync.OnceValues(func() (*font, error) { return parseFont(gobold.TTF) })

func parseFont(file []byte) (f *font, err error) {
	defer func() {
		if recover() != nil { // an index out of range: the file is cut off
			err = errFont
		}
	}()
	tables := map[string][]byte{}
	for i := range int(u16(file, 4)) {
		entry := file[12+16*i:]
		tables[string(entry[:4])] = file[u32(entry, 8):][:u32(entry, 12)]
	}
	f = &font{
		glyphs: tables["glyf"], offsets: tables["loca"], metrics: tables["hmtx"], isLong: u16(tables["head"], 50) == 1,
		metricCount: int(u16(tables["hhea"], 34)), unitsPerEm: float32(u16(tables["head"], 18)),
	}
	maps := tables["cmap"]
	for i := range int(u16(maps, 2)) {
		entry := maps[4+8*i:]
		if table := maps[u32(entry, 4):]; u16(entry, 0) == 3 && u16(entry, 2) == 1 && u16(table, 0) == 4 {
			f.characters = table
		}
	}
	if f.characters == nil || f.unitsPerEm == 0 || f.metricCount == 0 {
		return nil, errFont
	}
	return f, nil
}

func u16(b []byte, at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
func i16(b []byte, at int) int    { return int(int16(u16(b, at))) }
func u32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

// glyph returns the number of a character's glyph; 0: the font has none.
func (f *font) glyph(r rune) int {
	if r > 0xffff {
		return 0
	}
	c, table := int(r), f.characters
	n := int(u16(table, 6)) // twice the number of segments
	for i := 0; i < n; i += 2 {
		end, start := int(u16(table, 14+i)), int(u16(table, 16+n+i))
		if c > end {
			continue
		}
		if c < start {
			return 0
		}
		delta, at := int(u16(table, 16+2*n+i)), 16+3*n+i
		if offset := int(u16(table, at)); offset != 0 {
			number := int(u16(table, at+offset+2*(c-start)))
			if number == 0 {
				return 0
			}
			return (number + delta) & 0xffff
		}
		return (c + delta) & 0xffff
	}
	return 0
}

func (f *font) has(r rune) bool { return f.glyph(r) != 0 }

// advance is the width of a glyph in units of the font.
func (f *font) advance(glyph int) float32 {
	return float32(u16(f.metrics, 4*min(glyph, f.metricCount-1)))
}

func (f *font) width(text string, size float32) float32 {
	var sum float32
	for _, r := range text {
		sum += f.advance(f.glyph(r))
	}
	return sum * size / f.unitsPerEm
}

// leading is the distance between two lines, as a part of the size.
const leading = 1.08

// wrap breaks a text into lines of a width, in the largest size in which they fit. It
// returns nil for an empty text, and cuts off one that does not fit at all.
func (f *font) wrap(text string, width, height float32) ([]string, float32) {
	if text == "" {
		return nil, 0
	}
	for _, size := range []float32{104, 88, 76, 66, 56, 48} {
		lines, fits := f.breakLines(text, size, width)
		if fits && len(lines) <= int(height/(size*leading)) && len(lines) <= 5 {
			return lines, size
		}
	}
	const last = 48
	lines, _ := f.breakLines(text, last, width)
	lines = lines[:min(len(lines), 6)]
	for i, line := range lines {
		cut := line
		if i == 5 {
			cut += "…"
		}
		for runes := []rune(line); f.width(cut, last) > width; {
			runes = runes[:len(runes)-1]
			cut = string(runes) + "…"
		}
		lines[i] = cut
	}
	return lines, last
}

// breakLines breaks a text at spaces. fits is false if a word is wider than a line.
func (f *font) breakLines(text string, size, width float32) (lines []string, fits bool) {
	fits = true
	for word := range strings.SplitSeq(text, " ") {
		if f.width(word, size) > width {
			fits = false
		}
		if n := len(lines); n > 0 && f.width(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines, fits
}
