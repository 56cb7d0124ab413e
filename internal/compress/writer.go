package compress

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"sync"
)

// minSize is the size in bytes from which bodies are compressed. Smaller ones fit into one
// packet anyway.
const minSize = 1 << 10

// Writer compresses a response while it is written, if its type and size make that
// worthwhile. Flushed bytes reach the client at once. It does not change responses that
// have no body, are ranges, have a Content-Encoding or have a strong ETag: a strong ETag
// identifies exact bytes, and API clients send it back in If-Match.
type Writer struct {
	http.ResponseWriter
	status     int
	headerSent bool
	buffered   []byte       // start of the body, until minSize is reached
	gz         *gzip.Writer // nil: the response is not compressed
}

// NewWriter returns a Writer for a route whose responses may be compressed, or nil if this
// request gets an uncompressed response. It sets the Vary header in both cases.
func NewWriter(w http.ResponseWriter, r *http.Request) *Writer {
	Vary(w.Header())
	return NewPrivateWriter(w, r)
}

// NewPrivateWriter is For without the Vary header, for responses that caches must not store.
func NewPrivateWriter(w http.ResponseWriter, r *http.Request) *Writer {
	if r.Method == http.MethodHead || len(r.Header["Range"]) > 0 || !Accepted(r.Header) {
		return nil
	}
	return &Writer{ResponseWriter: w}
}

// gzipWriters compress at the fastest level, because lists and exports are compressed for
// each request.
var gzipWriters = sync.Pool{New: func() any {
	gz, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // not possible: the level is valid
	}
	return gz
}}

// Unwrap implements the interface that http.ResponseController uses.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader delays the header until the size of the body is known to reach minSize, or
// sends it at once if the response cannot be compressed.
func (w *Writer) WriteHeader(status int) {
	if w.headerSent || status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.status = status; !w.canCompress() {
		w.sendHeader(false)
	}
}

// canCompress reports whether the status and headers allow compression.
func (w *Writer) canCompress() bool {
	h := w.Header()
	switch {
	case w.status == http.StatusNoContent, w.status == http.StatusNotModified, w.status == http.StatusPartialContent:
		return false
	case len(h["Content-Encoding"]) > 0, len(h["Content-Range"]) > 0:
		return false
	}
	if tag := h.Get("ETag"); tag != "" && tag[0] == '"' {
		return false
	}
	return isCompressible(h.Get("Content-Type"))
}

// sendHeader sends the header. If compress is set, the body is compressed from here on.
func (w *Writer) sendHeader(compress bool) {
	w.headerSent = true
	if compress {
		h := w.Header()
		delete(h, "Content-Length")
		h["Content-Encoding"] = gzipEncoding
		w.gz = gzipWriters.Get().(*gzip.Writer)
		w.gz.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.status)
}

// gzipEncoding is the value of the Content-Encoding header, allocated once.
var gzipEncoding = []string{"gzip"}

func (w *Writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.headerSent && len(w.buffered)+len(p) < minSize {
		w.buffered = append(w.buffered, p...)
		return len(p), nil
	}
	if !w.headerSent {
		w.sendHeader(true)
		if _, err := w.gz.Write(w.buffered); err != nil {
			return 0, err
		}
		w.buffered = nil
	}
	if w.gz != nil {
		return w.gz.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// FlushError sends everything that was written so far; http.ResponseController calls it.
// It starts compression below minSize too, because the final size is unknown.
func (w *Writer) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.headerSent {
		w.sendHeader(true)
		if _, err := w.gz.Write(w.buffered); err != nil {
			return err
		}
		w.buffered = nil
	}
	if w.gz != nil {
		if err := w.gz.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Whole writes a complete response. It returns the compressor to the pool before it writes
// to the network, which can be slow.
func (w *Writer) Whole(status int, body []byte) {
	h := w.Header()
	if w.status = status; len(body) >= minSize && w.canCompress() {
		var out bytes.Buffer
		out.Grow(len(body) / 4)
		gz := gzipWriters.Get().(*gzip.Writer)
		gz.Reset(&out)
		gz.Write(body) // writing to a buffer cannot fail
		gz.Close()
		gzipWriters.Put(gz)
		h["Content-Encoding"] = gzipEncoding
		body = out.Bytes()
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.sendHeader(false)
	w.ResponseWriter.Write(body) // an error means that the client has disconnected
}

// Close ends the response. Call it only after the complete response was written: an
// interrupted response would otherwise look complete to the client.
func (w *Writer) Close() error {
	switch {
	case w.gz != nil:
		err := w.gz.Close()
		gzipWriters.Put(w.gz)
		w.gz = nil
		return err
	case w.status != 0 && !w.headerSent:
		w.sendHeader(false)
		_, err := w.ResponseWriter.Write(w.buffered)
		return err
	}
	return nil
}
