package account

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Why a name may not be shown to people who have to trust it.
var (
	errInvisible = errors.New("the name has invisible characters")
	errMixed     = errors.New("the name mixes alphabets within a word")
	errReserved  = errors.New("the name looks like one of the service")
)

// CheckAppName says why an application may not have this name, or nil. People decide by
// the name whether to give access, so it must not pass for the service itself or hide
// what it is.
func CheckAppName(name string) error {
	if err := CheckVisible(name); err != nil {
		return err
	}
	if isReserved(name) {
		return errReserved
	}
	return nil
}

// CheckVisible says why a text may not read as it looks, or nil: it has invisible
// characters, or words that mix alphabets.
func CheckVisible(text string) error {
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

// maxMarks is how many combining marks may follow a letter after composition; more
// pile up over neighbouring text.
const maxMarks = 3

// blanks are letters and marks by their category that show nothing.
var blanks = &unicode.RangeTable{R16: []unicode.Range16{
	{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2800, 0x2800, 1},
	{0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xffa0, 0xffa0, 1},
}, R32: []unicode.Range32{{0xe0000, 0xe0fff, 1}}}

// hasInvisible finds what shows nothing, changes direction or stands for nothing.
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
			// Keyboards put this behind symbols to show them in color.
		case r == 0x200c || r == 0x200d:
			// Persian and Indic words are spelled with joiners between letters.
			if i == 0 || i == len(text)-1 || !usesJoiners(text[i-1]) || !usesJoiners(text[i+1]) {
				return true
			}
		case unicode.IsSpace(r) && r != ' ', unicode.Is(blanks, r),
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

// eastAsian scripts stand beside each other and beside Latin within words.
var eastAsian = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul}

// mixesScripts says whether a word has letters of two alphabets that are not written
// together. Digits, punctuation and marks belong to all.
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

// reservedWords may not be any part of a name, reservedNames not all of it.
var (
	reservedWords = []string{skeleton("Formulary")}
	reservedNames = []string{
		skeleton("Admin"), skeleton("Administrator"), skeleton("Support"), skeleton("Security"), skeleton("System"), skeleton("Official"),
	}
)

// isReserved reads digits and signs once as the letters that they look like, and once
// as decoration between letters.
func isReserved(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if _, ok := isBoxed(r); ok || unicode.IsLetter(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(name))
	return isReservedName(skeleton(name)) || isReservedName(skeleton(letters))
}

func isReservedName(skeleton string) bool {
	return slices.Contains(reservedNames, skeleton) ||
		slices.ContainsFunc(reservedWords, func(word string) bool { return strings.Contains(skeleton, word) })
}

// skeleton is the same for texts that look alike: what is left are small Latin
// letters without accents, with look-alikes in place of each other. Only texts that
// were reduced in the same way can be compared.
func skeleton(text string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(text) {
		if latin, ok := lookAlikes[r]; ok {
			r = latin
		} else if letter, ok := isBoxed(r); ok {
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

// isBoxed reads letters in circles and squares, and those that make flags.
func isBoxed(r rune) (rune, bool) {
	for _, start := range []rune{0x1f150, 0x1f170, 0x1f1e6} {
		if r >= start && r < start+26 {
			return 'a' + r - start, true
		}
	}
	return 0, false
}

// lookAlikes are characters that pass for a Latin letter and are not decomposed into
// one by NFKD. Capitals are listed where they look like another letter than the small
// one does.
var lookAlikes = scriptPairs(
	"aаαɑᴀꓮᎪ4@∀ⲁ", "bвʙЬьβꓐᏴ8ⲃ", "cсϲᴄꓚᏟⅽⲥ", "dԁᴅꓓᎠđɖժ", "eеєεɛᴇꓰᎬ3ҽⲉ", "fƒꜰꓝϝғ₣ẝքʄ", "gɡɢꓖᏀց",
	"hнһʜꓧᎻհħ", "iіιɪıꓲᎥӏ1!|ⲓ", "jјᴊꓙᎫյ", "kкκᴋꓗᏦⲕ", "lʟꓡᏞłլⅼ", "mмΜᴍꓟᎷⅿⲙʍ", "nпΝɴꓠոռⲛη", "oоοσᴏꓳՕօ0øθ○●◯ⲟ",
	"pрρᴘꓑᏢⲣ", "qԛգ", "rгʀꓣᏒᎡɾɍяᴦⲅ", "sѕꜱꓢᏚ5$ʂ", "tтτᴛꓔᎢ7+ŧⲧ", "uυսᴜꓴՍʊцᴗμ", "vνѵᴠꓦᏙ", "wԝωᴡꓪᎳшѡ", "xхχꓫⅹⲭ", "yуγУΥʏꓬᎩүÿƴⲩчʎ", "zᴢΖꓜᏃ2ⲍ",
)

// scriptPairs makes a table of look-alikes: the first character of each text is what the
// others look like.
func scriptPairs(texts ...string) map[rune]rune {
	table := map[rune]rune{}
	for _, text := range texts {
		letters := []rune(text)
		for _, r := range letters[1:] {
			table[r] = letters[0]
		}
	}
	return table
}
