package limit

import (
	"context"
	"encoding/json"
	"time"
)

// PersistFunc stores one event durably: it costs the key of the named limiter so much.
type PersistFunc func(ctx context.Context, limiter, key string, cost time.Duration, now time.Time) error

// Persist makes the limiter keep what Record is told, under a name. It is called
// before the limiter is used, and returns it.
func (l *Limiter[K]) Persist(name string, keep PersistFunc) *Limiter[K] {
	l.name, l.keep = name, keep
	return l
}

// Record keeps an event that Take has counted. Only what must survive a restart is
// recorded, such as a guess that turned out wrong. It returns when the event is
// durable, so a caller that answers afterwards cannot be made to forget it.
func (l *Limiter[K]) Record(ctx context.Context, key K) error {
	if l == nil || l.keep == nil {
		return nil
	}
	text, err := json.Marshal(key)
	if err != nil {
		return err
	}
	return l.keep(ctx, l.name, string(text), l.step, l.now())
}

// Restore sets when the allowance of a stored key is whole again.
func (l *Limiter[K]) Restore(text string, until time.Time) error {
	var key K
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		return err
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, max(s.full[key], until.UnixNano()), l.now().UnixNano())
	return nil
}
