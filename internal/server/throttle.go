package server

import (
	"sync"
	"time"
)

// throttle lets one log line through in each interval, so that an attack does not
// fill the log.
type throttle struct {
	mu   sync.Mutex
	next time.Time
	held int
}

const throttleInterval = 10 * time.Second

// allow says whether to log now, and how many events went unreported before.
func (t *throttle) allow(now time.Time) (held int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.next) {
		t.held++
		return 0, false
	}
	held, t.held, t.next = t.held, 0, now.Add(throttleInterval)
	return held, true
}
