// Package storetest opens a real database of each engine for a test. There is
// no mock: what is true of the store must be true on SQLite and on PostgreSQL.
package storetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"formulary/internal/store"
)

// PostgresURL names the PostgreSQL server that tests may use; make test starts
// one and sets it.
const PostgresURL = "FORMULARY_TEST_POSTGRES"

// Place is a database of its own for one test.
type Place struct {
	Engine string // sqlite or postgres
	Data   string // the data folder
	URL    string // empty for SQLite
}

// Each runs a test on every engine, at the same time.
func Each(t *testing.T, test func(t *testing.T, place Place)) {
	t.Helper()
	for name, place := range map[string]func(testing.TB) Place{"sqlite": SQLite, "postgres": Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place(t))
		})
	}
}

// SQLite is an empty data folder.
func SQLite(t testing.TB) Place {
	return Place{Engine: "sqlite", Data: t.TempDir()}
}

// Postgres is an empty schema in the test server. Without a server the test
// fails: a part that did not run must not look like one that passed.
func Postgres(t testing.TB) Place {
	t.Helper()
	server := os.Getenv(PostgresURL)
	if server == "" {
		t.Fatalf("%s is not set: run the tests with 'make test', which starts a PostgreSQL for them", PostgresURL)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	schema := "test_" + strings.ToLower(rand.Text()[:16])
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("create schema: %v", err)
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Errorf("drop schema: %v", err)
			return
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop schema: %v", err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	query.Set("pool_max_conns", "8")
	u.RawQuery = query.Encode()
	return Place{Engine: "postgres", Data: t.TempDir(), URL: u.String()}
}

// Open opens the store of a place, with its schema in place.
func Open(t testing.TB, p Place) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), p.Data, p.URL)
	if err != nil {
		t.Fatalf("open %s: %v", p.Engine, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
