package account

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Reasons to reject a name that users have to trust.
var (
	errInvisible = errors.New("the name has invisible characters")
	errMixed     = errors.New("the name mixes alphabets within a word")
	errReserved  = errors.New("the name looks like one of the service")
)

// CheckAppName returns an error if an application may not have this name. Users decide by
// the name whether to allow access, so it must not look like Formulary itself, and it must
// be what it looks like.
func CheckAppName(name string) error {
	if err := CheckUnambiguous(name); err != nil {
		return err
	}
	if isReserved(name) {
		return errReserved
	}
	return nil
}

// CheckUnambiguous returns an error if a text can differ from what it looks like: because it
// has invisible characters, or words that mix alphabets.
func CheckUnambiguous(text string) error {
	if !IsTrustworthyName(text) || hasInvisible([]rune(norm.NFC.String(text))) {
		return errInvisible
	}
	for _, word := range strings.Fields(text) {
		if mixesScripts(word) {
			return errMixed
		}
	}
	return nil
}

// maxMarks is the maximum number of combining marks after a letter, in composed form. More
// marks would cover neighboring lines.
const maxMarks = 3

// blankRunes are characters that are invisible although their Unicode category is letter,
// mark or symbol.
var blankRunes = &unicode.RangeTable{R16: []unicode.Range16{
	{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2800, 0x2800, 1},
	{0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xffa0, 0xffa0, 1},
}, R32: []unicode.Range32{{0xe0000, 0xe0fff, 1}}}

// hasInvisible reports whether a text has characters that are invisible, change the text
// direction or are not assigned.
func hasInvisible(text []rune) bool {
	marks := 0
	for i, r := range text {
		if unicode.IsMark(r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case marks > maxMarks || marks > 0 && i == 0:
			return true
		case r == 0xfe0f && i > 0 && unicode.Is(unicode.So, text[i-1]):
			// Keyboards add this variation selector to symbols to show them in color.
		case r == 0x200c || r == 0x200d:
			// Joiners between letters are part of the spelling of Persian and Indic words.
			if i == 0 || i == len(text)-1 || !usesJoiners(text[i-1]) || !usesJoiners(text[i+1]) {
				return true
			}
		case unicode.IsSpace(r) && r != ' ', unicode.Is(blankRunes, r),
			unicode.In(r, unicode.Cf, unicode.Co, unicode.Cc, unicode.Zl, unicode.Zp), !unicode.IsGraphic(r):
			return true
		}
	}
	return false
}

func usesJoiners(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Mongolian)
}

// eastAsian scripts may be mixed with each other and with Latin in one word.
var eastAsian = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul}

// mixesScripts reports whether a word has letters of two alphabets that are not written
// together. Digits, punctuation and marks belong to every alphabet.
func mixesScripts(word string) bool {
	var first *unicode.RangeTable
	for _, r := range word {
		if !unicode.IsLetter(r) || unicode.In(r, eastAsian...) {
			continue
		}
		if first != nil {
			if !unicode.Is(first, r) {
				return true
			}
			continue
		}
		for name, script := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.Is(script, r) {
				first = script
				break
			}
		}
	}
	return first != nil && first != unicode.Latin && strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, eastAsian...) })
}

// A name must not contain a skeleton in reservedWords, nor be equal to one in
// reservedNames.
var (
	reservedWords = []string{skeleton("Formulary")}
	reservedNames = []string{
		skeleton("Admin"), skeleton("Administrator"), skeleton("Support"), skeleton("Security"), skeleton("System"), skeleton("Official"),
	}
)

// isReserved reports whether a name looks like a reserved one. It checks the name twice:
// with digits and signs as the letters that they look like, and without them.
func isReserved(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if _, ok := unboxLetter(r); ok || unicode.IsLetter(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(name))
	return isReservedSkeleton(skeleton(name)) || isReservedSkeleton(skeleton(letters))
}

func isReservedSkeleton(skeleton string) bool {
	return slices.Contains(reservedNames, skeleton) ||
		slices.ContainsFunc(reservedWords, func(word string) bool { return strings.Contains(skeleton, word) })
}

// skeleton returns the same text for all texts that look alike (compare Unicode TR39): only
// lowercase Latin letters without accents, with similar letters unified. Compare it only
// with other skeletons.
func skeleton(text string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(text) {
		if latin, ok := lookAlikes[r]; ok {
			r = latin
		} else if letter, ok := unboxLetter(r); ok {
			r = letter
		} else if lower := unicode.ToLower(r); lookAlikes[lower] != 0 {
			r = lookAlikes[lower]
		} else {
			r = lower
		}
		if 'a' <= r && r <= 'z' {
			out.WriteRune(r)
		}
	}
	return strings.NewReplacer("i", "l", "j", "l", "rn", "m", "vv", "w").Replace(out.String())
}

// unboxLetter returns the letter inside a circled, squared or flag character.
func unboxLetter(r rune) (rune, bool) {
	for _, start := range []rune{0x1f150, 0x1f170, 0x1f1e6} {
		if r >= start && r < start+26 {
			return 'a' + r - start, true
		}
	}
	return 0, false
}

// lookAlikes maps characters to the Latin letter that they look like, except where NFKD
// does that already. Uppercase letters are listed if they look like another letter than
// their lowercase form.
var lookAlikes = lookAlikeTable(
	"aаαɑᴀꓮᎪ4@∀ⲁ", "bвʙЬьβꓐᏴ8ⲃ", "cсϲᴄꓚᏟⅽⲥ", "dԁᴅꓓᎠđɖժ", "eеєεɛᴇꓰᎬ3ҽⲉ", "fƒꜰꓝϝғ₣ẝքʄ", "gɡɢꓖᏀց",
	"hнһʜꓧᎻհħ", "iіιɪıꓲᎥӏ1!|ⲓ", "jјᴊꓙᎫյ", "kкκᴋꓗᏦⲕ", "lʟꓡᏞłլⅼ", "mмΜᴍꓟᎷⅿⲙʍ", "nпΝɴꓠոռⲛη", "oоοσᴏꓳՕօ0øθ○●◯ⲟ",
	"pрρᴘꓑᏢⲣ", "qԛգ", "rгʀꓣᏒᎡɾɍяᴦⲅ", "sѕꜱꓢᏚ5$ʂ", "tтτᴛꓔᎢ7+ŧⲧ", "uυսᴜꓴՍʊцᴗμ", "vνѵᴠꓦᏙ", "wԝωᴡꓪᎳшѡ", "xхχꓫⅹⲭ", "yуγУΥʏꓬᎩүÿƴⲩчʎ", "zᴢΖꓜᏃ2ⲍ",
)

// lookAlikeTable builds lookAlikes. In each text, all characters look like the first one.
func lookAlikeTable(texts ...string) map[rune]rune {
	table := map[rune]rune{}
	for _, text := range texts {
		letters := []rune(text)
		for _, r := range letters[1:] {
			table[r] = letters[0]
		}
	}
	return table
}
