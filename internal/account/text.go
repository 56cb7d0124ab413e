package account

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanLine says whether a text can be stored and shown on one line: valid
// UTF-8 without control characters.
func CleanLine(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

// CleanText is CleanLine that lets line breaks and tabs through.
func CleanText(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}) < 0
}
