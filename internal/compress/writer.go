package compress

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"sync"
)

// least is from how many bytes on compression is worth it: less fits into one packet
// anyway.
const least = 1 << 10

// Writer compresses an answer as it is written, if its type and size are worth it.
// What is flushed reaches the client. Answers that have no body, are a range, are
// encoded already or carry a strong ETag pass through unchanged: a strong ETag names
// exact bytes, and API clients send it back in If-Match.
type Writer struct {
	http.ResponseWriter
	status int
	begun  bool         // the header is sent
	held   []byte       // the beginning of the body, until its size decides
	zip    *gzip.Writer // nil: the answer passes through
}

// For returns a writer for a route whose answers may be compressed; nil if this client
// gets them plain.
func For(w http.ResponseWriter, r *http.Request) *Writer {
	Vary(w.Header())
	return Private(w, r)
}

// Private is For without a Vary header, for answers that no cache may store.
func Private(w http.ResponseWriter, r *http.Request) *Writer {
	if r.Method == http.MethodHead || len(r.Header["Range"]) > 0 || !Accepted(r.Header) {
		return nil
	}
	return &Writer{ResponseWriter: w}
}

// zips are at the fastest level: lists and exports are made anew for each request.
var zips = sync.Pool{New: func() any {
	zip, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level exists
	}
	return zip
}}

// Unwrap lets http.ResponseController through.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader waits for the body to show its size, if that may decide.
func (w *Writer) WriteHeader(status int) {
	if w.begun || status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.status = status; !w.suitable() {
		w.begin(false)
	}
}

// suitable says whether an answer may be compressed, but for its size.
func (w *Writer) suitable() bool {
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
	return compressible(h.Get("Content-Type"))
}

// begin sends the header.
func (w *Writer) begin(zipped bool) {
	w.begun = true
	if zipped {
		h := w.Header()
		delete(h, "Content-Length")
		h["Content-Encoding"] = encoded
		w.zip = zips.Get().(*gzip.Writer)
		w.zip.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.status)
}

var encoded = []string{"gzip"}

func (w *Writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun && len(w.held)+len(p) < least {
		w.held = append(w.held, p...)
		return len(p), nil
	}
	if !w.begun {
		w.begin(true)
		if _, err := w.zip.Write(w.held); err != nil {
			return 0, err
		}
		w.held = nil
	}
	if w.zip != nil {
		return w.zip.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// FlushError sends what was written so far. A stream that is flushed is compressed
// whatever its size, as nobody knows how long it will be.
func (w *Writer) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun {
		w.begin(true)
		if _, err := w.zip.Write(w.held); err != nil {
			return err
		}
		w.held = nil
	}
	if w.zip != nil {
		if err := w.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Whole writes a complete answer. The compressor is free again before the network is
// waited for.
func (w *Writer) Whole(status int, body []byte) {
	h := w.Header()
	if w.status = status; len(body) >= least && w.suitable() {
		var out bytes.Buffer
		out.Grow(len(body) / 4)
		zip := zips.Get().(*gzip.Writer)
		zip.Reset(&out)
		zip.Write(body) // a buffer takes everything
		zip.Close()
		zips.Put(zip)
		h["Content-Encoding"] = encoded
		body = out.Bytes()
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.begin(false)
	w.ResponseWriter.Write(body) // the client may have gone
}

// Close ends an answer that was written to its end. It must not be called for one that
// broke off, which would then look complete.
func (w *Writer) Close() error {
	switch {
	case w.zip != nil:
		err := w.zip.Close()
		zips.Put(w.zip)
		w.zip = nil
		return err
	case w.status != 0 && !w.begun:
		w.begin(false)
		_, err := w.ResponseWriter.Write(w.held)
		return err
	}
	return nil
}
