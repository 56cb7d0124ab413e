package form

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// noAnswer stands for an inserted answer that is missing, until dropNoAnswers removes it. No
// stored text contains it.
const noAnswer = "\x00"

const (
	blanks     = " \t"
	separators = ",;–—-،؛，、；"
	endMarks   = ".!?…:)]”»؟。！？：）" + separators
)

// quotePairs are characters that make no sense around nothing.
var quotePairs = []struct{ open, end string }{
	{"(", ")"}, {"[", "]"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}, {`"`, `"`}, {"'", "'"}, {"（", "）"}, {"「", "」"},
	{"**", "**"}, {"__", "__"}, {"*", "*"}, {"_", "_"}, {"`", "`"}, // Markdown
}

// dropNoAnswers removes missing answers with the punctuation that belongs to them, so that
// "You are booked, {{name}}!" becomes "You are booked!" and not "You are booked, !".
func dropNoAnswers(text string) string {
	at := strings.Index(text, noAnswer)
	if at < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for ; at >= 0; at = strings.Index(text, noAnswer) {
		out = append(out, text[:at]...)
		out, text = joinAround(out, text[at+len(noAnswer):])
	}
	return string(append(out, text...))
}

// joinAround returns the texts before and after a missing answer as they read without it.
func joinAround(before []byte, after string) ([]byte, string) {
	next := strings.TrimLeft(after, blanks)
	for ; strings.HasPrefix(next, noAnswer); next = strings.TrimLeft(after, blanks) {
		after = next[len(noAnswer):]
	}
	before, after = cutPairs(before, after)
	next = strings.TrimLeft(after, blanks)
	isFirst := len(before) == 0 || before[len(before)-1] == '\n'
	isLast := next == "" || next[0] == '\n' || next[0] == '\r'
	mark, _ := utf8.DecodeRuneInString(next)
	switch {
	case isFirst:
		rest := strings.TrimLeft(after, blanks+separators)
		if len(before) == 0 && len(rest) < len(after) {
			rest = capitalize(rest)
		}
		return before, rest
	case isLast:
		return bytes.TrimRight(before, blanks+separators), next
	case mark == ':' || mark == '：':
		return bytes.TrimRight(before, blanks), after
	case strings.ContainsRune(endMarks, mark):
		return bytes.TrimRight(before, blanks+separators), after
	case bytes.HasSuffix(before, []byte(" ")):
		return before, next
	}
	return before, after
}

// cutPairs removes quotes and brackets around a missing answer.
func cutPairs(before []byte, after string) ([]byte, string) {
	for i := 0; i < len(quotePairs); i++ {
		p := quotePairs[i]
		if strings.HasPrefix(after, "](") {
			break // a link of Markdown
		}
		if bytes.HasSuffix(before, []byte(p.open)) && strings.HasPrefix(after, p.end) {
			before, after = before[:len(before)-len(p.open)], after[len(p.end):]
			i = -1 // there may be more around them
		}
	}
	return before, after
}

func capitalize(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
