package download

import (
	"io"
	"net/http"
	"strings"
	"time"

	"formulary/internal/fault"
)

// Stored describes a stored file to the client.
type Stored struct {
	MediaType    string
	Disposition  string // value of Content-Disposition; empty: none
	ETag         string
	Modified     time.Time
	CacheControl string
}

// Serve sends a stored file, or the ranges that the client asks for, while the client keeps
// reading. Browsers never run what is in it. It returns an error only if nothing was sent:
// the file has no such range.
func Serve(w http.ResponseWriter, r *http.Request, file Stored, content io.ReadSeeker) error {
	h := w.Header()
	h.Set("Content-Type", file.MediaType)
	if file.Disposition != "" {
		h.Set("Content-Disposition", file.Disposition)
	}
	h.Set("ETag", file.ETag)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", file.CacheControl)
	r = withoutForeignHeaders(r)
	out := &patient{ResponseWriter: w, control: http.NewResponseController(w)}
	http.ServeContent(out, r, "", file.Modified, content)
	if !out.refused {
		return nil
	}
	for _, name := range []string{"Content-Disposition", "Content-Length", "Content-Type"} {
		h.Del(name)
	}
	return fault.New(fault.BadRange, "The file has no bytes in the requested range.")
}

// withoutForeignHeaders returns the request without headers that do not apply to reading:
// conditions for changes, and ranges in other units than bytes, which a server must ignore.
func withoutForeignHeaders(r *http.Request) *http.Request {
	var foreign []string
	for _, name := range []string{"If-Match", "If-Unmodified-Since", "Range"} {
		value := r.Header.Get(name)
		if value != "" && (name != "Range" || !strings.HasPrefix(value, "bytes=")) {
			foreign = append(foreign, name)
		}
	}
	if foreign == nil {
		return r
	}
	r = r.Clone(r.Context())
	for _, name := range foreign {
		r.Header.Del(name)
	}
	return r
}

// patient extends the write deadline with every chunk: the server's own is for whole
// responses, and a file may take longer.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	refused bool // the text of the refusal is dropped
}

func (p *patient) WriteHeader(status int) {
	if p.refused = status == http.StatusRequestedRangeNotSatisfiable; !p.refused {
		p.ResponseWriter.WriteHeader(status)
	}
}

// chunk is what a client must read within writeTimeout.
const chunk = 1 << 20

func (p *patient) extend() { p.control.SetWriteDeadline(time.Now().Add(writeTimeout)) }

func (p *patient) Write(b []byte) (int, error) {
	if p.refused {
		return len(b), nil
	}
	p.extend()
	return p.ResponseWriter.Write(b)
}

// ReadFrom copies in chunks, for which the operating system can copy from a file directly.
func (p *patient) ReadFrom(from io.Reader) (int64, error) {
	to, ok := p.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{p}, from)
	}
	left := int64(1<<63 - 1)
	limited, isLimited := from.(*io.LimitedReader) // ServeContent limits ranges
	if isLimited {
		from, left = limited.R, limited.N
	}
	var sent int64
	for sent < left {
		p.extend()
		want := min(chunk, left-sent)
		n, err := to.ReadFrom(&io.LimitedReader{R: from, N: want})
		sent += n
		if isLimited {
			limited.N -= n
		}
		if err != nil || n < want {
			return sent, err
		}
	}
	return sent, nil
}

func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
