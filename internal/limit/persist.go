package limit

import (
	"context"
	"encoding/json"
	"time"
)

// PersistFunc durably stores one event of a key in the named limiter. The event moves
// the time at which the quota of the key is full again by cost.
type PersistFunc func(ctx context.Context, limiter, key string, cost time.Duration, now time.Time) error

// Persist makes Record store events with persist, under the name of the limiter, and
// returns the limiter. Call it before the limiter is used.
func (l *Limiter[K]) Persist(name string, persist PersistFunc) *Limiter[K] {
	l.name, l.persist = name, persist
	return l
}

// Record stores an event that Allow has counted, so that it survives a restart. Use it for
// events such as wrong passwords. It returns when the event is durable: a caller that
// responds after that cannot lose the event.
func (l *Limiter[K]) Record(ctx context.Context, key K) error {
	if l == nil || l.persist == nil {
		return nil
	}
	text, err := json.Marshal(key)
	if err != nil {
		return err
	}
	return l.persist(ctx, l.name, string(text), l.eventCost, l.now())
}

// Restore loads a stored key. until is the time at which its quota is full again. A later
// time that the limiter already has stays.
func (l *Limiter[K]) Restore(text string, until time.Time) error {
	var key K
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		return err
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, max(s.fullAt[key], until.UnixNano()), l.now().UnixNano())
	return nil
}
