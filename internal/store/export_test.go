package store

import "context"

// MigrateTo brings the schema to an earlier version, for tests of upgrades.
func (s *Store) MigrateTo(ctx context.Context, version int) error {
	_, err := s.migrateTo(ctx, version)
	return err
}

// Schemas is how many versions of the schema there are.
func Schemas() int { return len(migrations()) }

// Exec runs any statement, for tests that prepare what no method makes any more.
func (s *Store) Exec(ctx context.Context, sql string, args ...any) error {
	return s.db.Write(ctx, func(t tx) error {
		_, err := t.Exec(sql, args...)
		return err
	})
}

// Rows reads texts, for such tests.
func (s *Store) Rows(ctx context.Context, columns int, sql string, args ...any) ([][]string, error) {
	var list [][]string
	err := s.query(ctx)(sql, func(r row) error {
		texts, dest := make([]string, columns), make([]any, columns)
		for i := range texts {
			dest[i] = &texts[i]
		}
		list = append(list, texts)
		return r.Scan(dest...)
	}, args...)
	return list, err
}

// MaxPrepared is how much SQL a connection keeps prepared.
const MaxPrepared = maxPrepared

// Prepared is how much the writer has, on SQLite.
func (s *Store) Prepared() (bytes int) {
	for sql := range s.db.(*sqlite).writer.prepared {
		bytes += len(sql)
	}
	return bytes
}

// Addresses is of how many forms the address is remembered.
func (s *Store) Addresses() int64 { return s.owners.n.Load() }

// SoonLife is how long what was read is kept without being read again.
const SoonLife = soonLife
