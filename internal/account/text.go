package account

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSingleLine reports whether a text is valid UTF-8 without control characters, so that
// it can be stored and shown on one line.
func IsSingleLine(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

// IsTrustworthyName reports whether a name is a single line with at least one visible
// character and without characters that change the text direction.
func IsTrustworthyName(text string) bool {
	return IsSingleLine(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }) &&
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
}
