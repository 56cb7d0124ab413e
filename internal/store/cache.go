package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/db"
)

// write is a transaction after which cached values of the owner hold no longer.
func (s *Store) write(ctx context.Context, owner string, fn func(db.Tx) error) error {
	err := s.db.Write(ctx, fn)
	// After an error too: whether it was committed may not be known.
	s.db.Invalidate(owner)
	return err
}

// responsesOf marks what changes with every response to a form of the owner, and
// with nothing else: values that show no counts live on.
func responsesOf(owner string) string { return "responses/" + owner }

// Cache keeps values that were read from the store, for as long as nothing of
// their owner changes. What this process changes it knows at once, and so it does
// of others on the same data folder; of what another node on PostgreSQL changes it
// hears a moment later. A node that does not hear the others keeps nothing.
type Cache[K comparable, V any] struct {
	store   *Store
	most    int64
	counts  bool // the values show counts of responses
	size    atomic.Int64
	entries sync.Map // K → cached[V]
}

type cached[V any] struct {
	value V
	mark  Generation
	read  time.Time
}

// Generation is the state of an owner's data at some moment.
type Generation struct {
	number uint64
	known  bool
}

// cacheLife bounds how long a value is kept without being read again, for the
// case that a process is killed between its commit and telling of it.
const cacheLife = time.Second

// soonLife is the same where a node may be told nothing, as when a connection
// hangs. One value may be made of another: two together are younger than a second.
const soonLife = 450 * time.Millisecond

// NewCache keeps values of at most the given size in all; what a value's size
// is, Put says.
func NewCache[K comparable, V any](s *Store, most int64) *Cache[K, V] {
	return &Cache[K, V]{store: s, most: most}
}

// NewCacheWithCounts is NewCache for values that show how many responses there
// are.
func NewCacheWithCounts[K comparable, V any](s *Store, most int64) *Cache[K, V] {
	return &Cache[K, V]{store: s, most: most, counts: true}
}

// Get returns the value of a key, if it still holds. The mark is for Put, with
// what is read from the store after this call.
func (c *Cache[K, V]) Get(owner string, key K) (value V, mark Generation, ok bool) {
	mark.number, mark.known = c.store.db.Generation(owner)
	if !mark.known {
		return value, mark, false
	}
	if c.counts {
		// Marks only grow, so the sum tells a change of either.
		more, _ := c.store.db.Generation(responsesOf(owner))
		mark.number += more
	}
	value, ok = c.GetAt(mark, key)
	return value, mark, ok
}

// GetAt is Get for a value that is made of another, which was read at the mark.
func (c *Cache[K, V]) GetAt(mark Generation, key K) (value V, ok bool) {
	found, ok := c.entries.Load(key)
	if !ok || !mark.known {
		return value, false
	}
	entry := found.(*cached[V])
	life := cacheLife
	if !c.store.db.HasInstantInvalidation() {
		life = soonLife
	}
	if entry.mark != mark || time.Since(entry.read) > life {
		c.entries.CompareAndDelete(key, found)
		return value, false
	}
	return entry.value, true
}

// Put keeps a value that was read after the mark was taken.
func (c *Cache[K, V]) Put(key K, mark Generation, value V, size int64) {
	// One value must not displace most others.
	if !mark.known || size > c.most/2 {
		return
	}
	// Forgetting everything now and then is simpler than knowing what was used
	// last, and as good where reading again is cheap.
	if c.size.Add(size) > c.most {
		c.entries.Clear()
		c.size.Store(size)
	}
	c.entries.Store(key, &cached[V]{value, mark, time.Now()})
}

// Delete drops a value.
func (c *Cache[K, V]) Delete(key K) { c.entries.Delete(key) }

// Len is how many values are kept.
func (c *Cache[K, V]) Len() int {
	n := 0
	c.entries.Range(func(any, any) bool { n++; return true })
	return n
}
