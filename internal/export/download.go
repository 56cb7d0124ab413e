package export

import (
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"
)

// writeTimeout is how long a reader may take for the next piece of a file.
const writeTimeout = 30 * time.Second

// fileStream is a file on its way to a reader; its headers go with the first piece.
type fileStream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	headers http.Header
	begun   bool
}

// StreamFile sends a file that write writes, in pieces, for as long as its reader goes
// on reading. An error before the first piece is returned; after it there is nobody
// to tell, and so that half a file does not look like a whole one, the connection
// ends.
func StreamFile(w http.ResponseWriter, r *http.Request, name, mediaType string, log *slog.Logger, write func(io.Writer) error) error {
	d := &fileStream{to: w, control: http.NewResponseController(w), headers: http.Header{
		"Content-Type":        {mediaType},
		"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": name})},
		"Cache-Control":       {"private, no-store"},
	}}
	err := write(d)
	switch {
	case err == nil:
		d.start() // a file may be empty
		return nil
	case !d.begun:
		return err
	case r.Context().Err() == nil: // or else the caller left
		log.Error("download interrupted", "error", err, "name", name)
	}
	panic(http.ErrAbortHandler)
}

func (d *fileStream) start() {
	if d.begun {
		return
	}
	d.begun = true
	for name, values := range d.headers {
		d.to.Header()[name] = values
	}
	d.to.WriteHeader(http.StatusOK)
}

func (d *fileStream) Write(p []byte) (int, error) {
	d.start()
	// The server's limit is for whole answers, and this one may be long.
	d.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return d.to.Write(p)
}
