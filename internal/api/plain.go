package api

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plain reads JSON that is written as programs write it: without escapes, exponents and
// keys that stand twice. It does so for half of the price, as texts stay where they
// stand. What it does not take is not wrong: the library reads it then, or says what is
// wrong with it.
type plain struct {
	text  string
	at    int
	depth int
}

// plainDepth is as deep as the answers to a question are nested, and some more.
const plainDepth = 8

// readPlain reads a submission.
func (s *Submission) readPlain(text string) bool {
	p := plain{text: text}
	if !utf8.ValidString(text) || !p.next('{') {
		return false
	}
	name, ok := p.quoted()
	if !ok || name != "answers" || !p.next(':') {
		return false
	}
	answers, ok := p.object()
	if !ok || !p.next('}') || !p.ended() {
		return false
	}
	s.Answers = answers
	return true
}

// ended says that nothing is left.
func (p *plain) ended() bool {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\n' || p.text[p.at] == '\t' || p.text[p.at] == '\r') {
		p.at++
	}
	return p.at == len(p.text)
}

// next goes past a character, if it comes next.
func (p *plain) next(c byte) bool {
	if p.ended() || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *plain) object() (map[string]any, bool) {
	if p.depth++; p.depth > plainDepth || !p.next('{') {
		return nil, false
	}
	object := map[string]any{}
	for n := 1; !p.next('}'); n++ {
		if n > 1 && !p.next(',') {
			return nil, false
		}
		key, ok := p.quoted()
		if !ok || !p.next(':') {
			return nil, false
		}
		if object[key], ok = p.value(); !ok || len(object) < n { // it stands twice
			return nil, false
		}
	}
	p.depth--
	return object, true
}

func (p *plain) list() ([]any, bool) {
	if p.depth++; p.depth > plainDepth || !p.next('[') {
		return nil, false
	}
	list := []any{}
	for !p.next(']') {
		if len(list) > 0 && !p.next(',') {
			return nil, false
		}
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	p.depth--
	return list, true
}

func (p *plain) value() (any, bool) {
	if p.ended() {
		return nil, false
	}
	switch rest := p.text[p.at:]; {
	case rest[0] == '"':
		return p.quoted()
	case rest[0] == '{':
		return p.object()
	case rest[0] == '[':
		return p.list()
	case strings.HasPrefix(rest, "true"):
		p.at += len("true")
		return true, true
	case strings.HasPrefix(rest, "false"):
		p.at += len("false")
		return false, true
	case strings.HasPrefix(rest, "null"):
		p.at += len("null")
		return nil, true
	}
	return p.number()
}

func (p *plain) quoted() (string, bool) {
	if !p.next('"') {
		return "", false
	}
	for end := p.at; end < len(p.text); end++ {
		switch c := p.text[end]; {
		case c == '"':
			text := p.text[p.at:end]
			p.at = end + 1
			return text, true
		case c == '\\' || c < ' ':
			return "", false
		}
	}
	return "", false
}

func (p *plain) number() (float64, bool) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	whole := p.at
	if n := p.digits(); n == 0 || n > 1 && p.text[whole] == '0' {
		return 0, false
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		if p.at++; p.digits() == 0 {
			return 0, false
		}
	}
	number, err := strconv.ParseFloat(p.text[start:p.at], 64)
	return number, err == nil
}

// digits goes past them, and says how many there were.
func (p *plain) digits() int {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
