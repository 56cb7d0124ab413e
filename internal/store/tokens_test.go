package store_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
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

// granted connects an application and returns its access and refresh token.
func granted(t *testing.T, s *store.Store, owner string, app account.Application) (access, refresh account.SecretRef) {
	t.Helper()
	now := time.Now()
	code, a, r := mint(account.Code, owner), mint(account.AccessToken, owner), mint(account.RefreshToken, owner)
	if err := s.AddCodes(ctx, store.ConsentRequest{AppID: app.ID, RedirectURI: redirect, Scopes: app.Scopes}, []account.Secret{code}, now.Add(time.Hour), now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ExchangeCode(ctx, store.CodeExchange{
		Code: code.Ref(), AppID: app.ID, RedirectURI: redirect, Access: a, Refresh: r, ExpiresAt: now.Add(time.Hour),
	}, now); err != nil {
		t.Fatal(err)
	}
	return a.Ref(), r.Ref()
}

func refreshed(s *store.Store, refresh account.SecretRef, app account.Application) (account.SecretRef, error) {
	now := time.Now()
	access := mint(account.AccessToken, refresh.Account)
	all := func(granted account.Scopes) (account.Scopes, error) { return granted, nil }
	_, err := s.Refresh(ctx, store.RefreshRequest{
		Token: refresh, AppID: app.ID, Access: access, ExpiresAt: now.Add(time.Hour),
		Scopes: all, UsedSince: now.Add(-time.Hour), UsedStep: time.Minute,
	}, now)
	return access.Ref(), err
}

// cachedToken reads a token until the store caches it, and returns it with its
// generation.
func kept(t *testing.T, s *store.Store, key account.SecretRef) store.AccessToken {
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
	t.Fatal("nothing is ever kept")
	return store.AccessToken{}
}

// distinctApps returns n applications whose generation counters differ from each other
// and from those of the users: counters are assigned by hash.
func apart(t *testing.T, s *store.Store, owner string, n int, people ...string) []account.Application {
	t.Helper()
	taken := map[uint32]bool{db.GenerationSlot("apps"): true}
	for _, id := range people {
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
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		beside := storetest.Open(t, place)
		ada, bob := person(t, s, "ada@example.com").ID, person(t, s, "bob@example.com").ID
		for db.GenerationSlot(ada) == db.GenerationSlot(bob) {
			bob = person(t, s, fmt.Sprint(time.Now().UnixNano(), "@example.com")).ID
		}
		apps := apart(t, s, bob, 2, ada, bob)
		changed, other := apps[0], apps[1]
		through, _ := granted(t, s, ada, changed)
		unrelated, _ := granted(t, s, ada, other)
		pages := store.NewCache[string, string](s, 100)
		for name, change := range map[string]func(*store.Store) error{
			"disabled":   func(s *store.Store) error { return s.SetAppDisabled(ctx, bob, changed.ID, true, time.Now()) },
			"enabled":    func(s *store.Store) error { return s.SetAppDisabled(ctx, bob, changed.ID, false, time.Now()) },
			"renamed":    func(s *store.Store) error { return s.UpdateApp(ctx, changed) },
			"new secret": func(s *store.Store) error { s.AddSecret(ctx, bob, changed.ID, "h", time.Now()); return nil },
		} {
			for where, by := range map[string]*store.Store{"here": s, "elsewhere": beside} {
				before, beforeOther := kept(t, s, through), kept(t, s, unrelated)
				_, page, _ := pages.Get(ada, "page")
				if err := change(by); err != nil {
					t.Fatalf("%s %s: %v", name, where, err)
				}
				for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
					if kept(t, s, through).Generation != before.Generation {
						break
					}
					if place.Engine == "sqlite" || where == "here" || time.Now().After(deadline) {
						t.Fatalf("%s %s: what depends on the application is kept", name, where)
					}
				}
				if kept(t, s, unrelated).Generation != beforeOther.Generation {
					t.Errorf("%s %s: a token of another application is dropped", name, where)
				}
				if _, after, _ := pages.Get(ada, "page"); after != page {
					t.Errorf("%s %s: a page of another account is dropped", name, where)
				}
			}
		}
		// Deleting the owner of the application invalidates it too.
		before, _, known := pages.Get(ada, "page")
		_, page, _ := pages.Get(ada, "page")
		if _, err := s.DeleteUser(ctx, bob, time.Now()); err != nil {
			t.Fatal(err)
		}
		if b, err := s.AccessToken(ctx, through); err != nil || b.AppLive {
			t.Errorf("the application of a deleted account is alive (%v)", err)
		}
		if _, after, _ := pages.Get(ada, "page"); after != page {
			t.Errorf("a page of another account is dropped (%v %v)", before, known)
		}
		if _, _, err := s.AppCredentials(ctx, changed.ID); !errors.Is(err, fault.NotFound) {
			t.Errorf("the application of a deleted account: %v", err)
		}
	})
}

// A grant has at most MaxTokens access tokens, even if many are requested at the same
// time; the oldest are revoked.
func TestTokenCap(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		ada := person(t, s, "ada@example.com").ID
		app := newApp(t, s, ada)
		first, refresh := granted(t, s, ada, app)
		kept(t, s, first)
		const more = store.MaxTokens + 50
		keys := make([]account.SecretRef, more)
		var all sync.WaitGroup
		for i := range keys {
			all.Go(func() {
				var err error
				if keys[i], err = refreshed(s, refresh, app); err != nil {
					t.Error(err)
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
		rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM access_token`)
		if err != nil || live != store.MaxTokens || rows[0][0] != fmt.Sprint(store.MaxTokens) {
			t.Errorf("%d tokens live in %v rows (%v)", live, rows, err)
		}
		if _, err := s.AccessToken(ctx, first); !errors.Is(err, fault.NotFound) {
			t.Errorf("the oldest token: %v", err)
		}
		// One more revokes the oldest remaining token immediately.
		var last []account.SecretRef
		for range store.MaxTokens {
			key, err := refreshed(s, refresh, app)
			if err != nil {
				t.Fatal(err)
			}
			last = append(last, key)
		}
		kept(t, s, last[0])
		if _, err := refreshed(s, refresh, app); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AccessToken(ctx, last[0]); !errors.Is(err, fault.NotFound) {
			t.Errorf("the oldest token, which was kept in memory: %v", err)
		}
		for i, key := range last[1:] {
			if _, err := s.AccessToken(ctx, key); err != nil {
				t.Errorf("token %d of the newest ones: %v", i, err)
			}
		}
		// Other grants are not affected.
		other, _ := granted(t, s, ada, app)
		if _, err := s.AccessToken(ctx, other); err != nil {
			t.Error(err)
		}
	})
}

// The number of known devices is limited; those unused for longest are deleted.
func TestDevices(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		ada := person(t, s, "ada@example.com").ID
		now := time.Now()
		var keys []account.SecretRef
		for i := range 25 {
			secret := account.NewSecret(account.DeviceKey, ada, now)
			keys = append(keys, secret.Ref())
			if err := s.KeepDevice(ctx, secret.Ref(), now.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		for i, key := range keys {
			if known, err := s.KnowsDevice(ctx, key, now); err != nil || known != (i >= 5) {
				t.Errorf("device %d: %v (%v)", i, known, err)
			}
		}
		wrong := keys[20]
		wrong.Hash = keys[21].Hash
		if known, err := s.KnowsDevice(ctx, wrong, now); err != nil || known {
			t.Errorf("a device with another secret: %v (%v)", known, err)
		}
		if known, _ := s.KnowsDevice(ctx, keys[20], now.Add(account.DeviceIdle+time.Hour)); known {
			t.Error("a device is known for ever")
		}
		if err := s.Cleanup(ctx, now.Add(account.DeviceIdle+10*time.Second), time.Hour); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM device WHERE account_id = $1`, ada)
		if err != nil || rows[0][0] != "15" {
			t.Errorf("%v devices left (%v)", rows, err)
		}
	})
}

// Failed attempts add up across nodes, and are deleted once they no longer count.
func TestGuesses(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		beside := storetest.Open(t, place)
		now := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			by := []*store.Store{s, beside}[i%2]
			all.Go(func() {
				if err := by.SaveAttempt(ctx, "l", "k", time.Minute, now); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		list, err := beside.Attempts(ctx, now)
		if err != nil || len(list) != 1 || list[0].Limiter != "l" || list[0].Key != "k" || list[0].Until.UnixMilli() != now.Add(20*time.Minute).UnixMilli() {
			t.Errorf("20 guesses of a minute: %v (%v)", list, err)
		}
		// A later attempt counts from now, not from the end of the previous one.
		later := now.Add(time.Hour)
		if err := s.SaveAttempt(ctx, "l", "k", time.Minute, later); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Attempts(ctx, later); err != nil || len(list) != 1 || list[0].Until.UnixMilli() != later.Add(time.Minute).UnixMilli() {
			t.Errorf("a guess after an hour: %v (%v)", list, err)
		}
		if err := s.Cleanup(ctx, later.Add(2*time.Minute), time.Hour); err != nil {
			t.Fatal(err)
		}
		if rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM guess`); err != nil || rows[0][0] != "0" {
			t.Errorf("%v guesses left (%v)", rows, err)
		}
		// Above the limit, nothing is stored.
		s.SetAttemptRows(store.MaxAttempts)
		if err := s.SaveAttempt(ctx, "l", "flood", time.Minute, now); err != nil {
			t.Fatal(err)
		}
		if rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM guess`); err != nil || rows[0][0] != "0" {
			t.Errorf("%v guesses stored beyond the bound (%v)", rows, err)
		}
	})
}

// Other nodes use a rotated key without a restart, and the key before the previous one
// no longer verifies.
func TestSigningKeys(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		beside := storetest.Open(t, place)
		first, err := s.SigningKeys(ctx)
		if err != nil || len(first.Current) != 32 || first.Previous != nil {
			t.Fatalf("%v (%v)", first, err)
		}
		now := time.Now()
		for range 2 {
			before, err := s.SigningKeys(ctx)
			if err != nil {
				t.Fatal(err)
			}
			until, err := beside.RotateSigningKey(ctx, now)
			if err != nil || !until.Equal(now.Add(24*time.Hour)) {
				t.Fatalf("verifies until %v (%v)", until, err)
			}
			var after store.SigningKeys
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if after, err = s.SigningKeys(ctx); err != nil || !bytes.Equal(after.Current, before.Current) {
					break
				}
			}
			if err != nil || bytes.Equal(after.Current, before.Current) || !bytes.Equal(after.Previous, before.Current) || after.Until.UnixMilli() != until.UnixMilli() {
				t.Errorf("after a rotation elsewhere: %v, before it %v (%v)", after, before, err)
			}
		}
	})
}

// A backup contains no signing key. Restoring one creates a new key, even from a backup
// of an earlier version that contains one.
func TestBackupLeavesSigningKey(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		person(t, s, "ada@example.com")
		if _, err := s.SigningKeys(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RotateSigningKey(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Exec(ctx, `INSERT INTO setting (name, value) VALUES ('other', 'stays')`); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Rows(ctx, 2, `SELECT name, value FROM setting`)
		if err != nil || len(rows) != 3 {
			t.Fatalf("settings %v (%v)", rows, err)
		}
		var file bytes.Buffer
		if _, err := s.Backup(ctx, &file); err != nil {
			t.Fatal(err)
		}
		zip, err := gzip.NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row[0] != "other" && (bytes.Contains(text, []byte(row[0])) || bytes.Contains(text, []byte(row[1]))) {
				t.Errorf("the backup holds %s", row[0])
			}
		}
		// As written by earlier versions.
		held := strings.Replace(string(text), `{"row":["other","stays"]}`, `{"row":["signing_key","b2xk"]}`, 1)
		for name, backup := range map[string]string{"new": string(text), "old": held} {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			io.WriteString(zip, backup)
			zip.Close()
			target := storetest.SQLite(t)
			if place.Engine == "postgres" {
				target = storetest.Postgres(t)
			}
			restored, err := store.Connect(ctx, target.Data, target.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { restored.Close() })
			if _, err := restored.Restore(ctx, &packed); err != nil {
				t.Fatal(err)
			}
			keys, err := restored.SigningKeys(ctx)
			if err != nil || len(keys.Current) != 32 || keys.Previous != nil {
				t.Errorf("%s: keys %v (%v)", name, keys, err)
			}
			if got, err := restored.Rows(ctx, 1, `SELECT value FROM setting WHERE name = 'other'`); err != nil || len(got) != map[string]int{"new": 1, "old": 0}[name] {
				t.Errorf("%s: other settings %v (%v)", name, got, err)
			}
		}
	})
}
