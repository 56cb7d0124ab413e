package export

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// cellUnits is the maximum length of a cell in UTF-16 code units.
const cellUnits = 32767

// appendCell writes a cell, or nothing if it is empty. The style applies to text only.
func appendCell(b []byte, column string, row []byte, cell any, style byte) []byte {
	switch v := cell.(type) {
	case string:
		b = appendTextCell(b, column, row, v, style)
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			b = appendCellStart(b, column, row, stylePlain)
			b = append(b, `><v>`...)
			b = appendFloat(b, v)
			b = append(b, `</v></c>`...)
		}
	case int64:
		b = appendCellStart(b, column, row, stylePlain)
		b = append(b, `><v>`...)
		b = strconv.AppendInt(b, v, 10)
		b = append(b, `</v></c>`...)
	case bool:
		b = appendCellStart(b, column, row, stylePlain)
		if v {
			b = append(b, ` t="b"><v>1</v></c>`...)
		} else {
			b = append(b, ` t="b"><v>0</v></c>`...)
		}
	case time.Time:
		b = appendTimeCell(b, column, row, v.UTC())
	}
	return b
}

func appendCellStart(b []byte, column string, row []byte, style byte) []byte {
	b = append(b, `<c r="`...)
	b = append(b, column...)
	b = append(b, row...)
	b = append(b, '"')
	if style != stylePlain {
		b = append(b, ` s="`...)
		b = append(b, '0'+style, '"')
	}
	return b
}

// appendTextCell writes a string. Text that looks like a formula gets the quoted style,
// so that it stays text when a user edits the cell.
func appendTextCell(b []byte, column string, row []byte, text string, style byte) []byte {
	text, escape := cellText(text)
	if text == "" {
		return b
	}
	if looksLikeFormula(text) {
		style |= styleQuoted
	}
	b = appendCellStart(b, column, row, style)
	b = append(b, ` t="inlineStr"><is><t xml:space="preserve">`...)
	if escape {
		b = appendEscaped(b, text)
	} else {
		b = append(b, text...)
	}
	return append(b, `</t></is></c>`...)
}

// Spreadsheets number days so that 61 is 1 March 1900. Lower numbers are ambiguous:
// some spreadsheets count a 29 February 1900, which did not exist.
const (
	firstDay = 61
	epochDay = 25569 // 1 January 1970
	dayMilli = 24 * 60 * 60 * 1000
)

// appendTimeCell writes a UTC time as a day number with ten decimals, which is enough
// for milliseconds. The last digit is rounded up, because many readers truncate to
// milliseconds.
func appendTimeCell(b []byte, column string, row []byte, t time.Time) []byte {
	if !hasFourDigits(t.Year()) {
		return b
	}
	milli := t.UnixMilli() + epochDay*dayMilli
	if milli < firstDay*dayMilli {
		return appendTextCell(b, column, row, string(appendTime(nil, t)), stylePlain)
	}
	b = appendCellStart(b, column, row, styleTime)
	b = append(b, `><v>`...)
	b = strconv.AppendInt(b, milli/dayMilli, 10)
	if milli %= dayMilli; milli > 0 {
		point := len(b)
		b = strconv.AppendInt(b, 1e10+(milli*1e10+dayMilli-1)/dayMilli, 10)
		b[point] = '.' // replaces the leading 1, which preserved the zeros
	}
	return append(b, `</v></c>`...)
}

// Treatment that a byte requires for the text that contains it.
const (
	textEscape = 1 << iota // may need escaping
	textBreak              // may be a line break to normalize
	textClean              // may be forbidden in XML or invalid UTF-8
)

var textBytes = func() (treatment [256]byte) {
	for c := range treatment {
		if c < ' ' || c >= utf8.RuneSelf {
			treatment[c] = textClean
		}
	}
	treatment['\t'], treatment['\n'], treatment['\r'] = 0, 0, textBreak
	for _, c := range []byte("&<>_") {
		treatment[c] = textEscape
	}
	return treatment
}()

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// cellText makes text fit for a cell. escape is true if the result may need XML
// escaping.
func cellText(text string) (_ string, escape bool) {
	var treatment byte
	for i := range len(text) {
		treatment |= textBytes[text[i]]
	}
	if treatment&textBreak != 0 {
		text = lineFeeds.Replace(text)
	}
	if treatment&textClean != 0 {
		text = strings.Map(dropForbidden, text)
	}
	return truncate(text, cellUnits), treatment&textEscape != 0
}

// dropForbidden is a strings.Map function that drops characters that XML 1.0 forbids.
// Invalid UTF-8 arrives as U+FFFD and is kept.
func dropForbidden(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
		return -1
	}
	return r
}

// truncate shortens text to at most units UTF-16 code units, without splitting a
// character.
func truncate(text string, units int) string {
	if len(text) <= units {
		return text // a character never has more UTF-16 units than UTF-8 bytes
	}
	for i, r := range text {
		units--
		if r > 0xffff {
			units--
		}
		if units < 0 {
			return text[:i]
		}
	}
	return text
}

// appendEscaped writes text as XML. Spreadsheets decode _x0041_ to A, so an underscore
// that starts such a sequence is escaped too.
func appendEscaped(b []byte, text string) []byte {
	done := 0
	for i := range len(text) {
		var replacement string
		switch text[i] {
		case '&':
			replacement = "&amp;"
		case '<':
			replacement = "&lt;"
		case '>':
			replacement = "&gt;"
		case '_':
			if !looksLikeEscape(text[i:]) {
				continue
			}
			replacement = "_x005F_"
		default:
			continue
		}
		b = append(b, text[done:i]...)
		b = append(b, replacement...)
		done = i + 1
	}
	return append(b, text[done:]...)
}

// looksLikeEscape reports whether text starts with a sequence such as _x0041_.
func looksLikeEscape(text string) bool {
	if len(text) < 7 || text[1] != 'x' || text[6] != '_' {
		return false
	}
	for _, c := range []byte(text[2:6]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
