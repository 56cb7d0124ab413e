package store_test

import (
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A cached value is valid until data of its owner changes, here, in another process on
// the same database (such as a command), or on another node.
func TestCache(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		otherProcess := storetest.Open(t, storage)
		ada := addUser(t, s, "ada@example.com").ID
		cache := store.NewCache[string, string](s, 100)

		put := func() (at store.Generation) {
			t.Helper()
			// A node starts to listen with its first request, and values expire: it may
			// take several attempts until one stays.
			for range 10_000 {
				_, generation, _ := cache.Get(ada, "key")
				cache.Put("key", generation, "value", 1)
				if value, generation, ok := cache.Get(ada, "key"); ok {
					if value != "value" {
						t.Fatalf("cached value: %q", value)
					}
					return generation
				}
				time.Sleep(time.Millisecond)
			}
			t.Fatal("nothing is ever cached")
			return at
		}
		gone := func(after string) {
			t.Helper()
			if _, _, ok := cache.Get(ada, "key"); ok {
				t.Errorf("still cached after %s", after)
			}
		}
		// waitForChange waits until a change on another node is known. The value may
		// expire before, so it compares generations.
		waitForChange := func(since store.Generation) {
			t.Helper()
			for deadline := time.Now().Add(10 * time.Second); storage.Engine == "postgres"; time.Sleep(time.Millisecond) {
				if _, generation, _ := cache.Get(ada, "key"); generation != since {
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("a change on another node is not seen")
				}
			}
		}
		for name, change := range map[string]func(*store.Store) error{
			"a new form": func(s *store.Store) error {
				_, err := s.CreateForm(ctx, ada, form.Header{Title: "x", Language: "en"}, nil, time.Now())
				return err
			},
			"a new address": func(s *store.Store) error {
				return s.SetEmail(ctx, store.EmailChange{Owner: ada, Email: "ada@other.example"})
			},
			"a disabled user": func(s *store.Store) error { return s.SetUserDisabled(ctx, ada, true, time.Now()) },
		} {
			put()
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			gone(name)
			before := put()
			if err := change(otherProcess); err != nil {
				t.Fatal(err)
			}
			waitForChange(before)
			gone(name + " elsewhere")
		}
		// A value that was read before a change must not be cached after it.
		_, before, _ := cache.Get(ada, "key")
		if err := s.SetProfile(ctx, ada, "Ada", "de", ""); err != nil {
			t.Fatal(err)
		}
		cache.Put("key", before, "old", 1)
		gone("a change between reading and caching")

		put()
		cache.Delete("key")
		gone("deleting it")
		// The cache never exceeds its size.
		for i := range 1000 {
			_, generation, _ := cache.Get(ada, "key")
			cache.Put(string(rune('a'+i%26))+time.Now().String(), generation, "x", 10)
		}
		if n := cache.Len(); n > 10 {
			t.Errorf("%d values of 10 in a cache of 100", n)
		}
	})
}

// Values expire even if nothing changes.
func TestCacheExpiry(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	ada := addUser(t, s, "ada@example.com").ID
	cache := store.NewCache[string, string](s, 100)
	_, generation, _ := cache.Get(ada, "key")
	cache.Put("key", generation, "value", 1)
	start := time.Now()
	for {
		if _, _, ok := cache.Get(ada, "key"); !ok {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("still cached after ten seconds")
		}
	}
}
