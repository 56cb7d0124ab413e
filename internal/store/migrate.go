package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

type migration struct {
	name string
	sql  string
}

// migrations returns the migrations in order; the schema version is the number of those
// that have run.
func migrations() []migration {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	list := make([]migration, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		list[i] = migration{strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql"), string(text)}
	}
	return list
}

const (
	createMigrationSQL = `CREATE TABLE IF NOT EXISTS migration (
		version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`
	schemaVersionSQL   = `SELECT COUNT(*) FROM migration`
	insertMigrationSQL = `INSERT INTO migration (version, name, applied_at) VALUES ($1, $2, $3)`
)

// SchemaVersion returns the number of migrations that have run.
func (s *Store) SchemaVersion(ctx context.Context) (_ int, err error) {
	defer wrap(&err, "read schema version")
	var n int64
	err = queryOne(s.query(ctx), schemaVersionSQL, nil, &n)
	return int(n), err
}

// Migrate updates the schema and returns the names of the migrations that it ran. They
// run in one transaction: if the process is killed, none of them takes effect.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	return s.migrateTo(ctx, len(migrations()))
}

func (s *Store) migrateTo(ctx context.Context, version int) ([]string, error) {
	list := migrations()[:version]
	// Usually the schema is current, which can be checked without a lock.
	if n, err := s.SchemaVersion(ctx); err == nil && n == len(list) {
		return nil, nil
	} else if errors.Is(err, fault.DatabaseUnavailable(nil)) {
		return nil, err
	}
	var ran []string
	err := s.db.Exclusive(ctx, func(t db.Tx) error {
		ran = nil
		if _, err := t.Exec(createMigrationSQL); err != nil {
			return err
		}
		var at int64
		if err := queryOne(t.Query, schemaVersionSQL, nil, &at); err != nil {
			return err
		}
		if int(at) > len(list) {
			return fmt.Errorf("the database schema (%d) is newer than this version supports (%d); upgrade Formulary", at, len(list))
		}
		if err := s.checkUpgradable(t, at); err != nil {
			return err
		}
		for i, m := range list[at:] {
			for _, statement := range statements(s.db.Dialect(m.sql)) {
				if _, err := t.Exec(statement); err != nil {
					return fmt.Errorf("migration %s: %w", m.name, err)
				}
			}
			if _, err := t.Exec(insertMigrationSQL, at+int64(i)+1, m.name, time.Now().UnixMilli()); err != nil {
				return err
			}
			ran = append(ran, m.name)
		}
		return nil
	})
	return ran, err
}

// statements splits a migration at semicolons that end a line.
func statements(sql string) []string {
	var lines, list []string
	for line := range strings.Lines(sql) {
		if strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		lines = append(lines, line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			list = append(list, strings.Join(lines, ""))
			lines = nil
		}
	}
	return list
}
