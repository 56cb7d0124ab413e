package form

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plainLetters are those that have no accent to lose.
var plainLetters = strings.NewReplacer("ß", "ss", "ı", "i")

// slug makes a key of the letters and digits of a text, without their accents.
func slug(text, otherwise string) string {
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
	return otherwise
}

// keySet are the keys that are taken. It hands out others, numbered where a name is
// wanted more than once.
type keySet struct {
	taken map[string]bool
	next  map[string]int // by name: the number to try first
}

func newKeys() *keySet { return &keySet{taken: map[string]bool{}, next: map[string]int{}} }

func (n *keySet) reserve(key string) { n.taken[key] = true }

// free is the key, or the key with a number behind it, and from now on taken.
func (n *keySet) free(key string) string {
	try := key
	for number := max(2, n.next[key]); n.taken[try]; number++ {
		try = key + "_" + strconv.Itoa(number)
		n.next[key] = number + 1
	}
	n.reserve(try)
	return try
}
