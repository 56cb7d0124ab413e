package form

import (
	"net/mail"
	"net/url"
	"strings"
)

// email is an email address.
type email struct{}

func (email) Name() string                                             { return "email" }
func (email) Properties() []string                                     { return []string{"placeholder"} }
func (email) Check(*Field, func(property, format string, args ...any)) {}
func (email) ParseForm(f *Field, in url.Values) any                    { return formValue(f, in) }

var errEmail = answerError("enter an email address, such as name@example.com")

func (email) Validate(_ *Field, value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	if !isEmail(text) {
		return nil, errEmail
	}
	return textFrom(value, text), nil
}

func isEmail(text string) bool {
	// A domain without a dot is a local host name, or incomplete.
	if at := strings.LastIndexByte(text, '@'); len(text) > 254 || !strings.Contains(text[at+1:], ".") {
		return false
	}
	// Nearly all addresses are simple, and do not need the full grammar.
	if local, domain, ok := strings.Cut(text, "@"); ok && isDotAtom(local) && isDotAtom(domain) {
		return true
	}
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text && !strings.ContainsAny(text, " ,<>\"")
}

func isDotAtom(text string) bool {
	last := byte('.')
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (c != '.' || last == '.') {
			return false
		}
		last = c
	}
	return last != '.'
}

func (email) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "email", "maxLength": 254}
}

func (email) Traits() Traits {
	return Traits{
		Email:   true,
		Input:   "email",
		Rules:   patternRule(`^[^ @]+@[^ @]+\.[^ @]+$`, errEmail),
		Link:    func(address string) string { return "mailto:" + address },
		Example: func(_ *Field, s Sampler) any { return strings.ToLower(s.Name) + "@example.com" },
	}
}

func (email) Info() KindInfo {
	return KindInfo{"Email", "A valid email address", "Contact details", "mail", "e-mail, contact"}
}
