package store

import (
	"container/list"
	"sync"
)

// lruCache contains the most recently used values, up to a size in bytes.
type lruCache[K comparable, V any] struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	entries map[K]*list.Element // of *lruEntry
	order   *list.List          // most recently used first
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

func newLRU[K comparable, V any](limit int64) *lruCache[K, V] {
	return &lruCache[K, V]{limit: limit, entries: map[K]*list.Element{}, order: list.New()}
}

func (r *lruCache[K, V]) get(key K) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	element, ok := r.entries[key]
	if !ok {
		return value, false
	}
	r.order.MoveToFront(element)
	return element.Value.(*lruEntry[K, V]).value, true
}

// put caches a value of size bytes unless it would displace most others.
func (r *lruCache[K, V]) put(key K, value V, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.entries[key]; known || size > r.limit/2 {
		return
	}
	r.entries[key] = r.order.PushFront(&lruEntry[K, V]{key, value, size})
	for r.bytes += size; r.bytes > r.limit; {
		oldest := r.order.Remove(r.order.Back()).(*lruEntry[K, V])
		delete(r.entries, oldest.key)
		r.bytes -= oldest.size
	}
}
