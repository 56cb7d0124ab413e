package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/db"
)

// write runs a transaction and invalidates cached values of the owner.
func (s *Store) write(ctx context.Context, owner string, fn func(db.Tx) error) error {
	err := s.db.Write(ctx, fn)
	// Also after an error: it may not be known whether the transaction committed.
	s.db.Invalidate(owner)
	return err
}

// responsesOf is the invalidation key of the responses to an owner's forms. Values that
// show no counts do not depend on it.
func responsesOf(owner string) string { return "responses/" + owner }

// Cache contains values read from the store until data of their owner changes. Changes
// by this process, and by others on the same data directory, take effect immediately;
// those of other nodes on PostgreSQL within milliseconds. A node that cannot listen to
// the others caches nothing.
type Cache[K comparable, V any] struct {
	store    *Store
	maxBytes int64
	counts   bool // the values show counts of responses
	size     atomic.Int64
	entries  sync.Map // K → cached[V]
}

type cached[V any] struct {
	value      V
	generation Generation
	read       time.Time
}

// Generation identifies the state of an owner's data.
type Generation struct {
	number uint64
	known  bool
}

// cacheLife limits the age of a value, in case a process is killed between its commit
// and the invalidation.
const cacheLife = time.Second

// clusterCacheLife is cacheLife for several nodes, where invalidation can be late
// because a connection hangs. A value can be derived from another cached one, so the
// sum of both must stay below a second.
const clusterCacheLife = 450 * time.Millisecond

// NewCache returns a cache whose total size, as given to Put, is limited.
func NewCache[K comparable, V any](s *Store, maxBytes int64) *Cache[K, V] {
	return &Cache[K, V]{store: s, maxBytes: maxBytes}
}

// NewCacheWithCounts is NewCache for values that also depend on responses.
func NewCacheWithCounts[K comparable, V any](s *Store, maxBytes int64) *Cache[K, V] {
	return &Cache[K, V]{store: s, maxBytes: maxBytes, counts: true}
}

// Get returns the value of a key if it is still valid. Pass the generation to Put with
// a value that is read from the store after this call.
func (c *Cache[K, V]) Get(owner string, key K) (value V, generation Generation, ok bool) {
	generation.number, generation.known = c.store.db.Generation(owner)
	if !generation.known {
		return value, generation, false
	}
	if c.counts {
		// Generations only grow, so the sum shows a change of either.
		more, _ := c.store.db.Generation(responsesOf(owner))
		generation.number += more
	}
	value, ok = c.GetAt(generation, key)
	return value, generation, ok
}

// GetAt is Get for a value derived from another one, which was read at the generation.
func (c *Cache[K, V]) GetAt(generation Generation, key K) (value V, ok bool) {
	found, ok := c.entries.Load(key)
	if !ok || !generation.known {
		return value, false
	}
	entry := found.(*cached[V])
	life := cacheLife
	if !c.store.db.HasInstantInvalidation() {
		life = clusterCacheLife
	}
	if entry.generation != generation || time.Since(entry.read) > life {
		c.entries.CompareAndDelete(key, found)
		return value, false
	}
	return entry.value, true
}

// Put caches a value that was read after Get returned the generation.
func (c *Cache[K, V]) Put(key K, generation Generation, value V, size int64) {
	// One value must not displace most others.
	if !generation.known || size > c.maxBytes/2 {
		return
	}
	// Clearing a full cache is simpler than LRU, and as good where reading again is
	// cheap.
	if c.size.Add(size) > c.maxBytes {
		c.entries.Clear()
		c.size.Store(size)
	}
	c.entries.Store(key, &cached[V]{value, generation, time.Now()})
}

// Delete removes a value.
func (c *Cache[K, V]) Delete(key K) { c.entries.Delete(key) }

// Len returns the number of cached values.
func (c *Cache[K, V]) Len() int {
	n := 0
	c.entries.Range(func(any, any) bool { n++; return true })
	return n
}
