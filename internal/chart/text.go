package chart

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// rtlRanges are the right-to-left scripts.
var rtlRanges = []*unicode.RangeTable{
	unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam,
	unicode.Samaritan, unicode.Mandaic, unicode.Hanifi_Rohingya,
}

// textDirection returns 1 if the first letter is of a left-to-right script, -1 if it is of
// a right-to-left script, and 0 if the text has no letters.
func textDirection(text string) int {
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case unicode.In(r, rtlRanges...):
			return -1
		default:
			return 1
		}
	}
	return 0
}

// isRTL reports whether a drawing is right-to-left. The first text that contains letters
// decides.
func isRTL(texts ...string) bool {
	for _, text := range texts {
		if direction := textDirection(text); direction != 0 {
			return direction < 0
		}
	}
	return false
}

// cleanLine returns the text on one line, with runs of spaces collapsed and without
// bidirectional control characters, which could reorder neighboring text.
func cleanLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u200e', r == '\u200f':
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f':
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }), " ")
}

// measure estimates the width of a text. The font of the reader is unknown, so the
// estimate is on the wide side of common fonts.
func measure(text string, size float64) float64 {
	ems := 0.0
	for _, r := range text {
		ems += charWidth(r)
	}
	return ems * size
}

// charWidth returns the width of a character in em.
func charWidth(r rune) float64 {
	switch {
	case isCombining(r), r >= 0x300 && unicode.Is(unicode.Cf, r):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x20000 && r <= 0x3ffff:
		return 1.02
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2600 && r <= 0x27bf:
		return 1.3
	case strings.ContainsRune("iljtfrI.,:;'’‘|!()[]{}/· ", r), r == '\u00a0', r == '\u202f':
		return .36
	case strings.ContainsRune("mwMW@%—…", r):
		return .92
	case unicode.IsUpper(r):
		return .7
	case r >= '0' && r <= '9':
		return .6
	case r < 0x2000:
		return .57
	}
	return .8
}

// isCombining reports whether a rune is displayed together with the rune before it.
func isCombining(r rune) bool {
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) || r == '\u200d' || r >= 0x1f3fb && r <= 0x1f3ff
}

// truncate shortens a text to maxWidth and marks the cut with an ellipsis.
func truncate(text string, size, maxWidth float64) string {
	text = cleanLine(text)
	if measure(text, size) <= maxWidth {
		return text
	}
	maxWidth -= charWidth('…') * size
	used, cutAt := 0.0, 0
	for i, r := range text {
		// Never cut between a character and its combining marks.
		if !isCombining(r) && !strings.HasSuffix(text[:i], "\u200d") {
			cutAt = i
		}
		if used += charWidth(r) * size; used > maxWidth {
			break
		}
	}
	return strings.TrimRight(text[:cutAt], " ") + "…"
}

// wrap breaks a text into up to maxLines lines of maxWidth. The last line is truncated.
func wrap(text string, size, maxWidth float64, maxLines int) []string {
	var lines []string
	rest := cleanLine(text)
	for rest != "" {
		if len(lines) == maxLines-1 || measure(rest, size) <= maxWidth {
			return append(lines, truncate(rest, size, maxWidth))
		}
		breakAt, used := 0, 0.0
		for i, r := range rest {
			before, _ := utf8.DecodeLastRuneInString(rest[:i])
			if i > 0 && !isCombining(r) && (r == ' ' || before == '-' || charWidth(r) > 1 && charWidth(r) < 1.1) {
				breakAt = i
			}
			if used += charWidth(r) * size; used > maxWidth {
				break
			}
		}
		if breakAt == 0 { // a word that is longer than a line
			breakAt = len(strings.TrimSuffix(truncate(rest, size, maxWidth), "…"))
			if breakAt == 0 || breakAt > len(rest) {
				return append(lines, truncate(rest, size, maxWidth))
			}
		}
		lines = append(lines, strings.TrimSpace(rest[:breakAt]))
		rest = strings.TrimSpace(rest[breakAt:])
	}
	return lines
}
