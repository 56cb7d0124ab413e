package dbtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// reusable has the schemas of earlier tests of this process. Their tables have no rows.
var reusable struct {
	sync.Mutex
	schemas []string
}

// ReusedPostgres is Postgres for tests that do not mind tables without rows. It is faster,
// because PostgreSQL takes longer to create all tables than most tests take.
func ReusedPostgres(t testing.TB) Storage {
	t.Helper()
	server := testServer(t)
	reusable.Lock()
	schema := ""
	if n := len(reusable.schemas); n > 0 {
		schema, reusable.schemas = reusable.schemas[n-1], reusable.schemas[:n-1]
	}
	reusable.Unlock()
	if schema == "" {
		schema = createSchema(t, server)
	}
	t.Cleanup(func() {
		if err := emptySchema(server, schema); err != nil {
			dropSchema(t, server, schema)
			return
		}
		reusable.Lock()
		reusable.schemas = append(reusable.schemas, schema)
		reusable.Unlock()
	})
	return storageOf(t, server, schema)
}

// emptySchema deletes all rows except the list of migrations that have run.
func emptySchema(server, schema string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET lock_timeout = '5s'"); err != nil {
		return err
	}
	tables, err := readNames(ctx, conn, "SELECT tablename FROM pg_tables WHERE schemaname = '"+schema+"'")
	if err != nil {
		return err
	}
	const migrations = "migration"
	if !slices.Contains(tables, migrations) {
		return errors.New("there are no tables")
	}
	var checks []string
	for _, table := range tables {
		if table != migrations {
			checks = append(checks, fmt.Sprintf("SELECT '%[1]s.%[2]s' WHERE EXISTS (SELECT 1 FROM %[1]s.%[2]s)", schema, table))
		}
	}
	used, err := readNames(ctx, conn, strings.Join(checks, " UNION ALL "))
	if err != nil || len(used) == 0 {
		return err
	}
	_, err = conn.Exec(ctx, "TRUNCATE "+strings.Join(used, ", "))
	return err
}

func readNames(ctx context.Context, conn *pgx.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
