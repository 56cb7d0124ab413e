package server

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// NewLog returns a logger that writes text or JSON lines to out. Lines are buffered for
// up to logFlushInterval, because one write system call per request costs more than a
// short request itself. Warnings and errors are written at once. Close writes the rest.
func NewLog(out io.Writer, asJSON bool, level slog.Level) (*slog.Logger, io.Closer) {
	buffered := &bufferedWriter{out: bufio.NewWriterSize(out, 64<<10), stop: make(chan struct{}), stopped: make(chan struct{})}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(buffered, options)
	if asJSON {
		handler = slog.NewJSONHandler(buffered, options)
	}
	go buffered.flushPeriodically()
	return slog.New(flushOnError{handler, buffered}), buffered
}

const logFlushInterval = 100 * time.Millisecond

// bufferedWriter buffers writes and flushes them every logFlushInterval.
type bufferedWriter struct {
	mu      sync.Mutex
	out     *bufio.Writer
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

func (w *bufferedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *bufferedWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Flush()
}

func (w *bufferedWriter) flushPeriodically() {
	defer close(w.stopped)
	tick := time.NewTicker(logFlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.flush()
		case <-w.stop:
			return
		}
	}
}

func (w *bufferedWriter) Close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.stopped
	return w.flush()
}

// flushOnError is a handler that flushes the buffer after warnings and errors.
type flushOnError struct {
	slog.Handler
	writer *bufferedWriter
}

func (h flushOnError) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.writer.flush()
	}
	return err
}

func (h flushOnError) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushOnError{h.Handler.WithAttrs(attrs), h.writer}
}

func (h flushOnError) WithGroup(name string) slog.Handler {
	return flushOnError{h.Handler.WithGroup(name), h.writer}
}
