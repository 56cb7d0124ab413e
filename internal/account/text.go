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

// changesDirection reports whether a character changes the direction of the text after it.
func changesDirection(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// WithoutDirections returns a text without the characters that change the direction of what follows
// it, for a sentence in which the text is a part.
func WithoutDirections(text string) string {
	return strings.Map(func(r rune) rune {
		if changesDirection(r) {
			return -1
		}
		return r
	}, text)
}

// IsTrustworthyName reports whether a name is a single line with at least one visible
// character and without characters that change the text direction.
func IsTrustworthyName(text string) bool {
	return IsSingleLine(text) &&
		!strings.ContainsFunc(text, changesDirection) &&
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
}
