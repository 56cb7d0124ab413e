package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const redirect = "https://x.example/"

func newApp(t *testing.T, s *store.Store, owner string) account.Application {
	t.Helper()
	now := time.Now()
	app := account.Application{
		Account: owner, ID: id.New(id.App, now), Name: "App",
		RedirectURIs: []string{redirect}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	if _, err := s.AddApp(ctx, app, "hash", store.IdempotencyKey{}); err != nil {
		t.Fatal(err)
	}
	return app
}

// connectApp connects an application and returns its access and refresh token.
func connectApp(t *testing.T, s *store.Store, owner string, app account.Application) (access, refresh account.SecretRef) {
	t.Helper()
	return connectAppAt(t, s, owner, app, time.Now())
}

func connectAppAt(t *testing.T, s *store.Store, owner string, app account.Application, now time.Time) (access, refresh account.SecretRef) {
	t.Helper()
	code := account.NewSecret(account.Code, owner, now)
	a, r := account.NewSecret(account.AccessToken, owner, now), account.NewSecret(account.RefreshToken, owner, now)
	request := store.ConsentRequest{AppID: app.ID, RedirectURI: redirect, Scopes: app.Scopes}
	if err := s.AddCodes(ctx, request, []account.Secret{code}, now.Add(time.Hour), now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ExchangeCode(ctx, store.CodeExchange{
		Code: code.Ref(), AppID: app.ID, RedirectURI: redirect, Access: a, Refresh: r, ExpiresAt: now.Add(time.Hour),
	}, now); err != nil {
		t.Fatal(err)
	}
	return a.Ref(), r.Ref()
}

func refreshToken(s *store.Store, refresh account.SecretRef, app account.Application) (account.SecretRef, error) {
	now := time.Now()
	access := account.NewSecret(account.AccessToken, refresh.Account, now)
	all := func(granted account.Scopes) (account.Scopes, error) { return granted, nil }
	_, err := s.Refresh(ctx, store.RefreshRequest{
		Token: refresh, AppID: app.ID, Access: access, ExpiresAt: now.Add(time.Hour),
		Scopes: all, UsedSince: now.Add(-time.Hour), UsedStep: time.Minute,
	}, now)
	return access.Ref(), err
}

// cachedToken reads a token until the store caches it, and returns it with its
// generation.
func cachedToken(t *testing.T, s *store.Store, key account.SecretRef) store.AccessToken {
	t.Helper()
	for range 10_000 {
		b, err := s.AccessToken(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		if b.Generation != (store.Generation{}) {
			return b
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing is ever cached")
	return store.AccessToken{}
}

// distinctApps returns n applications whose generation counters differ from each other
// and from those of the users: counters are assigned by hash.
func distinctApps(t *testing.T, s *store.Store, owner string, n int, users ...string) []account.Application {
	t.Helper()
	taken := map[uint32]bool{db.GenerationSlot("apps"): true}
	for _, id := range users {
		taken[db.GenerationSlot(id)] = true
	}
	var list []account.Application
	for len(list) < n {
		app := newApp(t, s, owner)
		if slot := db.GenerationSlot("app/" + app.ID); !taken[slot] {
			taken[slot] = true
			list = append(list, app)
		}
	}
	return list
}

// A change of an application invalidates only what depends on it, here and in another
// process on the same database.
func TestAppInvalidation(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		otherProcess := storetest.Open(t, storage)
		ada, bob := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		for db.GenerationSlot(ada) == db.GenerationSlot(bob) {
			bob = addUser(t, s, fmt.Sprint(time.Now().UnixNano(), "@example.com")).ID
		}
		apps := distinctApps(t, s, bob, 2, ada, bob)
		changed, other := apps[0], apps[1]
		through, _ := connectApp(t, s, ada, changed)
		unrelated, _ := connectApp(t, s, ada, other)
		pages := store.NewCache[string, string](s, 100)
		for name, change := range map[string]func(*store.Store) error{
			"disabled":   func(s *store.Store) error { return s.SetAppDisabled(ctx, bob, changed.ID, true, time.Now()) },
			"enabled":    func(s *store.Store) error { return s.SetAppDisabled(ctx, bob, changed.ID, false, time.Now()) },
			"renamed":    func(s *store.Store) error { return s.UpdateApp(ctx, changed) },
			"new secret": func(s *store.Store) error { s.AddSecret(ctx, bob, changed.ID, "h", time.Now()); return nil },
		} {
			for where, by := range map[string]*store.Store{"here": s, "elsewhere": otherProcess} {
				before, beforeOther := cachedToken(t, s, through), cachedToken(t, s, unrelated)
				_, page, _ := pages.Get(ada, "page")
				if err := change(by); err != nil {
					t.Fatalf("%s %s: %v", name, where, err)
				}
				for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
					if cachedToken(t, s, through).Generation != before.Generation {
						break
					}
					if storage.Engine == "sqlite" || where == "here" || time.Now().After(deadline) {
						t.Fatalf("%s %s: a token of the application is still cached", name, where)
					}
				}
				if cachedToken(t, s, unrelated).Generation != beforeOther.Generation {
					t.Errorf("%s %s: a token of another application is invalidated", name, where)
				}
				if _, after, _ := pages.Get(ada, "page"); after != page {
					t.Errorf("%s %s: a page of another account is invalidated", name, where)
				}
			}
		}
		// Deleting the owner of the application invalidates it too.
		if _, err := s.DeleteUser(ctx, bob, time.Now()); err != nil {
			t.Fatal(err)
		}
		if b, err := s.AccessToken(ctx, through); err != nil || b.AppLive {
			t.Errorf("the application of a deleted account is active (%v)", err)
		}
		if _, _, err := s.AppCredentials(ctx, changed.ID); !errors.Is(err, fault.NotFound) {
			t.Errorf("the application of a deleted account: %v", err)
		}
	})
}

// A grant has at most MaxTokens access tokens, even if many are requested at the same
// time; the oldest are revoked.
func TestAccessTokenLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com").ID
		app := newApp(t, s, ada)
		first, refresh := connectApp(t, s, ada, app)
		cachedToken(t, s, first)
		const more = store.MaxTokens + 50
		keys := make([]account.SecretRef, more)
		var all sync.WaitGroup
		var next atomic.Int64
		for range 8 {
			all.Go(func() {
				for i := next.Add(1) - 1; i < more; i = next.Add(1) - 1 {
					var err error
					if keys[i], err = refreshToken(s, refresh, app); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		live := 0
		for _, key := range keys {
			if _, err := s.AccessToken(ctx, key); err == nil {
				live++
			} else if !errors.Is(err, fault.NotFound) {
				t.Fatal(err)
			}
		}
		if n := tableRows(t, s, "access_token"); live != store.MaxTokens || n != fmt.Sprint(store.MaxTokens) {
			t.Errorf("%d valid tokens in %s rows", live, n)
		}
		if _, err := s.AccessToken(ctx, first); !errors.Is(err, fault.NotFound) {
			t.Errorf("the oldest token: %v", err)
		}
		// One more revokes the oldest remaining token immediately.
		var last []account.SecretRef
		for range store.MaxTokens {
			key, err := refreshToken(s, refresh, app)
			if err != nil {
				t.Fatal(err)
			}
			last = append(last, key)
		}
		cachedToken(t, s, last[0])
		if _, err := refreshToken(s, refresh, app); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AccessToken(ctx, last[0]); !errors.Is(err, fault.NotFound) {
			t.Errorf("the oldest token, which was cached: %v", err)
		}
		for i, key := range last[1:] {
			if _, err := s.AccessToken(ctx, key); err != nil {
				t.Errorf("token %d of the newest ones: %v", i, err)
			}
		}
		// Other grants are not affected.
		other, _ := connectApp(t, s, ada, app)
		if _, err := s.AccessToken(ctx, other); err != nil {
			t.Error(err)
		}
	})
}
