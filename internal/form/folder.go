package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// MaxFolder is the maximum number of characters in the name of a folder.
const MaxFolder = 60

// ParseFolder returns the name of a folder without surrounding spaces. An empty name stands
// for no folder.
func ParseFolder(text string) (string, error) {
	text = strings.TrimSpace(text)
	visible := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
	if text != "" && !visible || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		return "", fault.InvalidField("folder", "use one line of text, without control characters")
	}
	if utf8.RuneCountInString(text) > MaxFolder {
		return "", fault.InvalidField("folder", "enter no more than %d characters", MaxFolder)
	}
	return text, nil
}
