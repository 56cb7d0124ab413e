package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

var ctx = context.Background()

func forEachEngine(t *testing.T, test func(t *testing.T, s *store.Store, storage storetest.Storage)) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		test(t, storetest.Open(t, storage), storage)
	})
}

// connectPostgres opens a connection beside those of the store. pgx does not know
// parameters of the pool.
func connectPostgres(t *testing.T, storage storetest.Storage) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, strings.Replace(storage.URL, "pool_max_conns=8&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return conn
}

// tableRows returns the number of rows of a table.
func tableRows(t *testing.T, s *store.Store, table string) string {
	t.Helper()
	rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	return rows[0][0]
}

func addUser(t testing.TB, s *store.Store, email string) account.User {
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

func TestUsers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		if exists, err := s.HasUsers(ctx); err != nil || exists {
			t.Fatalf("an empty store has users: %v (%v)", exists, err)
		}
		first, second := addUser(t, s, "Ada@Example.com"), addUser(t, s, "bob@example.com")
		if first.Role != account.RoleAdmin || second.Role != account.RoleMember {
			t.Errorf("roles %s and %s", first.Role, second.Role)
		}
		now := time.Now()
		_, err := s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: "aDA@example.COM", CreatedAt: now})
		if fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("the same address again: %v", err)
		}
		if err := s.SetEmail(ctx, store.EmailChange{Owner: second.ID, Email: "ADA@example.com"}); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("change to a taken address: %v", err)
		}
		found, err := s.UserByEmail(ctx, "ADA@EXAMPLE.COM")
		if err != nil || found.ID != first.ID || found.Email != "Ada@Example.com" {
			t.Errorf("found %+v (%v)", found, err)
		}
		for _, email := range []string{"", "x\x00y", "\xff", "nobody@example.com"} {
			if _, err := s.UserByEmail(ctx, email); !errors.Is(err, fault.NotFound) {
				t.Errorf("%q: %v", email, err)
			}
		}
	})
}

// If several first users are added at the same time, one becomes the administrator.
func TestOneAdministrator(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		var all sync.WaitGroup
		roles := make([]string, 16)
		for i := range roles {
			all.Go(func() { roles[i] = addUser(t, s, fmt.Sprintf("p%d@example.com", i)).Role })
		}
		all.Wait()
		if n := strings.Count(strings.Join(roles, " "), account.RoleAdmin); n != 1 {
			t.Errorf("%d administrators", n)
		}
	})
}

// Concurrent writes share commits; one that fails rolls back only itself.
func TestConcurrentWrites(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		var all sync.WaitGroup
		var mu sync.Mutex
		created := map[string]bool{}
		for i := range 200 {
			all.Go(func() {
				if i%3 == 0 {
					if err := s.DeleteForm(ctx, owner, id.New(id.Form, time.Now()), 0, time.Now()); !errors.Is(err, fault.NotFound) {
						t.Errorf("delete nothing: %v", err)
					}
					return
				}
				if i%3 == 1 {
					canceled, cancel := context.WithCancel(ctx)
					cancel()
					if _, err := s.CreateForm(canceled, owner, form.Header{Title: "never", Language: "en"}, nil, time.Now()); err == nil {
						t.Error("a form was created after its context was canceled")
					}
					return
				}
				f, err := s.CreateForm(ctx, owner, form.Header{Title: fmt.Sprint(i), Language: "en"}, nil, time.Now())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				created[f.ID] = true
				mu.Unlock()
			})
		}
		all.Wait()
		forms, total, err := s.Forms(ctx, owner, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 1000})
		if err != nil || int(total) != len(created) || len(forms) != len(created) {
			t.Fatalf("%d created, %d listed, %d counted (%v)", len(created), len(forms), total, err)
		}
		for i, f := range forms {
			if !created[f.ID] {
				t.Errorf("%s was never created", f.ID)
			}
			if i > 0 && (forms[i-1].ID <= f.ID || forms[i-1].CreatedAt.Before(f.CreatedAt)) {
				t.Errorf("%s is out of order", f.ID)
			}
		}
	})
}

// A panic inside a transaction reaches its caller, rolls back, and does not break the
// writer.
func TestPanicInWrite(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
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
			t.Errorf("a write after the panic: %v", err)
		}
	})
}

// Two nodes start at the same time, and one starts again.
func TestConcurrentMigrations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { storetest.Open(t, storage) })
		}
		all.Wait()
		s := storetest.Open(t, storage)
		if err := s.Ready(ctx); err != nil {
			t.Error(err)
		}
		if ran, err := s.Migrate(ctx); err != nil || len(ran) != 0 {
			t.Errorf("ran %v again (%v)", ran, err)
		}
	})
}

func TestCleanup(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		p := addUser(t, s, "ada@example.com")
		now := time.Now()
		app := newApp(t, s, p.ID)
		token := func(created time.Time) account.SecretRef {
			access, _ := connectAppAt(t, s, p.ID, app, created)
			return access
		}
		old, expired, fresh := token(now.Add(-60*24*time.Hour)), token(now.Add(-2*time.Hour)), token(now)
		session := account.NewSecret(account.SessionKey, p.ID, now)
		if err := s.AddSession(ctx, store.NewSession{Secret: session}, now.Add(-account.SessionIdle-time.Hour)); err != nil {
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
				t.Errorf("deleted too early: %v", err)
			}
		}
		// The grant of two months ago is deleted, those of today are not.
		if list, err := s.Grants(ctx, p.ID, store.LiveGrants{Now: now}); err != nil || len(list) != 2 || now.Sub(list[1].Since) > 3*time.Hour {
			t.Errorf("connections %+v (%v)", list, err)
		}
		if list, err := s.Sessions(ctx, p.ID); err != nil || len(list) != 0 {
			t.Errorf("%d sessions left (%v)", len(list), err)
		}
	})
}
