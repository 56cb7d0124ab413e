package account

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSingleLine says whether a text can be stored and shown on one line: valid
// UTF-8 without control characters.
func IsSingleLine(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

// IsTrustworthyName says whether a name that people are asked to trust shows what it is:
// something can be seen, and nothing turns the direction of the text around.
func IsTrustworthyName(text string) bool {
	return IsSingleLine(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }) &&
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
}
