package db_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"formulary/internal/db"
	"formulary/internal/db/dbtest"
)

// After all connections were broken, as by a failover, reads succeed at once.
func TestReadsSurviveBrokenConnections(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	storage := dbtest.Postgres(t)
	name := "broken_" + t.Name()
	storage.URL += "&application_name=" + name
	d := dbtest.Open(t, storage)
	conn, err := pgx.Connect(ctx, strings.Replace(storage.URL, "pool_max_conns=8&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	const read = "SELECT 1"
	for round := range 5 {
		var all sync.WaitGroup
		for range 8 { // makes several connections idle
			all.Go(func() { d.Query(ctx, read, ignore) })
		}
		all.Wait()
		if _, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()`, name); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			all.Go(func() {
				if err := d.Query(ctx, read, ignore); err != nil {
					t.Errorf("round %d, one statement: %v", round, err)
				}
				if err := d.QueryBatch(ctx, db.Statement{SQL: read, Scan: ignore}, db.Statement{SQL: read, Scan: ignore}); err != nil {
					t.Errorf("round %d, several: %v", round, err)
				}
				if err := d.Read(ctx, func(tx db.Tx) error { return tx.Query(read, ignore) }); err != nil {
					t.Errorf("round %d, a transaction: %v", round, err)
				}
			})
		}
		all.Wait()
	}
}
