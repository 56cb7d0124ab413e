package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Message is a text for users: an English format, which is also the key of its
// translations, and its arguments. They stay separate until the message is rendered, so
// that a translation is a table lookup. As an error, a Message is rendered in English.
type Message struct {
	Format string
	Args   []any
}

// Messagef returns a message. Without arguments, the format is not interpreted.
func Messagef(format string, args ...any) *Message { return &Message{format, args} }

// MessageOf returns the message of an error. An error that is not a Message has no
// translations.
func MessageOf(err error) *Message {
	if m, ok := errors.AsType[*Message](err); ok {
		return m
	}
	return Messagef("%s", err)
}

// Translator has the translations into one language.
type Translator interface {
	// Lookup returns the translation of an English text.
	Lookup(text string) string
	// LookupPlural is Lookup in the plural form for n.
	LookupPlural(text string, n int) string
}

// english is the Translator that translates nothing.
type english struct{}

func (english) Lookup(text string) string              { return text }
func (english) LookupPlural(text string, _ int) string { return text }

// Term is an argument whose form depends on the language, such as a date.
type Term interface {
	Localize(Translator) string
}

// Localize renders the message with its translation. A message can be an argument of
// another one.
func (m *Message) Localize(t Translator) string {
	args := make([]any, len(m.Args))
	for i, arg := range m.Args {
		if term, ok := arg.(Term); ok {
			arg = term.Localize(t)
		}
		args[i] = arg
	}
	return Format(t, m.Format, args...)
}

// Format translates a format and fills in its arguments. If the only argument is a whole
// number, it selects the plural form, which may leave the number out. Without arguments,
// the format is not interpreted.
func Format(t Translator, format string, args ...any) string {
	if len(args) == 0 {
		return t.Lookup(format)
	}
	n, ok := wholeNumber(args[0])
	if !ok || len(args) > 1 {
		return fmt.Sprintf(t.Lookup(format), args...)
	}
	if format = t.LookupPlural(format, n); !strings.Contains(format, "%") {
		return format
	}
	return fmt.Sprintf(format, n)
}

func wholeNumber(arg any) (n int, ok bool) {
	switch n := arg.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	}
	return 0, false
}

func (m *Message) Error() string { return m.Localize(english{}) }

// Localize renders the message of the error.
func (e *Error) Localize(t Translator) string {
	if e.Text == nil {
		return e.Message
	}
	return e.Text.Localize(t)
}

// Localize renders the message of the detail.
func (d Detail) Localize(t Translator) string { return d.text().Localize(t) }

func (d Detail) text() *Message {
	if d.Text == nil {
		return Messagef("%s", d.Message)
	}
	return d.Text
}
