package fault

import (
	"errors"
	"fmt"
)

// Message is a sentence for people: an English format, which is also the key of its
// translations, and its arguments. They stay apart until somebody reads the message, so
// that a translation is a table lookup. As an error, a Message is rendered in English.
type Message struct {
	Format string
	Args   []any
}

// Messagef makes a message. Without arguments the format is the text, whatever signs it
// contains.
func Messagef(format string, args ...any) *Message { return &Message{format, args} }

// MessageOf is what an error says; one that is no Message has no translations.
func MessageOf(err error) *Message {
	if m, ok := errors.AsType[*Message](err); ok {
		return m
	}
	return Messagef("%s", err)
}

// Term is an argument that languages write differently, such as a date. word looks a text
// up in the translations.
type Term interface {
	Localize(word func(string) string) string
}

// Localize renders the message with its translation. A message can be an argument of
// another one.
func (m *Message) Localize(word func(string) string) string {
	format := word(m.Format)
	if len(m.Args) == 0 {
		return format
	}
	args := make([]any, len(m.Args))
	for i, arg := range m.Args {
		if t, ok := arg.(Term); ok {
			arg = t.Localize(word)
		}
		args[i] = arg
	}
	return fmt.Sprintf(format, args...)
}

func (m *Message) Error() string { return m.Localize(func(text string) string { return text }) }

// Localize renders the message of the error.
func (e *Error) Localize(word func(string) string) string {
	if e.Text == nil {
		return e.Message
	}
	return e.Text.Localize(word)
}

// Localize renders the message of the detail.
func (d Detail) Localize(word func(string) string) string { return d.text().Localize(word) }

func (d Detail) text() *Message {
	if d.Text == nil {
		return Messagef("%s", d.Message)
	}
	return d.Text
}
