package account

import (
	"math"
	"strings"
	"unicode"
)

// How hard a password is to guess is estimated as an attacker would go about it: it
// is taken apart into what guessers try first (common words, runs on the keyboard,
// years, repetitions, what is known of the person, any word at all), in the cheapest
// way, and what is left costs a try for every character of its kind. There is no
// dictionary: whatever reads like a word counts as one of ten thousand, or of more if
// it is long. That is stricter than a list of words, and needs none in memory.

// commonPieces are what passwords are made of most, the worst first.
var commonPieces = strings.Fields(`password passwort qwerty qwertz letmein iloveyou welcome willkommen admin administrator login
	dragon monkey football fussball baseball princess sunshine superman batman master shadow hello hallo secret geheim changeme default
	starwars pokemon michael jordan jennifer thomas andreas daniel charlie ashley nicole jessica hunter ginger pepper summer sommer winter
	spring autumn herbst monday montag friday freitag january januar december dezember love liebe test user root guest gast access trust
	freedom killer soccer hockey computer internet samsung google apple microsoft windows android flower cookie banana chocolate cheese
	mustang harley ferrari mercedes porsche london berlin madrid paris munich bayern arsenal chelsea liverpool barcelona jesus angel
	lovely sweet money lucky magic naruto matrix ninja phoenix tiger lion eagle whatever nothing nobody starten service support office
	company firma server database temp temporary demo sample example forms survey`)

// keyRows are the keys as they lie side by side, and the alphabet.
var keyRows = []string{"qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm", "1234567890", "abcdefghijklmnopqrstuvwxyz", "qazwsxedcrfvtgb", "1q2w3e4r5t6z", "1qaz2wsx3edc"}

// plainLetters are the letters that others stand for.
var plainLetters = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t", "+", "t", "|", "l", "8", "b")

// guesses is how many tries a password takes, about, as a power of ten. What is known
// of the person is in lower case.
func guesses(password string, known []string) float64 {
	text := []rune(password)
	lower := []rune(strings.ToLower(password))
	letters := []rune(plainLetters.Replace(string(lower)))
	best := make([]float64, len(text)+1)
	for to := 1; to <= len(text); to++ {
		best[to] = best[to-1] + one(text[to-1])
		for from := 0; from+2 < to; from++ {
			// Others in place of letters, and capitals, are an old trick.
			cost := min(piece(string(lower[from:to]), known), piece(string(letters[from:to]), known)+.3)
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

// one is the cost of a character that belongs to nothing.
func one(c rune) float64 {
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

// piece is the cost of something that guessers know, or infinity.
func piece(text string, known []string) float64 {
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
		if strings.Contains(row, text) || strings.Contains(reversed(row), text) {
			return 1 + math.Log10(n)
		}
	}
	if len(text) == 4 && (strings.HasPrefix(text, "19") || strings.HasPrefix(text, "20")) && strings.Trim(text, "0123456789") == "" {
		return 2
	}
	if isWordLike(text) {
		return 4 + max(0, n-8) // long words are rare, and what is long may be chance
	}
	return math.Inf(1)
}

func reversed(text string) string {
	out := []byte(text)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// isWordLike says whether letters can be spoken, in most languages: with a vowel, and
// never more than four consonants nor three vowels in a row.
func isWordLike(letters string) bool {
	vowels, consonants, spoken := 0, 0, false
	for _, c := range letters {
		switch {
		case strings.ContainsRune("aeiouyäöü", c):
			vowels, consonants, spoken = vowels+1, 0, true
		case unicode.IsLetter(c):
			vowels, consonants = 0, consonants+1
		default:
			return false
		}
		if vowels > 3 || consonants > 4 {
			return false
		}
	}
	return spoken
}
