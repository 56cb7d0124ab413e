// Package limit counts what somebody may do in a span of time: requests of a
// token or an address, and guesses at a secret.
package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limiter allows each key so many events in a window. The allowance refills
// evenly, so that a full window may come at once and the rate holds after it
// (the generic cell rate algorithm: one number is all that is kept per key).
// A nil Limiter allows everything.
type Limiter[K comparable] struct {
	quota  int
	window time.Duration
	step   time.Duration // what one event costs
	now    func() time.Time
	seed   maphash.Seed
	shards [shardCount]shard[K]
	shared *Cluster    // nil: this node counts alone
	name   string      // of what is kept
	keep   PersistFunc // nil: nothing survives a restart
}

const (
	shardCount = 64
	// pruneAt is when a shard first looks for keys that it can forget.
	pruneAt = 1024
)

type shard[K comparable] struct {
	mu     sync.Mutex
	full   map[K]int64 // when the key's allowance is whole again, in nanoseconds
	untold map[K]int   // what the other nodes have not heard of
	prune  int
}

// New allows quota events in each window.
func New[K comparable](quota int, window time.Duration, now func() time.Time) *Limiter[K] {
	return &Limiter[K]{quota: quota, window: window, step: window / time.Duration(quota), now: now, seed: maphash.MakeSeed()}
}

// Allow uses one event of the key's allowance. It returns how many are left, and
// for how long to wait when there was none.
func (l *Limiter[K]) Allow(key K) (left int, wait time.Duration, ok bool) {
	if l == nil {
		return 0, 0, true
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	full := max(s.full[key], now)
	if over := full + int64(l.step) - now - int64(l.window); over > 0 {
		return 0, time.Duration(over), false
	}
	full += int64(l.step)
	s.put(key, full, now)
	l.countElsewhere(s, key, 1)
	return int((int64(l.window) - (full - now)) / int64(l.step)), 0, true
}

// Refund gives an event back, as when a guess turned out right.
func (l *Limiter[K]) Refund(key K) {
	if l == nil {
		return
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if full, ok := s.full[key]; ok {
		s.full[key] = full - int64(l.step)
		l.countElsewhere(s, key, -1)
	}
}

// RetryAfter is for how long the key has used its allowance up; zero: it has not.
func (l *Limiter[K]) RetryAfter(key K) time.Duration {
	if l == nil {
		return 0
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(max(0, s.full[key]+int64(l.step)-now-int64(l.window)))
}

func (l *Limiter[K]) shard(key K) *shard[K] {
	return &l.shards[maphash.Comparable(l.seed, key)%shardCount]
}

// put keeps the shard small: keys whose allowance is whole again are as good as
// unknown.
func (s *shard[K]) put(key K, full, now int64) {
	if s.full == nil {
		s.full, s.prune = map[K]int64{}, pruneAt
	}
	s.full[key] = full
	if len(s.full) < s.prune {
		return
	}
	for k, whole := range s.full {
		if whole <= now {
			delete(s.full, k)
		}
	}
	s.prune = max(pruneAt, 2*len(s.full))
}

// RetryAfterSeconds rounds a wait up, for Retry-After.
func RetryAfterSeconds(wait time.Duration) int {
	return max(1, int((wait+time.Second-1)/time.Second))
}
