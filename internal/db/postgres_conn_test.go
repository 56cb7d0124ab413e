package db

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Parameters of the pool, which the server does not know, are removed from a URL.
func TestPoolSize(t *testing.T) {
	for address, want := range map[string]struct {
		rest string
		size int
		ok   bool
	}{
		"postgres://x:y@one:1/db":                                   {"postgres://x:y@one:1/db", defaultPool, true},
		"postgres://x@one:1,two:2/db?pool_max_conns=3&sslmode=off":  {"postgres://x@one:1,two:2/db?sslmode=off", 3, true},
		"postgres://x@one:1/db?sslmode=off&search_path=a%2Cb":       {"postgres://x@one:1/db?sslmode=off&search_path=a%2Cb", defaultPool, true},
		"postgres://x@one:1/db?pool_max_conns=0":                    {"", 0, false},
		"postgres://x@one:1/db?pool_max_conns=many":                 {"", 0, false},
		"postgres://x@one:1/db?pool_max_conns=2&application_name=%": {"", 0, false},
	} {
		rest, size, err := poolSize(address)
		if (err == nil) != want.ok {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil && (rest != want.rest || size != want.size) {
			t.Errorf("%s: %s %d", address, rest, size)
		}
	}
}

// A column that does not fit its destination is an error.
func TestRowsOfPostgres(t *testing.T) {
	r := &pgRow{
		[]pgconn.FieldDescription{{Name: "n", DataTypeOID: pgInt8}, {Name: "is", DataTypeOID: pgBool}, {Name: "note"}},
		[][]byte{[]byte("12"), []byte("t"), nil},
	}
	var n int64
	var is bool
	var note any = "before"
	if err := r.Scan(&n, &is, &note); err != nil {
		t.Fatal(err)
	}
	if got, want := [3]any{n, is, note}, [3]any{int64(12), true, nil}; got != want {
		t.Errorf("scanned %v, want %v", got, want)
	}
	var every [3]any
	if err := r.Scan(&every[0], &every[1], &every[2]); err != nil || every != [3]any{int64(12), true, nil} {
		t.Errorf("%v: %v", every, err)
	}
	var text string
	var wrong float64
	for name, dest := range map[string][]any{
		"column note": {&n, &is, &text}, "column is": {&n, &n, &note}, "column n": {&wrong, &is, &note}, "got 3": {&n},
	} {
		if err := r.Scan(dest...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
