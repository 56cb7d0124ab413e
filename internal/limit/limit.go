// Package limit implements rate limits: requests per token or address, and attempts to
// guess a secret.
package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limiter allows each key a quota of events per window. It implements the generic cell
// rate algorithm (GCRA): the allowance refills evenly, so a key can use the whole quota
// at once and then gets one event per window/quota. It stores one number per key. A nil
// Limiter allows everything.
type Limiter[K comparable] struct {
	quota     int
	window    time.Duration
	eventCost time.Duration // time in which one event refills
	now       func() time.Time
	seed      maphash.Seed
	shards    [shardCount]shard[K]
	cluster   *Cluster    // nil: this node counts alone
	name      string      // name of the limiter for persist
	persist   PersistFunc // nil: nothing survives a restart
}

const (
	shardCount = 64
	// minPruneSize is the number of keys at which a shard first deletes unused ones.
	minPruneSize = 1024
)

type shard[K comparable] struct {
	mu        sync.Mutex
	fullAt    map[K]int64 // when the quota of a key is full again, in Unix nanoseconds
	unsent    map[K]int   // events not yet sent to the other nodes
	pruneSize int         // number of keys at which to prune next
}

// New returns a limiter that allows quota events per window and key.
func New[K comparable](quota int, window time.Duration, now func() time.Time) *Limiter[K] {
	return &Limiter[K]{quota: quota, window: window, eventCost: window / time.Duration(quota), now: now, seed: maphash.MakeSeed()}
}

// Allow counts one event of the key. It returns the number of events remaining or, if
// the quota is used up, false and how long to wait.
func (l *Limiter[K]) Allow(key K) (remaining int, wait time.Duration, ok bool) {
	if l == nil {
		return 0, 0, true
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	fullAt := max(s.fullAt[key], now)
	if excess := fullAt + int64(l.eventCost) - now - int64(l.window); excess > 0 {
		return 0, time.Duration(excess), false
	}
	fullAt += int64(l.eventCost)
	s.set(key, fullAt, now)
	l.queueUsage(s, key, 1)
	return int((int64(l.window) - (fullAt - now)) / int64(l.eventCost)), 0, true
}

// Refund takes back an event that Allow has counted, such as an attempt at a password
// that turned out to be correct.
func (l *Limiter[K]) Refund(key K) {
	if l == nil {
		return
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if fullAt, ok := s.fullAt[key]; ok {
		s.fullAt[key] = fullAt - int64(l.eventCost)
		l.queueUsage(s, key, -1)
	}
}

// RetryAfter returns how long the key has to wait until its next event is allowed; 0: it
// is allowed now. It counts nothing.
func (l *Limiter[K]) RetryAfter(key K) time.Duration {
	if l == nil {
		return 0
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(max(0, s.fullAt[key]+int64(l.eventCost)-now-int64(l.window)))
}

func (l *Limiter[K]) shard(key K) *shard[K] {
	return &l.shards[maphash.Comparable(l.seed, key)%shardCount]
}

// set stores the value of a key. To bound the memory, it deletes keys whose quota is full
// again: they are treated like unknown keys. The caller holds s.mu.
func (s *shard[K]) set(key K, fullAt, now int64) {
	if s.fullAt == nil {
		s.fullAt, s.pruneSize = map[K]int64{}, minPruneSize
	}
	s.fullAt[key] = fullAt
	if len(s.fullAt) < s.pruneSize {
		return
	}
	for k, at := range s.fullAt {
		if at <= now {
			delete(s.fullAt, k)
		}
	}
	s.pruneSize = max(minPruneSize, 2*len(s.fullAt))
}

// RetryAfterSeconds returns the value of the Retry-After header for a wait: seconds,
// rounded up, at least 1.
func RetryAfterSeconds(wait time.Duration) int {
	return max(1, int((wait+time.Second-1)/time.Second))
}
