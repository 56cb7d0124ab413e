package dbtest

import (
	"context"
	"errors"
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

// admin is the connection that empties schemas. One for all tests is faster than one for each,
// because a new one has to learn about the tables first.
var admin struct {
	sync.Mutex
	conn *pgx.Conn
}

// emptySchema deletes all rows except the list of migrations that have run.
func emptySchema(server, schema string) (err error) {
	ctx := context.Background()
	admin.Lock()
	defer admin.Unlock()
	if admin.conn == nil {
		if admin.conn, err = pgx.Connect(ctx, server); err != nil {
			return err
		}
		if _, err := admin.conn.Exec(ctx, "SET lock_timeout = '5s'"); err != nil {
			return err
		}
	}
	tables, err := tablesOf(ctx, admin.conn, schema)
	if err != nil {
		return err
	}
	var statements []string
	migrated := false
	for _, t := range tables {
		switch {
		case t.name == "migration":
			migrated = true
		case t.bytes > deleteLimit:
			statements = append(statements, "TRUNCATE "+schema+"."+t.name)
		case t.bytes > 0:
			statements = append(statements, "DELETE FROM "+schema+"."+t.name)
		}
	}
	if !migrated {
		return errors.New("there are no tables")
	}
	if _, err = admin.conn.Exec(ctx, strings.Join(statements, ";")); admin.conn.IsClosed() {
		admin.conn = nil // some test has stopped the server
	}
	return err
}

// deleteLimit is the size in bytes up to which deleting the rows of a table is faster than
// truncating it, which creates new files for the table and its indexes.
const deleteLimit = 1 << 20

type table struct {
	name  string
	bytes int64
}

// tablesOf lists the tables of a schema. A table that never had a row has no bytes.
func tablesOf(ctx context.Context, conn *pgx.Conn, schema string) ([]table, error) {
	rows, err := conn.Query(ctx, "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = CAST($1 AS regnamespace)", schema)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t table, err error) {
		err = row.Scan(&t.name, &t.bytes)
		return t, err
	})
}
