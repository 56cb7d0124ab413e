package outbox

import (
	"sync/atomic"
	"time"
)

// metrics counts attempts.
type metrics struct {
	sent, failed, skipped atomic.Int64
}

func (m *metrics) observe(err error) {
	if err == nil {
		m.sent.Add(1)
	} else {
		m.failed.Add(1)
	}
}

// Stats is what this node has done and has to do.
type Stats struct {
	Sent, Failed int64         // attempts since the start
	Skipped      int64         // mails since the start to addresses that a server had refused
	Waiting      int64         // mails in the queues of this node's accounts
	Lag          time.Duration // how long the first mail that is due has been due
}

// Stats returns the figures of now.
func (s *Service) Stats() Stats {
	stats := Stats{Sent: s.metrics.sent.Load(), Failed: s.metrics.failed.Load(), Skipped: s.metrics.skipped.Load()}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	for _, q := range s.queues {
		stats.Waiting += q.waiting
		if !q.oldest.IsZero() {
			stats.Lag = max(stats.Lag, now.Sub(q.oldest))
		}
	}
	return stats
}
