package db_test

import (
	"testing"

	"formulary/internal/db"
	"formulary/internal/db/dbtest"
)

// Two processes on one data directory learn of each other's changes without a
// mapped file too, as on Windows.
func TestFileGenerations(t *testing.T) {
	storage := dbtest.SQLite(t)
	server, command := dbtest.Open(t, storage), dbtest.Open(t, storage)
	for _, d := range []db.DB{server, command} {
		if err := db.UseFileGenerations(d); err != nil {
			t.Fatal(err)
		}
	}
	for name, d := range map[string]db.DB{"here": server, "in another process": command} {
		before, ok := server.Generation("usr_ada")
		if again, _ := server.Generation("usr_ada"); !ok || again != before {
			t.Fatal("a generation changed by itself")
		}
		d.Invalidate("usr_ada")
		if after, ok := server.Generation("usr_ada"); !ok || after == before {
			t.Errorf("a change made %s is not noticed", name)
		}
	}
}
