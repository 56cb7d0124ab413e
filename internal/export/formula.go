package export

import (
	"unicode"
	"unicode/utf8"
)

// looksLikeFormula reports whether a spreadsheet could read text as a formula: it
// starts with a formula character (ASCII or full width), possibly after characters that
// spreadsheets trim. A leading tab or carriage return counts too, because it can move
// the rest into a separate cell.
func looksLikeFormula(text string) bool {
	for _, r := range text {
		switch r {
		case '=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠':
			return true
		}
		if !isTrimmed(r) {
			return false
		}
	}
	return false
}

// isTrimmed reports whether some spreadsheet drops r from the start of a cell: spaces,
// line breaks, quotes and invisible characters. False positives are harmless.
func isTrimmed(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '"' || r == '\'' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Quotation_Mark)
}
