package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// NewLog returns a logger that writes text or JSON lines to out. Up to logBatch lines are
// formatted and written at once, at the latest after logInterval: one after another, they
// take less than half of the CPU time that each takes between other work, and one system
// call. Warnings and errors are written immediately. Close writes the rest.
func NewLog(out io.Writer, asJSON bool, level slog.Level) (*slog.Logger, io.Closer) {
	queue := &logQueue{out: out, stop: make(chan struct{}), stopped: make(chan struct{})}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(&queue.lines, options)
	if asJSON {
		handler = slog.NewJSONHandler(&queue.lines, options)
	}
	go queue.writePeriodically()
	return slog.New(queuedHandler{handler, queue}), queue
}

const (
	logInterval = 100 * time.Millisecond
	logBatch    = 128
)

// logQueue holds the log records that are not yet written, in their order.
type logQueue struct {
	mu      sync.Mutex
	waiting []queuedRecord

	writing sync.Mutex     // held while records are written; guards the following
	spare   []queuedRecord // becomes waiting while its records are written
	lines   bytes.Buffer
	out     io.Writer

	once          sync.Once
	stop, stopped chan struct{}
}

// queuedRecord is a record and the handler that formats it.
type queuedRecord struct {
	handler slog.Handler
	record  slog.Record
}

// add appends a record. If the batch is full, the caller writes it: so the queue cannot
// grow faster than it is written.
func (q *logQueue) add(r queuedRecord) {
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	full := len(q.waiting) >= logBatch
	q.mu.Unlock()
	if full || r.record.Level >= slog.LevelWarn {
		q.write() // an error cannot be reported
	}
}

// write writes all records that are waiting.
func (q *logQueue) write() error {
	q.writing.Lock()
	defer q.writing.Unlock()
	q.mu.Lock()
	batch := q.waiting
	q.waiting = q.spare
	q.mu.Unlock()
	for _, r := range batch {
		r.handler.Handle(context.Background(), r.record) // writing to lines cannot fail
	}
	clear(batch)
	q.spare = batch[:0]
	if q.lines.Len() == 0 {
		return nil
	}
	defer q.lines.Reset()
	_, err := q.out.Write(q.lines.Bytes())
	return err
}

func (q *logQueue) writePeriodically() {
	defer close(q.stopped)
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			q.write()
		case <-q.stop:
			return
		}
	}
}

// Close writes the records that are waiting.
func (q *logQueue) Close() error {
	q.once.Do(func() { close(q.stop) })
	<-q.stopped
	return q.write()
}

// queuedHandler adds records to the queue.
type queuedHandler struct {
	slog.Handler // formats the records later
	queue        *logQueue
}

func (h queuedHandler) Handle(_ context.Context, r slog.Record) error {
	h.queue.add(queuedRecord{h.Handler, r.Clone()})
	return nil
}

func (h queuedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return queuedHandler{h.Handler.WithAttrs(attrs), h.queue}
}

func (h queuedHandler) WithGroup(name string) slog.Handler {
	return queuedHandler{h.Handler.WithGroup(name), h.queue}
}
