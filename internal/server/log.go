package server

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// NewLog writes lines of text or JSON to out. Lines are gathered for a moment, as
// a write for each request costs more than many a request; errors go out at
// once. Close writes what is left.
func NewLog(out io.Writer, asJSON bool, level slog.Level) (*slog.Logger, io.Closer) {
	gathered := &bufferedWriter{out: bufio.NewWriterSize(out, 64<<10), ended: make(chan struct{}), done: make(chan struct{})}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(gathered, options)
	if asJSON {
		handler = slog.NewJSONHandler(gathered, options)
	}
	go gathered.flushPeriodically()
	return slog.New(flushOnError{handler, gathered}), gathered
}

const logDelay = 100 * time.Millisecond

type bufferedWriter struct {
	mu    sync.Mutex
	out   *bufio.Writer
	ended chan struct{}
	done  chan struct{}
	once  sync.Once
}

func (g *bufferedWriter) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

func (g *bufferedWriter) flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Flush()
}

func (g *bufferedWriter) flushPeriodically() {
	defer close(g.done)
	tick := time.NewTicker(logDelay)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.flush()
		case <-g.ended:
			return
		}
	}
}

func (g *bufferedWriter) Close() error {
	g.once.Do(func() { close(g.ended) })
	<-g.done
	return g.flush()
}

// flushOnError flushes after warnings and errors.
type flushOnError struct {
	slog.Handler
	gather *bufferedWriter
}

func (u flushOnError) Handle(ctx context.Context, r slog.Record) error {
	err := u.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		u.gather.flush()
	}
	return err
}

func (u flushOnError) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushOnError{u.Handler.WithAttrs(attrs), u.gather}
}

func (u flushOnError) WithGroup(name string) slog.Handler {
	return flushOnError{u.Handler.WithGroup(name), u.gather}
}
