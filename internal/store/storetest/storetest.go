// Package storetest opens a store on a real database of each engine for a test. There
// are no mocks: tests of the store run on SQLite and on PostgreSQL.
package storetest

import (
	"context"
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

// EachReused is Each for tests that do not mind a schema of an earlier test, without rows.
func EachReused(t *testing.T, test func(t *testing.T, storage Storage)) {
	t.Helper()
	dbtest.EachReused(t, test)
}

// SQLite returns an empty data directory.
func SQLite(t testing.TB) Storage { return dbtest.SQLite(t) }

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
