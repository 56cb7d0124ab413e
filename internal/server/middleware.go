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

// Header values that are the same in every response, allocated once.
var (
	nosniffHeader = []string{"nosniff"}
	closeHeader   = []string{"close"}
	hstsHeader    = []string{"max-age=31536000"}
	denyAllPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// middleware wraps the handler of every request. It sets the common headers, recovers
// from panics, counts and logs, answers health probes and applies the rate limit.
func (s *Server) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, request: r, id: [1]string{newRequestID()}}
		h := w.Header()
		h["X-Request-Id"] = rec.id[:]
		h["X-Content-Type-Options"] = nosniffHeader
		h["Content-Security-Policy"] = denyAllPolicy // pages replace it
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
				s.handlePanic(rec, r, p)
			}
			rec.release() // sets rec.failed
			s.recordRequest(rec, r, start, aborted)
			if aborted || rec.failed {
				panic(http.ErrAbortHandler) // makes net/http close the connection
			}
		}()
		if s.serveHealth(rec, r) {
			return
		}
		if err := s.checkRateLimit(rec, r); err != nil {
			s.WriteError(rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// handlePanic logs a panic of a handler. It answers with an error if no response was
// sent yet.
func (s *Server) handlePanic(rec *recorder, r *http.Request, p any) {
	s.Log.Error("panic", "value", fmt.Sprint(p), "method", r.Method, "path", r.URL.Path, "stack", string(debug.Stack()))
	if s.Metrics != nil {
		s.Metrics.panics.Add(1)
	}
	if rec.status == 0 {
		s.WriteError(rec, r, fmt.Errorf("panic: %v", p))
	}
}

// recordRequest counts and logs a request. If the client disconnected before anything
// was sent, the status is 499. A response that was cut off is logged with aborted=true.
func (s *Server) recordRequest(rec *recorder, r *http.Request, start time.Time, aborted bool) {
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
	// The record has no program counter, because looking up the caller costs as much as
	// writing the line. The query is left out, because it can contain codes and secrets.
	record := slog.NewRecord(start.Add(took), slog.LevelInfo, "request", 0)
	record.AddAttrs(
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes),
		slog.Duration("took", took),
		slog.String("address", s.ClientIP(r).String()),
		slog.String("id", rec.id[0]),
	)
	if aborted {
		record.AddAttrs(slog.Bool("aborted", true))
	}
	s.Log.Handler().Handle(r.Context(), record) // a failing log cannot be reported
}

// serveHealth answers /healthz (the process runs) and /readyz (it can serve requests).
// It returns false for other paths.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) bool {
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
	w.Write([]byte(text)) // an error means that the client has disconnected
	return true
}

// checkRateLimit counts a request against its client address. CORS preflight requests
// do not count.
func (s *Server) checkRateLimit(w http.ResponseWriter, r *http.Request) error {
	if s.AddressLimiter == nil || r.Method == http.MethodOptions {
		return nil
	}
	remaining, wait, ok := s.AddressLimiter.Allow(limit.ClientNetwork(s.ClientIP(r)))
	s.AddressLimiter.SetHeader(w.Header(), "address", remaining, wait)
	if !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// newRequestID returns a random ID of 24 hexadecimal digits. The ID is not a secret, so
// math/rand is enough.
func newRequestID() string {
	var raw [12]byte
	var text [2 * len(raw)]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())
	binary.LittleEndian.PutUint32(raw[8:], rand.Uint32())
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
