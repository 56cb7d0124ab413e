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
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		beside := storetest.Open(t, place)
		ada := person(t, s, "ada@example.com").ID
		cache := store.NewCache[string, string](s, 100)

		put := func() (at store.Generation) {
			t.Helper()
			// A node starts to listen with its first request, and values expire: it may
			// take several attempts until one stays.
			for range 10_000 {
				_, mark, _ := cache.Get(ada, "key")
				cache.Put("key", mark, "value", 1)
				if value, mark, ok := cache.Get(ada, "key"); ok {
					if value != "value" {
						t.Fatalf("kept: %q", value)
					}
					return mark
				}
				time.Sleep(time.Millisecond)
			}
			t.Fatal("nothing is ever kept")
			return at
		}
		gone := func(after string) {
			t.Helper()
			if _, _, ok := cache.Get(ada, "key"); ok {
				t.Errorf("still there after %s", after)
			}
		}
		// waitForChange waits until a change on another node is known. The value may
		// expire before, so it compares generations.
		heard := func(since store.Generation) {
			t.Helper()
			for deadline := time.Now().Add(10 * time.Second); place.Engine == "postgres"; time.Sleep(time.Millisecond) {
				if _, mark, _ := cache.Get(ada, "key"); mark != since {
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("another node's change is not heard of")
				}
			}
		}
		for name, change := range map[string]func(*store.Store) error{
			"a new form": func(s *store.Store) error {
				_, err := s.CreateForm(ctx, ada, form.Header{Title: "x", Language: "en"}, nil, time.Now())
				return err
			},
			"a new address":     func(s *store.Store) error { return s.SetEmail(ctx, ada, "ada@other.example") },
			"a disabled person": func(s *store.Store) error { return s.SetUserDisabled(ctx, ada, true, time.Now()) },
		} {
			put()
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			gone(name)
			before := put()
			if err := change(beside); err != nil {
				t.Fatal(err)
			}
			heard(before)
			gone(name + " elsewhere")
		}
		// A value that was read before a change must not be cached after it.
		_, before, _ := cache.Get(ada, "key")
		if err := s.SetProfile(ctx, ada, "Ada", "de", ""); err != nil {
			t.Fatal(err)
		}
		cache.Put("key", before, "old", 1)
		gone("a change while it was read")

		put()
		cache.Delete("key")
		gone("forgetting")
		// The cache never exceeds its size.
		for i := range 1000 {
			_, mark, _ := cache.Get(ada, "key")
			cache.Put(string(rune('a'+i%26))+time.Now().String(), mark, "x", 10)
		}
		if n := cache.Len(); n > 10 {
			t.Errorf("%d values of 10 in a cache of 100", n)
		}
	})
}

// Values expire even if nothing changes.
func TestCacheAges(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	ada := person(t, s, "ada@example.com").ID
	cache := store.NewCache[string, string](s, 100)
	_, mark, _ := cache.Get(ada, "key")
	cache.Put("key", mark, "value", 1)
	start := time.Now()
	for {
		if _, _, ok := cache.Get(ada, "key"); !ok {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("kept for ten seconds")
		}
	}
}
