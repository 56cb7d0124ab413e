// Package download sends files over HTTP that are written while they are sent. It is
// below api and web, which both offer exports, so that neither imports the other.
package download

import (
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"
)

// writeTimeout is how long a client may take for the next chunk of a file.
const writeTimeout = 30 * time.Second

// File describes a file to the client.
type File struct {
	Name      string
	MediaType string
}

// Send streams the output of write while the client keeps reading. An error before the
// first chunk is returned. After it the status is sent: the error is logged and the
// connection is aborted, so that the client does not take half a file for a whole one.
func Send(w http.ResponseWriter, r *http.Request, log *slog.Logger, file File, write func(io.Writer) error) error {
	out := &stream{to: w, control: http.NewResponseController(w), headers: http.Header{
		"Content-Type":        {file.MediaType},
		"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": file.Name})},
		"Cache-Control":       {"private, no-store"},
	}}
	err := write(out)
	switch {
	case err == nil:
		out.start() // a file may be empty
		return nil
	case !out.started:
		return err
	case r.Context().Err() == nil: // otherwise the client disconnected
		log.Error("download interrupted", "error", err, "name", file.Name)
	}
	panic(http.ErrAbortHandler)
}

// stream sends the headers with the first chunk.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	headers http.Header
	started bool
}

func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	for name, values := range s.headers {
		s.to.Header()[name] = values
	}
	s.to.WriteHeader(http.StatusOK)
}

func (s *stream) Write(p []byte) (int, error) {
	s.start()
	// The server's deadline is for whole responses, and a file may take longer.
	s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.to.Write(p)
}
