package outbox

import (
	"log/slog"
	"sync"
	"time"

	"formulary/internal/mail"
)

// outage remembers that the mail server cannot be used. Then all mails wait: trying one after
// the other would only use up their attempts.
type outage struct {
	mu      sync.Mutex
	problem string
	since   time.Time
	until   time.Time
	pause   time.Duration
	logged  map[string]time.Time
}

// Times between two attempts to reach a server.
const (
	firstPause  = time.Second
	maxPause    = 15 * time.Second
	logInterval = 10 * time.Second // between two equal messages
)

// isOn reports whether mails are to wait.
func (o *outage) isOn() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Before(o.until)
}

// observe notes what became of an attempt.
func (o *outage) observe(log *slog.Logger, err error) {
	if mail.IsOutage(err) {
		o.log(log, "could not use the mail server", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	switch {
	case !mail.IsOutage(err):
		o.problem, o.pause, o.until = "", 0, time.Time{}
	case now.Before(o.until): // others have noticed too
	default:
		if o.problem == "" {
			o.since = now
		}
		o.problem = err.Error()
		o.pause = min(max(2*o.pause, firstPause), maxPause)
		o.until = now.Add(o.pause)
	}
}

// log logs an error, but the same message only now and then.
func (o *outage) log(log *slog.Logger, message string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.logged[message]) < logInterval {
		return
	}
	if o.logged == nil {
		o.logged = map[string]time.Time{}
	}
	o.logged[message] = time.Now()
	log.Error(message, "error", err)
}

// Problem returns why the mail server cannot be used, and since when; empty: it can.
func (s *Service) Problem() (string, time.Time) {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	return s.outage.problem, s.outage.since
}
