// Package dbtest gives a test an empty database of each engine. There is no mock: what
// tests show must be true on SQLite and on PostgreSQL.
package dbtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"formulary/internal/db"
)

// PostgresURL names the PostgreSQL server that tests may use; make test starts
// one and sets it.
const PostgresURL = "FORMULARY_TEST_POSTGRES"

// Storage is a database of its own for one test.
type Storage struct {
	Engine string // sqlite or postgres
	Data   string // the data directory
	URL    string // empty for SQLite
}

// Each runs a test on every engine, at the same time.
func Each(t *testing.T, test func(t *testing.T, storage Storage)) {
	t.Helper()
	each(t, SQLite, Postgres, test)
}

// EachReused is Each with ReusedPostgres, and with the SQLite database that the caller prepares.
func EachReused(t *testing.T, sqlite func(testing.TB) Storage, test func(t *testing.T, storage Storage)) {
	t.Helper()
	each(t, sqlite, ReusedPostgres, test)
}

func each(t *testing.T, sqlite, postgres func(testing.TB) Storage, test func(t *testing.T, storage Storage)) {
	t.Helper()
	for name, storage := range map[string]func(testing.TB) Storage{"sqlite": sqlite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, storage(t))
		})
	}
}

// SQLite is an empty data directory.
func SQLite(t testing.TB) Storage {
	return Storage{Engine: "sqlite", Data: t.TempDir()}
}

// Postgres is an empty schema in the test server. Without a server the test
// fails: a part that did not run must not look like one that passed.
func Postgres(t testing.TB) Storage {
	t.Helper()
	server := testServer(t)
	schema := createSchema(t, server)
	t.Cleanup(func() { dropSchema(t, server, schema) })
	return storageOf(t, server, schema)
}

func testServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(PostgresURL)
	if server == "" {
		t.Fatalf("%s is not set: run the tests with 'make test', which starts a PostgreSQL for them", PostgresURL)
	}
	return server
}

func createSchema(t testing.TB, server string) string {
	t.Helper()
	schema := "test_" + strings.ToLower(rand.Text()[:16])
	if err := execute(server, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("create schema: %v", err)
	}
	return schema
}

func dropSchema(t testing.TB, server, schema string) {
	t.Helper()
	if err := execute(server, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
		t.Errorf("drop schema: %v", err)
	}
}

func execute(server, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

func storageOf(t testing.TB, server, schema string) Storage {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	query.Set("pool_max_conns", "8")
	u.RawQuery = query.Encode()
	return Storage{Engine: "postgres", Data: t.TempDir(), URL: u.String()}
}

// Open opens the database until the test ends.
func Open(t testing.TB, s Storage) db.DB {
	t.Helper()
	d, err := db.Open(s.Data, s.URL)
	if err != nil {
		t.Fatalf("open %s: %v", s.Engine, err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}
