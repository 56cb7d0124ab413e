package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"formulary/internal/fault"
)

const (
	// writeTimeout is how long a client may take to accept the next events.
	writeTimeout = 30 * time.Second
	// commentInterval is how often a comment shows both sides that the other is there.
	commentInterval = 15 * time.Second
	// accessInterval is how often a stream checks that it may continue.
	accessInterval = time.Second
)

// Source is a stream of server-sent events.
type Source interface {
	// Ready returns a channel from which can be received when there may be more. Call it
	// before Next.
	Ready() <-chan struct{}
	// Next returns events that are valid until the next call, or none.
	Next(context.Context) ([][]byte, error)
}

// Send sends the events of a source until the client disconnects, the service closes, or
// allowed or the source returns an error that is not temporary. first is sent at once.
// allowed is called before events are sent and every second.
func (s *Service) Send(w http.ResponseWriter, r *http.Request, source Source, first []byte, allowed func(context.Context) error) {
	out := &stream{w, http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Accel-Buffering", "no") // for proxies that collect small writes
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	// The deadline of the server is for reading a whole request. When it expires, the
	// context of the request ends.
	out.control.SetReadDeadline(time.Time{})
	if out.send(first) != nil {
		return
	}
	s.sendAll(r.Context(), out, source, allowed)
}

func (s *Service) sendAll(ctx context.Context, out *stream, source Source, allowed func(context.Context) error) {
	tick := time.NewTicker(accessInterval)
	defer tick.Stop()
	commented := time.Now()
	for !s.isClosed() {
		if time.Since(commented) >= commentInterval {
			commented = time.Now()
			if out.send(comment) != nil {
				return
			}
		}
		ready := source.Ready()
		events, err := next(ctx, source, allowed)
		switch {
		case ctx.Err() != nil:
			return
		case isTemporary(err):
			ready = nil // try again with the next tick
		case err != nil:
			if _, expected := errors.AsType[*fault.Error](err); !expected {
				s.Log.Error("live stream failed", "error", err)
			}
			return
		case len(events) > 0:
			if out.send(events...) != nil {
				return
			}
			continue
		}
		select {
		case <-ready:
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.done:
			return
		}
	}
}

var comment = []byte(":\n\n")

func next(ctx context.Context, source Source, allowed func(context.Context) error) ([][]byte, error) {
	if err := allowed(ctx); err != nil {
		return nil, err
	}
	return source.Next(ctx)
}

func isTemporary(err error) bool {
	return err != nil && errors.Is(err, fault.New(fault.DatabaseUnreachable, ""))
}

func (s *Service) isClosed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// stream writes to a client, which may be slow.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// send sends events at once. The server's deadline is for whole responses.
func (s *stream) send(events ...[]byte) error {
	s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	for _, e := range events {
		if _, err := s.to.Write(e); err != nil {
			return err
		}
	}
	return s.control.Flush()
}
