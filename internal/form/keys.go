package form

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plainLetters replaces letters that do not decompose into a base letter and an accent.
var plainLetters = strings.NewReplacer("ß", "ss", "ı", "i")

// slug makes a key from the letters and digits of a text, without accents.
func slug(text, fallback string) string {
	text, _ = cutAt(text, maxLabel)
	var b strings.Builder
	for _, r := range plainLetters.Replace(strings.ToLower(norm.NFKD.String(text))) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 40 {
			break
		}
	}
	if key := strings.Trim(b.String(), "_"); key != "" {
		return key
	}
	return fallback
}

// keySet contains the keys in use. It generates unique keys by adding numbers.
type keySet struct {
	taken map[string]bool
	next  map[string]int // by key: the number to try first
}

func newKeys() *keySet { return &keySet{taken: map[string]bool{}, next: map[string]int{}} }

func (n *keySet) reserve(key string) { n.taken[key] = true }

// free returns the key, with a number if it is in use, and reserves it.
func (n *keySet) free(key string) string {
	try := key
	for number := max(2, n.next[key]); n.taken[try]; number++ {
		try = key + "_" + strconv.Itoa(number)
		n.next[key] = number + 1
	}
	n.reserve(try)
	return try
}
