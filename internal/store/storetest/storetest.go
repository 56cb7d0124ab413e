// Package storetest opens a store on a real database of each engine for a test. There
// are no mocks: tests of the store run on SQLite and on PostgreSQL.
package storetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"formulary/internal/db/dbtest"
	"formulary/internal/store"
)

// Storage is an empty database for one test.
type Storage = dbtest.Storage

// Each runs a test on every engine, in parallel.
func Each(t *testing.T, test func(t *testing.T, storage Storage)) {
	t.Helper()
	dbtest.Each(t, test)
}

// EachReused is Each for tests that do not mind tables without rows. It is faster.
func EachReused(t *testing.T, test func(t *testing.T, storage Storage)) {
	t.Helper()
	dbtest.EachReused(t, MigratedSQLite, test)
}

// SQLite returns an empty data directory.
func SQLite(t testing.TB) Storage { return dbtest.SQLite(t) }

// migratedSQLite is the content of a database that has all tables and no rows.
var migratedSQLite = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "formulary-storetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(context.Background(), dir, "")
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqliteFile))
})

// sqliteFile is the name of the database in the data directory.
const sqliteFile = "formulary.db"

// MigratedSQLite returns a data directory whose database has all tables and no rows.
func MigratedSQLite(t testing.TB) Storage {
	t.Helper()
	content, err := migratedSQLite()
	if err != nil {
		t.Fatalf("migrate: %v", err)
	}
	storage := SQLite(t)
	if err := os.WriteFile(filepath.Join(storage.Data, sqliteFile), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return storage
}

// Postgres returns an empty schema in the test server.
func Postgres(t testing.TB) Storage {
	t.Helper()
	return dbtest.Postgres(t)
}

// Open opens the store and migrates it.
func Open(t testing.TB, p Storage) *store.Store {
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

// Rows returns the rows of all tables that a backup contains, except for some tables and columns, as
// text. Two lists are equal if nothing was changed between them.
func Rows(t testing.TB, s *store.Store, except ...string) []string {
	t.Helper()
	var backup bytes.Buffer
	_, err := s.Backup(context.Background(), &backup)
	var zip *gzip.Reader
	if err == nil {
		zip, err = gzip.NewReader(&backup)
	}
	if err != nil {
		t.Fatalf("read all rows: %v", err)
	}
	var rows []string
	table, hidden := "", -1
	for lines := json.NewDecoder(zip); ; {
		var line struct {
			Table   string
			Columns []string
			Row     []json.RawMessage
		}
		if err := lines.Decode(&line); err == io.EOF {
			slices.Sort(rows)
			return rows
		} else if err != nil {
			t.Fatalf("read all rows: %v", err)
		}
		if line.Table != "" {
			table = line.Table
			hidden = slices.IndexFunc(line.Columns, func(c string) bool { return slices.Contains(except, table+"."+c) })
		}
		if line.Row != nil && !slices.Contains(except, table) {
			if hidden >= 0 {
				line.Row[hidden] = nil
			}
			rows = append(rows, fmt.Sprintf("%s %s", table, line.Row))
		}
	}
}
