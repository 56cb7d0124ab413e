package server

import (
	"io"
	"net/http"
	"strconv"
)

// recorder is the ResponseWriter of the handlers. It records the status and size of the
// response, and sends a short one in one write: net/http would send what is beyond its
// buffer of 4 KB in a second one, and a write costs more than the rest of a short request.
type recorder struct {
	http.ResponseWriter
	request *http.Request
	status  int
	bytes   int64
	id      [1]string // request ID; an array, so that the header value needs no allocation

	holding *conn // collects what is written; nil: it does not
	length  int64 // of the response, while holding
	failed  bool  // what was held could not be sent
}

// Responses with a body of more than minHeld bytes may exceed the buffer of net/http. The
// system's send buffer takes those of up to maxHeld, even if a client reads slowly, so that
// slow clients do not occupy memory.
const (
	minHeld = 3 << 10
	maxHeld = 16 << 10
)

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.bytes == 0 {
		r.hold()
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	if r.holding != nil && (err != nil || r.bytes >= r.length) {
		if releaseErr := r.release(); err == nil {
			err = releaseErr
		}
	}
	return n, err
}

// hold makes the connection collect what is written, if the length of the response is
// known and short.
func (r *recorder) hold() {
	length := r.Header()["Content-Length"]
	if len(length) != 1 {
		return
	}
	n, err := strconv.ParseInt(length[0], 10, 64)
	if err != nil || n < minHeld || n > maxHeld {
		return
	}
	// A connection of HTTP/2 has several requests at a time.
	c, ok := r.request.Context().Value(connKey{}).(*conn)
	if !ok || r.request.ProtoMajor != 1 {
		return
	}
	c.hold()
	r.holding, r.length = c, n
}

// release sends what was collected.
func (r *recorder) release() error {
	c := r.holding
	if c == nil {
		return nil
	}
	r.holding = nil
	err := http.NewResponseController(r.ResponseWriter).Flush() // to the connection
	if releaseErr := c.release(); releaseErr != nil {
		r.failed = true
		err = releaseErr
	}
	return err
}

// FlushError sends everything that was written, for http.ResponseController.
func (r *recorder) FlushError() error {
	if err := r.release(); err != nil {
		return err
	}
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// ReadFrom lets the operating system copy from a file to the connection.
func (r *recorder) ReadFrom(from io.Reader) (int64, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if err := r.release(); err != nil {
		return 0, err
	}
	n, err := io.Copy(r.ResponseWriter, from)
	r.bytes += n
	return n, err
}

// Unwrap implements the interface that http.ResponseController uses.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
