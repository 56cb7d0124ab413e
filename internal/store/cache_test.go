package store_test

import (
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A cached value holds until something of its owner changes, here or through
// another opening of the same place, as a command beside the server is. Where
// that cannot be told, nothing is kept.
func TestCache(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		beside := storetest.Open(t, place)
		ada, bob := person(t, s, "ada@example.com").ID, person(t, s, "bob@example.com").ID
		cache := store.NewCache[string, string](s, 100)
		keeps := place.Engine == "sqlite"

		put := func() {
			t.Helper()
			_, mark, ok := cache.Get(ada, "key")
			if ok {
				t.Fatal("a value before one was put")
			}
			cache.Put("key", mark, "value", 1)
			if value, _, ok := cache.Get(ada, "key"); ok != keeps || ok && value != "value" {
				t.Fatalf("kept: %v %q", ok, value)
			}
		}
		gone := func(after string) {
			t.Helper()
			if _, _, ok := cache.Get(ada, "key"); ok {
				t.Errorf("still there after %s", after)
			}
		}
		app := account.Application{
			Account: bob, ID: account.NewID(account.AppPrefix, time.Now()), Name: "App",
			RedirectURIs: []string{"https://x/"}, Scopes: account.EveryScope(), CreatedAt: time.Now(),
		}
		if _, err := s.AddApp(ctx, app, "hash", store.Once{}); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*store.Store) error{
			"a new form": func(s *store.Store) error {
				_, err := s.CreateForm(ctx, ada, form.Head{Title: "x", Language: "en"}, nil, store.Once{}, time.Now())
				return err
			},
			"a new address":         func(s *store.Store) error { return s.SetEmail(ctx, ada, "ada@other.example") },
			"a disabled person":     func(s *store.Store) error { return s.SetPersonDisabled(ctx, ada, true, time.Now()) },
			"somebody's app is off": func(s *store.Store) error { return s.SetAppDisabled(ctx, bob, app.ID, true, time.Now()) },
		} {
			for _, through := range []*store.Store{s, beside} {
				put()
				if err := change(through); err != nil {
					t.Fatal(err)
				}
				gone(name)
			}
		}
		// What was read before a change must not be kept after it.
		_, before, _ := cache.Get(ada, "key")
		if err := s.SetProfile(ctx, ada, "Ada", "de", ""); err != nil {
			t.Fatal(err)
		}
		cache.Put("key", before, "old", 1)
		gone("a change while it was read")

		put()
		cache.Forget("key")
		gone("forgetting")
		// It never grows past its size.
		for i := range 1000 {
			_, mark, _ := cache.Get(ada, "key")
			cache.Put(string(rune('a'+i%26))+time.Now().String(), mark, "x", 10)
		}
		if n := cache.Len(); n > 10 {
			t.Errorf("%d values of 10 in a cache of 100", n)
		}
	})
}

// Also the value that nobody has changed is read again after a while.
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

// What another node changes is known soon; what this one changes, at once. A node
// that cannot hear the others keeps nothing.
func TestSoonCache(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		other := storetest.Open(t, place)
		ada := person(t, s, "ada@example.com").ID
		cache := store.NewSoonCache[string, string](s, 100)
		put := func() {
			t.Helper()
			// Listening begins with the first question, and values age: it may
			// take some turns until one stays.
			for range 10_000 {
				_, mark, _ := cache.Get(ada, "key")
				cache.Put("key", mark, "value", 1)
				if _, _, ok := cache.Get(ada, "key"); ok {
					return
				}
				time.Sleep(time.Millisecond)
			}
			t.Fatal("nothing is ever kept")
		}
		put()
		if err := s.SetProfile(ctx, ada, "Ada", "de", ""); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := cache.Get(ada, "key"); ok {
			t.Error("still there after a change of our own")
		}
		put()
		if err := other.SetProfile(ctx, ada, "Ada", "en", ""); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, _, ok := cache.Get(ada, "key"); !ok {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("still there long after another node's change")
			}
		}
	})
}
