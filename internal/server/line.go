package server

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// request is what is logged of one.
type request struct {
	at           time.Time
	method, path string
	status       int
	bytes        int64
	took         time.Duration
	address      netip.Addr
	id           string
}

// record is the request for any handler.
func (r request) record() slog.Record {
	// Made by hand, as finding out which line of code logs costs as much as the
	// rest.
	line := slog.NewRecord(r.at, slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("method", r.method),
		slog.String("path", r.path),
		slog.Int("status", r.status),
		slog.Int64("bytes", r.bytes),
		slog.Duration("took", r.took),
		slog.String("address", r.address.String()),
		slog.String("id", r.id),
	)
	return line
}

// request writes what Handle would write of its record, for half of the price.
func (l *lines) request(r request) {
	room := lineRoom.Get().(*[]byte)
	defer lineRoom.Put(room)
	line := appendTime(append((*room)[:0], "time="...), r.at)
	line = append(append(line, " level=INFO msg=request"...), l.before...)
	line = appendText(l.key(line, "method"), r.method)
	line = appendText(l.key(line, "path"), r.path)
	line = strconv.AppendInt(l.key(line, "status"), int64(r.status), 10)
	line = strconv.AppendInt(l.key(line, "bytes"), r.bytes, 10)
	line = append(l.key(line, "took"), r.took.String()...)
	if line = l.key(line, "address"); r.address.Is4() {
		line = r.address.AppendTo(line)
	} else {
		line = appendText(line, r.address.String())
	}
	line = append(append(l.key(line, "id"), r.id...), '\n')
	l.out.Write(line)
	*room = line
}

// key begins an attribute.
func (l *lines) key(line []byte, name string) []byte {
	return append(append(append(append(line, ' '), l.prefix...), name...), '=')
}

// linesOf is what a logger of Log writes to, if that is lines.
func linesOf(log *slog.Logger) *lines {
	if u, ok := log.Handler().(urgent); ok {
		l, _ := u.Handler.(*lines)
		return l
	}
	return nil
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
	line = l.key(line, a.Key)
	switch value.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(line, value.Int64(), 10)
	case slog.KindTime:
		return appendTime(line, value.Time())
	}
	return appendText(line, value.String())
}

// second is one as lines have it. There are many lines in each.
type second struct {
	unix  int64
	where *time.Location
	text  string
	zone  string
}

var lastSecond atomic.Pointer[second]

// appendTime writes a time to the millisecond.
func appendTime(line []byte, t time.Time) []byte {
	s := lastSecond.Load()
	if s == nil || s.unix != t.Unix() || s.where != t.Location() {
		s = &second{t.Unix(), t.Location(), t.Format("2006-01-02T15:04:05."), t.Format("Z07:00")}
		lastSecond.Store(s)
	}
	milli := t.Nanosecond() / 1e6
	line = append(append(line, s.text...), byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10))
	return append(line, s.zone...)
}

// appendText writes a text, in quotation marks where it would not stand by itself:
// nobody can make a line look like two.
func appendText(line []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == '=' || c == '"' || c >= 0x7f {
			if strings.ContainsFunc(text[i:], disturbs) {
				return strconv.AppendQuote(line, text)
			}
			break
		}
	}
	if text == "" {
		return append(line, `""`...)
	}
	return append(line, text...)
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
