package db

import (
	"fmt"
	"testing"
)

// Statements that are not repeated do not stay prepared for ever.
func TestPreparedIsBounded(t *testing.T) {
	db, err := openSQLite(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range 700 {
		err := db.Write(t.Context(), func(tx Tx) error {
			return tx.Query(fmt.Sprintf("SELECT %d %600s", n, ""), func(Row) error { return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	bytes := 0
	for sql := range db.writer.prepared {
		bytes += len(sql)
	}
	if bytes > maxPrepared || bytes == 0 {
		t.Errorf("%d bytes of statements are kept", bytes)
	}
}
