package store_test

import (
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Two processes on one data directory learn of each other's changes without a
// mapped file too, as on Windows.
func TestCacheWithFileMarks(t *testing.T) {
	place := storetest.SQLite(t)
	server, command := storetest.Open(t, place), storetest.Open(t, place)
	for _, s := range []*store.Store{server, command} {
		if err := s.UseFileMarks(); err != nil {
			t.Fatal(err)
		}
	}
	ada := person(t, server, "ada@example.com").ID
	cache := store.NewCache[string, string](server, 100)
	for name, s := range map[string]*store.Store{"here": server, "in another process": command} {
		_, before, _ := cache.Get(ada, "key")
		cache.Put("key", before, "value", 1)
		if _, after, _ := cache.Get(ada, "key"); after != before {
			t.Fatal("a mark changed by itself")
		}
		if _, err := s.CreateForm(ctx, ada, form.Header{Title: "x", Language: "en"}, nil, store.IdempotencyKey{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, after, ok := cache.Get(ada, "key"); ok || after == before {
			t.Errorf("a change made %s is not noticed", name)
		}
	}
}
