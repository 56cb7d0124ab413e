package fault

import (
	"errors"
	"fmt"
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

// Term is an argument whose form depends on the language, such as a date. translate
// looks up a text in the translations.
type Term interface {
	Localize(translate func(string) string) string
}

// Localize renders the message with its translation. A message can be an argument of
// another one.
func (m *Message) Localize(translate func(string) string) string {
	format := translate(m.Format)
	if len(m.Args) == 0 {
		return format
	}
	args := make([]any, len(m.Args))
	for i, arg := range m.Args {
		if t, ok := arg.(Term); ok {
			arg = t.Localize(translate)
		}
		args[i] = arg
	}
	return fmt.Sprintf(format, args...)
}

func (m *Message) Error() string { return m.Localize(func(text string) string { return text }) }

// Localize renders the message of the error.
func (e *Error) Localize(translate func(string) string) string {
	if e.Text == nil {
		return e.Message
	}
	return e.Text.Localize(translate)
}

// Localize renders the message of the detail.
func (d Detail) Localize(translate func(string) string) string { return d.text().Localize(translate) }

func (d Detail) text() *Message {
	if d.Text == nil {
		return Messagef("%s", d.Message)
	}
	return d.Text
}
