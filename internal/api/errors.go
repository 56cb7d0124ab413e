package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"formulary/internal/compress"
	"formulary/internal/fault"
)

// Error is the body of every error under /api/v1.
type Error struct {
	ErrorCode int            `json:"errorCode" doc:"Six digits. The first three are the HTTP status." example:"404002"`
	Message   string         `json:"message" doc:"A readable description of the error" example:"Not found in this account."`
	Details   []fault.Detail `json:"details,omitempty" doc:"Validation errors, one per field" nullable:"false"`
}

// OAuthError is the body of an error under /api/oauth2: the fields of RFC 6749 and our
// own.
type OAuthError struct {
	Name        string `json:"error" doc:"Error code defined in RFC 6749" example:"invalid_grant"`
	Description string `json:"error_description" doc:"Same as message"`
	Error
}

// WriteError writes an error. All errors under /api are written here.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	e := fault.Wrap(err)
	// If the client disconnected, the failure is not ours, and the response is not read.
	if r.Context().Err() != nil && (e.Code.Status() >= 500 || errors.Is(err, context.Canceled)) {
		w.WriteHeader(fault.ClientClosedRequest)
		return
	}
	message := e.Message
	h := w.Header()
	// Errors of middleware, such as rate limits, need CORS headers too.
	handler, _ := a.mux.Handler(r)
	if found, ok := handler.(*route); ok {
		allowAnyOrigin(w, r, found.cors)
	}
	switch {
	case e.Code == fault.Internal:
		id := h.Get("X-Request-Id")
		message += " If this continues, contact support with request ID " + id + "."
		a.Log.Error("request failed", "error", err, "method", r.Method, "path", r.URL.Path, "request_id", id)
	case e.Code == fault.DatabaseUnreachable:
		a.Log.Error("database unreachable", "error", err, "method", r.Method, "path", r.URL.Path, "request_id", h.Get("X-Request-Id"))
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.Challenge != "" {
		h.Set("WWW-Authenticate", e.Challenge)
	}
	body := Error{int(e.Code), message, e.Details}
	var out any = body
	if strings.HasPrefix(r.URL.Path, "/api/oauth2/") {
		setNoStore(h)
		out = OAuthError{fault.OAuthName(e.Code), toASCII(message), body}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	writeJSON(w, e.Code.Status(), out)
}

// toASCII replaces the characters that RFC 6749 does not allow in error_description.
func toASCII(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < 0x20 || r > 0x7e || r == '\\':
			return '?'
		}
		return r
	}, text)
}

func setNoStore(h http.Header) {
	h["Cache-Control"], h["Pragma"] = noStoreHeader, noCacheHeader
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	writeBytes(w, status, encode(body))
}

func encode(body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen: all response types can be encoded
	}
	return text
}

// These headers never change, so they are allocated once.
var (
	jsonType      = []string{"application/json"}
	noStoreHeader = []string{"no-store"}
	noCacheHeader = []string{"no-cache"}
)

// maxUnsizedBody is the length up to which net/http sets Content-Length itself, at a
// lower cost.
const maxUnsizedBody = 2048

func writeBytes(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if compressed, ok := w.(*compress.Writer); ok {
		compressed.Whole(status, text)
		return
	}
	if len(text) > maxUnsizedBody {
		h["Content-Length"] = []string{strconv.Itoa(len(text))}
	}
	w.WriteHeader(status)
	w.Write(text) // fails only if the client is gone
}

// bodyBuffers are reused for large bodies: allocating them costs more than filling them.
var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBodyBuffer bounds the memory of each.
const maxBodyBuffer = 256 << 10

// newBody returns a buffer for a body that starts with a text.
func newBody(start string) *[]byte {
	body := bodyBuffers.Get().(*[]byte)
	*body = append((*body)[:0], start...)
	return body
}

// reuseBody gives a buffer back, whose content is no longer needed.
func reuseBody(body *[]byte) {
	if cap(*body) > maxBodyBuffer {
		*body = nil
	}
	bodyBuffers.Put(body)
}

// writeCached writes a cached response, which is compressed once for all clients.
func writeCached(w http.ResponseWriter, status int, cached *compress.Content, text []byte) {
	if _, ok := w.(*compress.Writer); ok {
		if packed := cached.Gzip(); packed != nil {
			h := w.Header()
			h["Content-Type"] = jsonType
			compress.SetHeader(h, len(packed))
			w.WriteHeader(status)
			w.Write(packed) // fails only if the client is gone
			return
		}
	}
	writeBytes(w, status, text)
}
