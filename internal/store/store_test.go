package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

var ctx = context.Background()

func each(t *testing.T, test func(t *testing.T, s *store.Store, place storetest.Place)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		test(t, storetest.Open(t, place), place)
	})
}

func person(t *testing.T, s *store.Store, email string) account.User {
	t.Helper()
	now := time.Now()
	p, err := s.AddUser(ctx, account.User{
		ID: id.New(id.User, now), Email: email, Language: "en", Password: "not a hash", CreatedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeople(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		if some, err := s.HasUsers(ctx); err != nil || some {
			t.Fatalf("somebody in an empty store: %v (%v)", some, err)
		}
		first, second := person(t, s, "Ada@Example.com"), person(t, s, "bob@example.com")
		if first.Role != account.RoleAdmin || second.Role != account.RoleMember {
			t.Errorf("roles %s and %s", first.Role, second.Role)
		}
		now := time.Now()
		_, err := s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: "aDA@example.COM", CreatedAt: now})
		if fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("the same address again: %v", err)
		}
		if err := s.SetEmail(ctx, second.ID, "ADA@example.com"); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("change to a taken address: %v", err)
		}
		found, err := s.UserByEmail(ctx, "ADA@EXAMPLE.COM")
		if err != nil || found.ID != first.ID || found.Email != "Ada@Example.com" {
			t.Errorf("found %+v (%v)", found, err)
		}
		for _, nobody := range []string{"", "x\x00y", "\xff", "nobody@example.com"} {
			if _, err := s.UserByEmail(ctx, nobody); !errors.Is(err, fault.NotFound) {
				t.Errorf("%q: %v", nobody, err)
			}
		}
	})
}

// If several first users are added at the same time, one becomes the administrator.
func TestOneOperator(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		var all sync.WaitGroup
		roles := make([]string, 16)
		for i := range roles {
			all.Go(func() { roles[i] = person(t, s, fmt.Sprintf("p%d@example.com", i)).Role })
		}
		all.Wait()
		if n := strings.Count(strings.Join(roles, " "), account.RoleAdmin); n != 1 {
			t.Errorf("%d operators", n)
		}
	})
}

// Concurrent writes share commits; one that fails rolls back only itself.
func TestWritersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		var all sync.WaitGroup
		var mu sync.Mutex
		made := map[string]bool{}
		for i := range 200 {
			all.Go(func() {
				if i%3 == 0 {
					if err := s.DeleteForm(ctx, owner, id.New(id.Form, time.Now()), 0, time.Now()); !errors.Is(err, fault.NotFound) {
						t.Errorf("delete nothing: %v", err)
					}
					return
				}
				if i%3 == 1 {
					gone, cancel := context.WithCancel(ctx)
					cancel()
					if _, err := s.CreateForm(gone, owner, form.Header{Title: "never", Language: "en"}, nil, time.Now()); err == nil {
						t.Error("a form for a caller who had gone")
					}
					return
				}
				f, err := s.CreateForm(ctx, owner, form.Header{Title: fmt.Sprint(i), Language: "en"}, nil, time.Now())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made[f.ID] = true
				mu.Unlock()
			})
		}
		all.Wait()
		forms, total, err := s.Forms(ctx, owner, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 1000})
		if err != nil || int(total) != len(made) || len(forms) != len(made) {
			t.Fatalf("%d made, %d listed, %d counted (%v)", len(made), len(forms), total, err)
		}
		for i, f := range forms {
			if !made[f.ID] || i > 0 && forms[i-1].ID <= f.ID || i > 0 && forms[i-1].CreatedAt.Before(f.CreatedAt) {
				t.Errorf("%s is out of order or was never made", f.ID)
			}
		}
	})
}

// A panic inside a transaction reaches its caller, rolls back, and does not break the
// writer.
func TestPanicInWrite(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		f, err := s.CreateForm(ctx, owner, form.Header{Title: "kept", Language: "en"}, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(*form.FormInput) error { panic("in the middle") }, time.Now())
		}()
		after, err := s.Form(ctx, owner, f.ID)
		if err != nil || after != f {
			t.Errorf("after the panic: %+v (%v)", after, err)
		}
		if _, err := s.CreateForm(ctx, owner, form.Header{Title: "next", Language: "en"}, nil, time.Now()); err != nil {
			t.Errorf("the writer is dead: %v", err)
		}
	})
}

// Two nodes start at the same time, and one starts again.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { storetest.Open(t, place) })
		}
		all.Wait()
		s := storetest.Open(t, place)
		if err := s.Ready(ctx); err != nil {
			t.Error(err)
		}
		if ran, err := s.Migrate(ctx); err != nil || len(ran) != 0 {
			t.Errorf("ran %v again (%v)", ran, err)
		}
	})
}

func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		p := person(t, s, "ada@example.com")
		now := time.Now()
		app := account.Application{
			Account: p.ID, ID: id.New(id.App, now), Name: "App",
			RedirectURIs: []string{"https://x/"}, Scopes: account.DefaultScopes(), CreatedAt: now,
		}
		if _, err := s.AddApp(ctx, app, "hash", store.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
		token := func(made time.Time) account.SecretRef {
			code := account.NewSecret(account.Code, p.ID, made)
			ticket := store.ConsentRequest{AppID: app.ID, RedirectURI: "https://x/", Scopes: app.Scopes}
			if err := s.AddCodes(ctx, ticket, []account.Secret{code}, made.Add(time.Minute), made); err != nil {
				t.Fatal(err)
			}
			access, refresh := account.NewSecret(account.AccessToken, p.ID, made), account.NewSecret(account.RefreshToken, p.ID, made)
			key, _ := account.ParseSecret(account.Code, code.Text)
			r := store.CodeExchange{Code: key, AppID: app.ID, RedirectURI: "https://x/", Access: access, Refresh: refresh, ExpiresAt: made.Add(time.Hour)}
			if _, err := s.ExchangeCode(ctx, r, made); err != nil {
				t.Fatal(err)
			}
			key, _ = account.ParseSecret(account.AccessToken, access.Text)
			return key
		}
		old, expired, fresh := token(now.Add(-60*24*time.Hour)), token(now.Add(-2*time.Hour)), token(now)
		session := account.NewSecret(account.SessionKey, p.ID, now)
		if err := s.AddSession(ctx, session, "", "", now.Add(-account.SessionIdle-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now, 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AccessToken(ctx, old); !errors.Is(err, fault.NotFound) {
			t.Errorf("a token of two months ago: %v", err)
		}
		for _, key := range []account.SecretRef{expired, fresh} {
			if _, err := s.AccessToken(ctx, key); err != nil {
				t.Errorf("swept too early: %v", err)
			}
		}
		// The grant of two months ago is deleted, those of today are not.
		if list, err := s.ConnectedApps(ctx, p.ID, time.Time{}, time.Time{}); err != nil || len(list) != 1 || now.Sub(list[0].Since) > 3*time.Hour {
			t.Errorf("connections %+v (%v)", list, err)
		}
		if list, err := s.Sessions(ctx, p.ID); err != nil || len(list) != 0 {
			t.Errorf("%d sessions left (%v)", len(list), err)
		}
	})
}
