package export

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// cellUnits is how much text a cell takes, in units of UTF-16.
const cellUnits = 32767

// appendCell writes a cell, or nothing for an empty one. Only texts take the
// style.
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

// appendTextCell writes a string. One that looks like a formula is marked as
// quoted, so that it stays a string when a person edits the cell.
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

// Spreadsheets number days so that day 61 is 1 March 1900. Before it some count
// a 29 February that was not.
const (
	firstDay = 61
	epochDay = 25569 // 1 January 1970
	dayMilli = 24 * 60 * 60 * 1000
)

// appendTimeCell writes a time in UTC as its day and the part of the day that
// has passed. Ten digits of that hold a millisecond; the last is rounded up,
// since many readers cut the rest of a millisecond off.
func appendTimeCell(b []byte, column string, row []byte, t time.Time) []byte {
	if !isFinite(t.Year()) {
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
		at := len(b)
		b = strconv.AppendInt(b, 1e10+(milli*1e10+dayMilli-1)/dayMilli, 10)
		b[at] = '.' // in place of the leading 1, which kept the zeros after it
	}
	return append(b, `</v></c>`...)
}

// What a byte asks of the text that it is in.
const (
	textEscape = 1 << iota // it may have to be escaped
	textBreak              // it may be a line break to write otherwise
	textClean              // it may be forbidden, or not be UTF-8
)

var textBytes = func() (asks [256]byte) {
	for c := range asks {
		if c < ' ' || c >= utf8.RuneSelf {
			asks[c] = textClean
		}
	}
	asks['\t'], asks['\n'], asks['\r'] = 0, 0, textBreak
	for _, c := range []byte("&<>_") {
		asks[c] = textEscape
	}
	return asks
}()

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// cellText makes a text one that a cell can hold, and says whether it may have
// something to escape.
func cellText(text string) (_ string, escape bool) {
	var asks byte
	for i := range len(text) {
		asks |= textBytes[text[i]]
	}
	if asks&textBreak != 0 {
		text = lineFeeds.Replace(text)
	}
	if asks&textClean != 0 {
		text = strings.Map(allowed, text)
	}
	return cut(text, cellUnits), asks&textEscape != 0
}

// allowed maps what XML 1.0 forbids to nothing. What is not UTF-8 comes as
// U+FFFD and stays that.
func allowed(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
		return -1
	}
	return r
}

// cut shortens a text to at most so many units of UTF-16, between characters.
func cut(text string, units int) string {
	if len(text) <= units {
		return text // no character has more units than bytes
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

// appendEscaped writes a text as XML. Spreadsheets read _x0041_ as the letter
// A, so an underscore that begins such a thing is itself written as one.
func appendEscaped(b []byte, text string) []byte {
	done := 0
	for i := range len(text) {
		var instead string
		switch text[i] {
		case '&':
			instead = "&amp;"
		case '<':
			instead = "&lt;"
		case '>':
			instead = "&gt;"
		case '_':
			if !looksLikeEscape(text[i:]) {
				continue
			}
			instead = "_x005F_"
		default:
			continue
		}
		b = append(b, text[done:i]...)
		b = append(b, instead...)
		done = i + 1
	}
	return append(b, text[done:]...)
}

// looksLikeEscape says whether a text starts like _x0041_.
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
