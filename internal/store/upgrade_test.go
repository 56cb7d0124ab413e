package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// columnsSQL lists the columns of all tables, with their types.
var columnsSQL = map[string]string{
	"sqlite": `SELECT m.name, p.name, UPPER(p.type) FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'migration' ORDER BY m.name, p.cid`,
	"postgres": `SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), UPPER(CAST(data_type AS TEXT)) FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name <> 'migration' ORDER BY table_name, ordinal_position`,
}

// sampleValue returns a value of the column's type, as SQL.
func sampleValue(column, kind string) string {
	switch kind {
	case "BIGINT":
		return "41"
	case "BOOLEAN":
		return "TRUE"
	case "JSONB":
		return `'{"note": "kept"}'`
	}
	return "'" + column + " kept'"
}

// openAtSchema creates a database with an earlier schema.
func openAtSchema(t *testing.T, storage storetest.Storage, version int) *store.Store {
	t.Helper()
	s, err := store.Connect(ctx, storage.Data, storage.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.MigrateTo(ctx, version); err != nil {
		t.Fatal(err)
	}
	return s
}

// Upgrading from any earlier schema, with data in every table, keeps all data.
func TestUpgrade(t *testing.T) {
	for from := 1; from < store.Schemas(); from++ {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
				s := openAtSchema(t, storage, from)
				columns, err := s.Rows(ctx, 3, columnsSQL[storage.Engine])
				if err != nil {
					t.Fatal(err)
				}
				names, values := map[string][]string{}, map[string][]string{}
				for _, c := range columns {
					names[c[0]] = append(names[c[0]], c[1])
					values[c[0]] = append(values[c[0]], sampleValue(c[1], c[2]))
				}
				for table := range names {
					sql := "INSERT INTO " + table + " (" + strings.Join(names[table], ", ") + ") VALUES (" + strings.Join(values[table], ", ") + ")"
					if err := s.Exec(ctx, sql); err != nil {
						t.Fatalf("fill %s: %v", table, err)
					}
				}
				if _, err := s.Migrate(ctx); err != nil {
					t.Fatal(err)
				}
				if n, err := s.SchemaVersion(ctx); err != nil || n != store.Schemas() {
					t.Errorf("the schema is %d (%v)", n, err)
				}
				for table := range names {
					var conditions []string
					for i, name := range names[table] {
						condition := name + " = " + values[table][i]
						if strings.HasPrefix(values[table][i], "'{") {
							condition = name + " ->> 'note' = 'kept'"
						}
						conditions = append(conditions, condition)
					}
					kept, err := s.Rows(ctx, 1, "SELECT 'kept' FROM "+table+" WHERE "+strings.Join(conditions, " AND "))
					if err != nil || !slices.ContainsFunc(kept, func(r []string) bool { return r[0] == "kept" }) {
						t.Errorf("%s lost its row (%v)", table, err)
					}
				}
				t.Logf("FIGURE | upgrade from schema %d with data in every table | %s | %d tables, nothing lost |", from, s.Engine(), len(names))
			})
		})
	}
}
