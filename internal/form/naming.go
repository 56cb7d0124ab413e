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

// names are the keys that are taken. It hands out others, numbered where a name is
// wanted more than once.
type names struct {
	taken map[string]bool
	next  map[string]int // by name: the number to try first
}

func newNames() *names { return &names{taken: map[string]bool{}, next: map[string]int{}} }

func (n *names) take(key string) { n.taken[key] = true }

// unused is the key, or the key with a number behind it, and from now on taken.
func (n *names) unused(key string) string {
	try := key
	for number := max(2, n.next[key]); n.taken[try]; number++ {
		try = key + "_" + strconv.Itoa(number)
		n.next[key] = number + 1
	}
	n.take(try)
	return try
}
