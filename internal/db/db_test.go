package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"formulary/internal/db"
	"formulary/internal/db/dbtest"
	"formulary/internal/fault"
)

// each runs a test on a table of both engines.
func each(t *testing.T, test func(t *testing.T, d db.DB)) {
	dbtest.Each(t, func(t *testing.T, storage dbtest.Storage) {
		d := dbtest.Open(t, storage)
		exec(t, d, "CREATE TABLE thing (id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
		test(t, d)
	})
}

func exec(t *testing.T, d db.DB, sql string, args ...any) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(sql, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, d db.DB) (list []string) {
	t.Helper()
	if err := d.Query(t.Context(), "SELECT name FROM thing ORDER BY id", func(r db.Row) error {
		var name string
		err := r.Scan(&name)
		list = append(list, name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// Both engines return the same result for an update of one row, and the updated row.
func TestUpdateRow(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		exec(t, d, "INSERT INTO thing (id, name) VALUES ($1, $2)", 1, "a")
		update := db.Update{
			Update:    "UPDATE thing SET name = name || $2 WHERE id = $1",
			Returning: "UPDATE thing SET name = name || $2 WHERE id = $1 RETURNING id, name",
			Select:    "SELECT id, name FROM thing WHERE id = $1",
			Keys:      1,
		}
		for id, want := range map[int64]string{1: "ab", 2: ""} {
			var changed, got int64
			var name string
			if err := d.Write(t.Context(), func(tx db.Tx) (err error) {
				changed, err = tx.UpdateRow(update, []any{id, "b"}, &got, &name)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			var wantChanged, wantID int64
			if want != "" {
				wantChanged, wantID = 1, id
			}
			if changed != wantChanged || got != wantID || name != want {
				t.Errorf("row %d: %d changed, now %d %q", id, changed, got, name)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		const insert = "INSERT INTO thing (id, name) VALUES ($1, $2)"
		err := d.Write(t.Context(), func(tx db.Tx) error {
			return tx.ExecEach(insert, nil, [][]any{{1, "a"}, {2, "b"}, {1, "c"}})
		})
		if !errors.Is(err, db.ErrUnique) {
			t.Errorf("the same key twice: %v", err)
		}
		if list := names(t, d); list != nil {
			t.Errorf("after a failed transaction: %v", list)
		}
		exec(t, d, insert, 1, "a")
		exec(t, d, insert, 2, "b")
		rows := 0
		if err := d.Query(t.Context(), "SELECT name FROM thing", func(db.Row) error { rows++; return db.ErrStop }); err != nil || rows != 1 {
			t.Errorf("stopped after %d rows: %v", rows, err)
		}
		failed := errors.New("failed")
		if err := d.Query(t.Context(), "SELECT name FROM thing", func(db.Row) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("an error while scanning: %v", err)
		}
		if err := d.Query(t.Context(), "SELECT nonsense FROM thing", ignore); err == nil || fault.Wrap(err).Code != fault.Internal {
			t.Errorf("a wrong statement: %v", err)
		}
	})
}

// Concurrent writes share commits; one that fails or panics rolls back only itself.
func TestConcurrentWrites(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		const writers = 60
		failed := errors.New("failed")
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				defer func() {
					if p := recover(); (p != nil) != (i%3 == 2) {
						t.Errorf("writer %d: panic %v", i, p)
					}
				}()
				err := d.Write(t.Context(), func(tx db.Tx) error {
					if _, err := tx.Exec("INSERT INTO thing (id, name) VALUES ($1, $2)", i, fmt.Sprint(i%3)); err != nil {
						return err
					}
					switch i % 3 {
					case 1:
						return failed
					case 2:
						panic("in the middle")
					}
					return nil
				})
				if want := i%3 == 1; errors.Is(err, failed) != want || !want && err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			})
		}
		all.Wait()
		list := names(t, d)
		for _, name := range list {
			if name != "0" {
				t.Errorf("stored although it failed: %s", name)
			}
		}
		if len(list) != writers/3 {
			t.Errorf("%d of %d stored", len(list), writers/3)
		}
	})
}

// After Close, all requests fail as if the database were unavailable.
func TestClosed(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"query": d.Query(t.Context(), "SELECT 1", ignore),
			"write": d.Write(t.Context(), func(db.Tx) error { return nil }),
			"batch": d.QueryBatch(t.Context(), db.Statement{SQL: "SELECT 1", Scan: ignore}),
		} {
			if fault.Wrap(err).Code != fault.DatabaseUnreachable {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestOpenURL(t *testing.T) {
	for _, url := range []string{"mysql://x", "postgres://x@one:1/db?pool_max_conns=0"} {
		if _, err := db.Open(t.TempDir(), url); err == nil {
			t.Errorf("%s was accepted", url)
		}
	}
}
