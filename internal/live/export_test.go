package live

// Idle reports whether nothing is left of the streams: hubs, watches and the poller.
func (s *Service) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.hubs)+len(s.watches)+len(s.accounts)+len(s.holders) == 0 && !s.polling
}

// RecentLimit is how many responses a hub keeps.
const RecentLimit = recentLimit
