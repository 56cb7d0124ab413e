package server

import (
	"sync"
	"time"
)

// throttle allows one log line per throttleInterval, so that an attack does not fill the
// log.
type throttle struct {
	mu         sync.Mutex
	next       time.Time
	suppressed int
}

const throttleInterval = 10 * time.Second

// allow reports whether to log now, and how many events were suppressed since the last
// log line.
func (t *throttle) allow(now time.Time) (suppressed int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.next) {
		t.suppressed++
		return 0, false
	}
	suppressed, t.suppressed, t.next = t.suppressed, 0, now.Add(throttleInterval)
	return suppressed, true
}
