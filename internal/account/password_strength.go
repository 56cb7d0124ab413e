package account

import (
	"math"
	"strings"
	"unicode"
)

// The estimate splits a password into pieces that guessing tools try first: common words,
// keyboard sequences, years, repetitions, personal data, and anything that looks like a
// word. The cost of a piece is the logarithm of the number of guesses for it. Characters
// outside of pieces cost one guess per possible character. The cheapest split counts.
// There is no dictionary: text that looks like a word counts as one of 10,000 words, or of
// more if it is long. docs/decisions/passwords.md compares this with zxcvbn-go.

// commonPieces are the most common parts of passwords, the most common first.
var commonPieces = strings.Fields(`password passwort qwerty qwertz letmein iloveyou welcome willkommen admin administrator login
	dragon monkey football fussball baseball princess sunshine superman batman master shadow hello hallo secret geheim changeme default
	starwars pokemon michael jordan jennifer thomas andreas daniel charlie ashley nicole jessica hunter ginger pepper summer sommer winter
	spring autumn herbst monday montag friday freitag january januar december dezember love liebe test user root guest gast access trust
	freedom killer soccer hockey computer internet samsung google apple microsoft windows android flower cookie banana chocolate cheese
	mustang harley ferrari mercedes porsche london berlin madrid paris munich bayern arsenal chelsea liverpool barcelona jesus angel
	lovely sweet money lucky magic naruto matrix ninja phoenix tiger lion eagle whatever nothing nobody starten service support office
	company firma server database temp temporary demo sample example forms survey correcthorsebatterystaple correct horse battery staple troubador troubadour`)

// keyRows are sequences of neighboring keys, and the alphabet.
var keyRows = []string{"qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm", "1234567890", "abcdefghijklmnopqrstuvwxyz", "qazwsxedcrfvtgb", "1q2w3e4r5t6z", "1qaz2wsx3edc", "q1w2e3r4t5", "a1b2c3d4e5f6"}

// leetReplacer replaces digits and signs by the letters that they stand for in leetspeak.
var leetReplacer = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t", "+", "t", "|", "l", "8", "b")

// estimateGuessesLog10 estimates the decimal logarithm of the number of guesses for a
// password. known are lowercase texts that attackers try first.
func estimateGuessesLog10(password string, known []string) float64 {
	text := []rune(password)
	lower := []rune(strings.ToLower(password))
	letters := []rune(leetReplacer.Replace(string(lower)))
	best := make([]float64, len(text)+1) // cost of the first n characters
	for to := 1; to <= len(text); to++ {
		best[to] = best[to-1] + characterCost(text[to-1])
		for from := 0; from+2 < to; from++ {
			// Substituted characters and uppercase letters add little, because guessing tools
			// try them.
			substitutions := countDifferences(lower[from:to], letters[from:to])
			cost := min(knownPieceCost(string(lower[from:to]), known), knownPieceCost(string(letters[from:to]), known)+.3*float64(substitutions))
			// A repetition of the piece before it.
			if before := 2*from - to; before >= 0 && string(lower[before:from]) == string(lower[from:to]) {
				cost = min(cost, 1)
			}
			if string(text[from:to]) != string(lower[from:to]) {
				cost += .3
			}
			best[to] = min(best[to], best[from]+cost)
		}
	}
	return best[len(text)]
}

// countDifferences returns the number of positions at which two texts of the same length
// differ.
func countDifferences(a, b []rune) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// characterCost returns the cost of a character that is in no piece.
func characterCost(c rune) float64 {
	switch {
	case unicode.IsDigit(c):
		return 1
	case 'a' <= c && c <= 'z':
		return math.Log10(26)
	case c < unicode.MaxASCII:
		return math.Log10(60)
	}
	return 3
}

// knownPieceCost returns the cost of a piece that guessing tools try, or infinity for other
// texts.
func knownPieceCost(text string, known []string) float64 {
	for _, k := range known {
		if len(k) > 2 && text == k {
			return .5
		}
	}
	for i, common := range commonPieces {
		if text == common {
			return math.Log10(float64(i + 2))
		}
	}
	n := float64(len(text))
	if strings.Count(text, text[:1]) == len(text) {
		return 1 + math.Log10(n)
	}
	for _, row := range keyRows {
		if strings.Contains(row, text) || strings.Contains(reverse(row), text) {
			return 1 + math.Log10(n)
		}
	}
	if len(text) == 4 && (strings.HasPrefix(text, "19") || strings.HasPrefix(text, "20")) && strings.Trim(text, "0123456789") == "" {
		return 2
	}
	if rarePairs, ok := scoreWord(text); ok {
		return 4 + max(0, n-8) + float64(rarePairs) // long words are rare, and long texts may be random
	}
	return math.Inf(1)
}

func reverse(text string) string {
	out := []byte(text)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// commonConsonantPairs are the pairs of consonants that are common in European languages.
var commonConsonantPairs = pairSet(`bb bl br bs cc ch ck cl cr ct dd dr ds ff fl fr ft gg gh gl gn gr gs hl hm hn hr ht kk kl kn kr ks kt
	lb lc ld lf lg lk ll lm ln lp ls lt lv lz mb mm mn mp ms nb nc nd nf ng nk nn ns nt nv nz pf ph pl pp pr ps pt
	rb rc rd rf rg rh rk rl rm rn rp rr rs rt rv rw rz sc sh sk sl sm sn sp ss st sw tc th tl tr ts tt tw tz wh wn wr ws zw zz`)

func pairSet(list string) map[[2]rune]bool {
	set := map[[2]rune]bool{}
	for _, pair := range strings.Fields(list) {
		set[[2]rune{rune(pair[0]), rune(pair[1])}] = true
	}
	return set
}

// scoreWord reports whether letters look like a word: they have a vowel, and at most four
// consonants and three vowels in a row. rarePairs is the number of consonant pairs that
// few words have; random letters have many.
func scoreWord(letters string) (rarePairs int, ok bool) {
	vowels, consonants, hasVowel := 0, 0, false
	var before rune
	for _, c := range letters {
		switch {
		case strings.ContainsRune("aeiouyäöü", c):
			vowels, consonants, hasVowel = vowels+1, 0, true
		case unicode.IsLetter(c):
			vowels, consonants = 0, consonants+1
			if consonants > 1 && !commonConsonantPairs[[2]rune{before, c}] {
				rarePairs++
			}
		default:
			return 0, false
		}
		if vowels > 3 || consonants > 4 {
			return 0, false
		}
		before = c
	}
	return rarePairs, hasVowel
}
