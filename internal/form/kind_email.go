package form

import (
	"net/mail"
	"net/url"
	"strings"
)

// email is an e-mail address.
type email struct{ words }

func (email) Name() string                                             { return "email" }
func (email) Properties() []string                                     { return []string{"placeholder"} }
func (email) Check(*Field, func(property, format string, args ...any)) {}
func (email) Post(f *Field, in url.Values) any                         { return posted(f, in) }

var errEmail = problem("this is not an e-mail address")

func (email) Answer(_ *Field, value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > 254 || strings.ContainsAny(text, " ,<>\"") {
		return nil, errEmail
	}
	return text, nil
}

func (email) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "email", "maxLength": 254}
}

// About is how owners know it.
func (email) About() About { return About{"E-mail", "An address that is checked", "Text"} }
