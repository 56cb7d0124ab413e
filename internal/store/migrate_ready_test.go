package store_test

import (
	"testing"

	"formulary/internal/store/storetest"
)

// A node keeps running when another one has migrated to a newer schema. It is not ready
// while the schema is older than it needs.
func TestReadyWithOtherSchema(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := storetest.Open(t, storage)
	conn := connectPostgres(t, storage)
	for _, step := range []struct {
		sql   string
		ready bool
	}{
		{`INSERT INTO migration (version, name, applied_at) VALUES (9999, 'of a later version', 0)`, true},
		{`DELETE FROM migration WHERE version IN (1, 9999)`, false},
	} {
		if _, err := conn.Exec(ctx, step.sql); err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(ctx); (err == nil) != step.ready {
			t.Errorf("after %s: %v", step.sql, err)
		}
	}
}
