package export

import (
	"unicode"
	"unicode/utf8"
)

// looksLikeFormula says whether a spreadsheet could take a text for a formula: it
// starts with a sign that starts one, in ASCII or full width, or does once the
// program has trimmed what programs trim. A tab or a carriage return in front
// counts by itself, since it can move what follows into a cell of its own.
func looksLikeFormula(text string) bool {
	for _, r := range text {
		switch r {
		case '=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠':
			return true
		}
		if !trimmed(r) {
			return false
		}
	}
	return false
}

// trimmed says whether some program drops a character from the front of a cell:
// spaces, line breaks, quotes, and what cannot be seen. Rather one too many.
func trimmed(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '"' || r == '\'' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Quotation_Mark)
}
