package server

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// lines writes what is logged as lines of text, as slog's own handler does, for a
// third of the price: there is one for each request.
type lines struct {
	out    io.Writer
	level  slog.Level
	before string // attributes that every line has
	prefix string // of the names, inside of a group
}

var lineRoom = sync.Pool{New: func() any { return new([]byte) }}

// Enabled says whether a level is logged.
func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

// Handle writes a line.
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	room := lineRoom.Get().(*[]byte)
	defer lineRoom.Put(room)
	line := (*room)[:0]
	if !r.Time.IsZero() {
		line = append(appendTime(append(line, "time="...), r.Time), ' ')
	}
	line = append(append(line, "level="...), r.Level.String()...)
	line = appendText(append(line, " msg="...), r.Message)
	line = append(line, l.before...)
	r.Attrs(func(a slog.Attr) bool {
		line = l.append(line, a)
		return true
	})
	line = append(line, '\n')
	_, err := l.out.Write(line)
	*room = line
	return err
}

func (l *lines) append(line []byte, a slog.Attr) []byte {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		inner := *l
		if a.Key != "" {
			inner.prefix += a.Key + "."
		}
		for _, member := range value.Group() {
			line = inner.append(line, member)
		}
		return line
	}
	line = append(append(append(append(line, ' '), l.prefix...), a.Key...), '=')
	switch value.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(line, value.Int64(), 10)
	case slog.KindTime:
		return appendTime(line, value.Time())
	}
	return appendText(line, value.String())
}

// appendTime writes milliseconds, by the one layout that the library has a short way
// for.
func appendTime(line []byte, t time.Time) []byte {
	return t.Truncate(time.Millisecond).AppendFormat(line, time.RFC3339Nano)
}

// appendText writes a text, in quotation marks where it would not stand by itself:
// nobody can make a line look like two.
func appendText(line []byte, text string) []byte {
	if text != "" && !strings.ContainsFunc(text, disturbs) {
		return append(line, text...)
	}
	return strconv.AppendQuote(line, text)
}

func disturbs(c rune) bool {
	return c <= ' ' || c == '=' || c == '"' || c >= 0x7f && (c == utf8.RuneError || !unicode.IsPrint(c))
}

// WithAttrs is the handler with attributes that every line has.
func (l *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *l
	for _, a := range attrs {
		more.before = string(l.append([]byte(more.before), a))
	}
	return &more
}

// WithGroup is the handler inside of a group.
func (l *lines) WithGroup(name string) slog.Handler {
	more := *l
	more.prefix += name + "."
	return &more
}
