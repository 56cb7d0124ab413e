package chart

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// rtlRanges are the scripts that read from right to left.
var rtlRanges = []*unicode.RangeTable{
	unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam,
	unicode.Samaritan, unicode.Mandaic, unicode.Hanifi_Rohingya,
}

// textDirection is 1 for a text that reads from left to right, -1 for the other way, and 0
// for one of digits and signs alone, which follows what is around it.
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

// isRTL says whether a drawing reads from right to left: by the first of its
// texts that says so, the title before all.
func isRTL(texts ...string) bool {
	for _, text := range texts {
		if way := textDirection(text); way != 0 {
			return way < 0
		}
	}
	return false
}

// tidy makes one line of a text, without what would reorder the text around it.
func tidy(text string) string {
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

// measure is about how wide a text is. Nobody knows the reader's font here, so it
// is on the wide side of the usual ones.
func measure(text string, size float64) float64 {
	ems := 0.0
	for _, r := range text {
		ems += charWidth(r)
	}
	return ems * size
}

func charWidth(r rune) float64 {
	switch {
	case joins(r), r >= 0x300 && unicode.Is(unicode.Cf, r):
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

// joins says whether a rune belongs to the one before it.
func joins(r rune) bool {
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) || r == '\u200d' || r >= 0x1f3fb && r <= 0x1f3ff
}

// cut shortens a text to a width and says so with …
func cut(text string, size, room float64) string {
	text = tidy(text)
	if measure(text, size) <= room {
		return text
	}
	room -= charWidth('…') * size
	used, at := 0.0, 0
	for i, r := range text {
		// Only before a character of its own, so that none loses its accents.
		if !joins(r) && !strings.HasSuffix(text[:i], "\u200d") {
			at = i
		}
		if used += charWidth(r) * size; used > room {
			break
		}
	}
	return strings.TrimRight(text[:at], " ") + "…"
}

// wrap breaks a text into lines of a width, at most so many; the last is cut.
func wrap(text string, size, room float64, most int) []string {
	var lines []string
	rest := tidy(text)
	for rest != "" {
		if len(lines) == most-1 || measure(rest, size) <= room {
			return append(lines, cut(rest, size, room))
		}
		at, used := 0, 0.0
		for i, r := range rest {
			before, _ := utf8.DecodeLastRuneInString(rest[:i])
			if i > 0 && !joins(r) && (r == ' ' || before == '-' || charWidth(r) > 1 && charWidth(r) < 1.1) {
				at = i
			}
			if used += charWidth(r) * size; used > room {
				break
			}
		}
		if at == 0 { // one long word
			at = len(strings.TrimSuffix(cut(rest, size, room), "…"))
			if at == 0 || at > len(rest) {
				return append(lines, cut(rest, size, room))
			}
		}
		lines = append(lines, strings.TrimSpace(rest[:at]))
		rest = strings.TrimSpace(rest[at:])
	}
	return lines
}
