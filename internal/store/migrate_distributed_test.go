package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// fakeCitusSQL creates the functions of Citus. They record their calls, and reject what
// Citus rejects: a unique index without the distribution column.
const fakeCitusSQL = `
CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, by text, beside text);
CREATE TABLE truncated (t regclass PRIMARY KEY);
CREATE FUNCTION truncate_local_data_after_distributing_table(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = t) THEN RAISE EXCEPTION '% is not distributed', t; END IF;
	INSERT INTO truncated VALUES (t);
END $$;
CREATE FUNCTION create_reference_table(t regclass) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO pg_dist_partition VALUES (t, '', '') $$;
CREATE FUNCTION create_distributed_table(t regclass, by text, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = t AND i.indisunique AND NOT EXISTS
		(SELECT 1 FROM pg_attribute a WHERE a.attrelid = t AND a.attname = by AND a.attnum = ANY (i.indkey)))
	THEN RAISE EXCEPTION 'cannot create constraint on %', t; END IF;
	INSERT INTO pg_dist_partition VALUES (t, by, colocate_with);
END $$`

// ownedTablesSQL lists the tables whose primary key starts with account_id.
const ownedTablesSQL = `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
	WHERE i.indisprimary AND c.relnamespace = current_schema()::regnamespace AND a.attname = 'account_id' ORDER BY 1`

func TestDistribute(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := storetest.Open(t, storage)
	if _, err := s.Distribute(ctx); err == nil || !strings.Contains(err.Error(), "Citus") {
		t.Errorf("without the extension: %v", err)
	}
	conn := connectPostgres(t, storage)
	list := func(sql string) []string {
		t.Helper()
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	all := list(`SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)
	if _, err := conn.Exec(ctx, fakeCitusSQL); err != nil {
		t.Fatal(err)
	}
	// A running node prevents distribution.
	node := storetest.Open(t, storage)
	locks := func() string {
		return list(`SELECT COUNT(*)::text FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objid = hashtext(current_schema())::oid`)[0]
	}
	for locks() != "1" {
		node.Listen() // until it listens
	}
	if _, err := s.Distribute(ctx); err == nil || !strings.Contains(err.Error(), "stop all servers") {
		t.Errorf("while a node is running: %v", err)
	}
	node.Close()
	for locks() != "0" {
	}
	moved, err := s.Distribute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// Every table is distributed or replicated.
	slices.Sort(moved)
	slices.Sort(all)
	if !slices.Equal(moved, all) {
		t.Errorf("moved %v, the tables are %v", moved, all)
	}
	if copies := list(`SELECT t::text FROM truncated ORDER BY 1`); !slices.Equal(copies, all) {
		t.Errorf("the old copies of %v were removed, the tables are %v", copies, all)
	}
	// Data of an account is distributed by account_id and colocated. Applications are
	// used by other accounts, so they are replicated.
	by := list(`SELECT logicalrelid::text FROM pg_dist_partition WHERE by = 'account_id' ORDER BY 1`)
	want := slices.DeleteFunc(list(ownedTablesSQL), func(name string) bool { return name == "app" || name == "app_secret" || name == "account_purge" })
	if !slices.Equal(by, want) {
		t.Errorf("distributed by account: %v\nowned by an account: %v", by, want)
	}
	if colocation := list(`SELECT DISTINCT beside FROM pg_dist_partition WHERE by <> '' ORDER BY 1`); !slices.Equal(colocation, []string{"none", "session"}) {
		t.Errorf("colocated with %v", colocation)
	}
	if again, err := s.Distribute(ctx); err != nil || len(again) != 0 {
		t.Errorf("a second time: %v %v", again, err)
	}
	if _, err := conn.Exec(ctx, `DELETE FROM pg_dist_partition WHERE logicalrelid = 'response'::regclass; DELETE FROM truncated`); err != nil {
		t.Fatal(err)
	}
	if rest, err := s.Distribute(ctx); err != nil || !slices.Equal(rest, []string{"response"}) {
		t.Errorf("after an interruption: %v %v", rest, err)
	}
}

// A database that was distributed before schema 6 is not changed, and the error
// explains why.
func TestUpgradeDistributedEarly(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := openAtSchema(t, storage, 5)
	conn := connectPostgres(t, storage)
	if _, err := conn.Exec(ctx, fakeCitusSQL+`; INSERT INTO pg_dist_partition VALUES ('response'::regclass, 'account_id', '')`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Migrate(ctx); err == nil || !strings.Contains(err.Error(), "back up") {
		t.Errorf("upgrade: %v", err)
	}
	if n, err := s.SchemaVersion(ctx); err != nil || n != 5 {
		t.Errorf("the schema is %d, %v", n, err)
	}
}

func TestDistributeSQLite(t *testing.T) {
	t.Parallel()
	var s *store.Store = storetest.Open(t, storetest.SQLite(t))
	if _, err := s.Distribute(ctx); err == nil {
		t.Error("SQLite was distributed")
	}
}
