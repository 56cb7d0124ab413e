package form

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// parseAnswers reads stored answers. Summaries and exports read millions of them, so it
// returns substrings of the input, and uses encoding/json only for \u escapes.
func parseAnswers(text string, into map[string]any) error {
	p := parser{text: text}
	if p.space(); p.at == len(text) || text[p.at] != '{' {
		return errJSON
	}
	if err := p.object(into); err != nil {
		return err
	}
	if p.space(); p.at != len(text) {
		return errJSON
	}
	return nil
}

var errJSON = errors.New("stored answers are not valid JSON")

// parser reads JSON as written by this package or by PostgreSQL.
type parser struct {
	text  string
	at    int
	depth int
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\n' || p.text[p.at] == '\t' || p.text[p.at] == '\r') {
		p.at++
	}
}

// next skips the character c if it comes next, and reports whether it did.
func (p *parser) next(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value() (any, error) {
	p.space()
	if p.at == len(p.text) || p.depth > 8 {
		return nil, errJSON
	}
	switch rest := p.text[p.at:]; {
	case rest[0] == '"':
		return p.quoted()
	case rest[0] == '{':
		object := map[string]any{}
		return object, p.object(object)
	case rest[0] == '[':
		return p.list()
	case strings.HasPrefix(rest, "true"):
		p.at += 4
		return true, nil
	case strings.HasPrefix(rest, "false"):
		p.at += 5
		return false, nil
	default:
		end := 0
		for end < len(rest) && rest[end] > ' ' && rest[end] != ',' && rest[end] != ']' && rest[end] != '}' {
			end++
		}
		p.at += end
		number, err := strconv.ParseFloat(rest[:end], 64)
		return number, err
	}
}

func (p *parser) quoted() (string, error) {
	rest := p.text[p.at+1:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		return "", errJSON
	}
	if strings.IndexByte(rest[:end], '\\') >= 0 {
		return p.escaped()
	}
	p.at += end + 2
	return rest[:end], nil
}

// escapes maps the letter after a backslash to its character.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a string that contains escapes.
func (p *parser) escaped() (string, error) {
	var buffer [256]byte
	text := buffer[:0]
	for at := p.at + 1; at < len(p.text); at++ {
		switch c := p.text[at]; c {
		case '"':
			p.at = at + 1
			return string(text), nil
		case '\\':
			if at++; at == len(p.text) {
				return "", errJSON
			}
			meant := escapes[p.text[at]]
			if meant == 0 {
				return p.hexadecimal()
			}
			text = append(text, meant)
		default:
			text = append(text, c)
		}
	}
	return "", errJSON
}

// hexadecimal reads a string that contains \u escapes.
func (p *parser) hexadecimal() (text string, err error) {
	for at := p.at + 1; at < len(p.text); at++ {
		switch p.text[at] {
		case '\\':
			at++
		case '"':
			err = json.Unmarshal([]byte(p.text[p.at:at+1]), &text)
			p.at = at + 1
			return text, err
		}
	}
	return "", errJSON
}

// object reads into an empty map.
func (p *parser) object(object map[string]any) error {
	p.depth++
	defer func() { p.depth-- }()
	for p.at++; !p.next('}'); {
		if len(object) > 0 && !p.next(',') {
			return errJSON
		}
		if p.space(); p.at == len(p.text) || p.text[p.at] != '"' {
			return errJSON
		}
		key, err := p.quoted()
		if err != nil {
			return err
		}
		if !p.next(':') {
			return errJSON
		}
		if object[key], err = p.value(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) list() ([]any, error) {
	list := []any{}
	p.depth++
	defer func() { p.depth-- }()
	for p.at++; !p.next(']'); {
		if len(list) > 0 && !p.next(',') {
			return nil, errJSON
		}
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}
