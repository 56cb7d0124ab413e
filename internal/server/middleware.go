package server

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"time"

	"formulary/internal/fault"
	"formulary/internal/limit"
)

// statusRecorder remembers what was answered.
type statusRecorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	id     [1]string // of the request, as a header has it
}

func (r *statusRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *statusRecorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController through.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// These headers never differ, so they are made once.
var (
	nosniffHeader = []string{"nosniff"}
	closeHeader   = []string{"close"}
	hstsHeader    = []string{"max-age=31536000"}
	denyAllPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// middleware is what every request passes through, from the outside in.
func (s *Server) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &statusRecorder{ResponseWriter: w, id: [1]string{requestID()}}
		h := w.Header()
		h["X-Request-Id"] = rec.id[:]
		h["X-Content-Type-Options"] = nosniffHeader
		h["Content-Security-Policy"] = denyAllPolicy // pages say more
		if s.Secure {
			h["Strict-Transport-Security"] = hstsHeader
		}
		if s.stopping.Load() {
			h["Connection"] = closeHeader
		}
		defer func() {
			p := recover()
			aborted := p == http.ErrAbortHandler
			if p != nil && !aborted {
				s.recovered(rec, r, p)
			}
			s.finish(rec, r, start, aborted)
			if aborted {
				panic(p) // net/http ends the connection
			}
		}()
		if s.health(rec, r) {
			return
		}
		if err := s.limit(rec, r); err != nil {
			s.Fail(rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// recovered answers for a handler that fell over, if nothing was sent yet.
func (s *Server) recovered(rec *statusRecorder, r *http.Request, p any) {
	s.Log.Error("panic", "value", fmt.Sprint(p), "method", r.Method, "path", r.URL.Path, "stack", string(debug.Stack()))
	if s.Metrics != nil {
		s.Metrics.panics.Add(1)
	}
	if rec.status == 0 {
		s.Fail(rec, r, fmt.Errorf("panic: %v", p))
	}
}

// finish counts and logs a request. One whose client left before anything was sent is
// a 499; an answer that broke off is marked as aborted.
func (s *Server) finish(rec *statusRecorder, r *http.Request, start time.Time, aborted bool) {
	took := time.Since(start)
	if rec.status == 0 && (aborted || r.Context().Err() != nil) {
		rec.status = fault.ClientClosedRequest
	}
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	if s.Metrics != nil {
		s.Metrics.observe(r, rec.status, took)
	}
	if !s.Log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	// A record without a program counter: looking up the caller costs as much as
	// writing the line. The path alone, as a query can carry a code or a secret.
	line := slog.NewRecord(start.Add(took), slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes),
		slog.Duration("took", took),
		slog.String("address", s.Address(r).String()),
		slog.String("id", rec.id[0]),
	)
	if aborted {
		line.AddAttrs(slog.Bool("aborted", true))
	}
	s.Log.Handler().Handle(r.Context(), line) // a log that cannot be written cannot say so
}

// health answers the probes: /healthz is alive, /readyz can do its work.
func (s *Server) health(w http.ResponseWriter, r *http.Request) bool {
	status, text := http.StatusOK, "ok\n"
	switch r.URL.Path {
	case "/healthz":
	case "/readyz":
		if s.stopping.Load() {
			status, text = http.StatusServiceUnavailable, "stopping\n"
		} else if err := s.Ready(r.Context()); err != nil {
			status, text = http.StatusServiceUnavailable, "database not ready\n"
			s.Log.Warn("not ready", "error", err)
		}
	default:
		return false
	}
	r.Pattern = r.URL.Path
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text)) // the prober may have gone
	return true
}

// limit counts requests by address, but for those that only ask whether they may be
// sent.
func (s *Server) limit(w http.ResponseWriter, r *http.Request) error {
	if s.Addresses == nil || r.Method == http.MethodOptions {
		return nil
	}
	left, wait, ok := s.Addresses.Allow(limit.ClientNetwork(s.Address(r)))
	s.Addresses.SetHeader(w.Header(), "address", left, wait)
	if !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// requestID names a request in logs. It is no secret, so it need not be as hard to
// guess as one.
func requestID() string {
	var raw [12]byte
	var text [2 * len(raw)]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())
	binary.LittleEndian.PutUint32(raw[8:], rand.Uint32())
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
