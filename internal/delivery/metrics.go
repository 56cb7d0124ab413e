package delivery

import (
	"sync/atomic"
	"time"

	"formulary/internal/webhook"
)

// metrics counts attempts.
type metrics struct {
	delivered, failed atomic.Int64
}

func (m *metrics) observe(r webhook.Result) {
	if r.Delivered() {
		m.delivered.Add(1)
	} else {
		m.failed.Add(1)
	}
}

// Stats is what the dispatcher of this node has done and has to do.
type Stats struct {
	Delivered, Failed int64         // attempts since the start
	Pending           int64         // deliveries that are to be tried again
	Lag               time.Duration // age of the oldest event that waits for its first attempt to end
}

// Stats returns the figures of now.
func (d *Dispatcher) Stats() Stats {
	s := Stats{Delivered: d.metrics.delivered.Load(), Failed: d.metrics.failed.Load()}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	for _, a := range d.accounts {
		s.Pending += a.pending
		for _, r := range a.runners {
			if at := r.oldest.Load(); at != 0 {
				s.Lag = max(s.Lag, now.Sub(time.UnixMilli(at)))
			}
		}
	}
	return s
}
