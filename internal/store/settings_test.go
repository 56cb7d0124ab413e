package store_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Other nodes use a rotated key without a restart, and the key before the previous one
// no longer verifies.
func TestSigningKeys(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		otherProcess := storetest.Open(t, storage)
		first, err := s.SigningKeys(ctx)
		if err != nil || len(first.Current) != 32 || first.Previous != nil {
			t.Fatalf("%v (%v)", first, err)
		}
		now := time.Now()
		for range 2 {
			before, err := s.SigningKeys(ctx)
			if err != nil {
				t.Fatal(err)
			}
			until, err := otherProcess.RotateSigningKey(ctx, now)
			if err != nil || !until.Equal(now.Add(24*time.Hour)) {
				t.Fatalf("verifies until %v (%v)", until, err)
			}
			var after store.SigningKeys
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if after, err = s.SigningKeys(ctx); err != nil || !bytes.Equal(after.Current, before.Current) {
					break
				}
			}
			if err != nil || bytes.Equal(after.Current, before.Current) {
				t.Errorf("a rotation by another process is not seen: %v (%v)", after, err)
			}
			if !bytes.Equal(after.Previous, before.Current) || after.Until.UnixMilli() != until.UnixMilli() {
				t.Errorf("previous key %v until %v, want %v until %v", after.Previous, after.Until, before.Current, until)
			}
		}
	})
}

// A backup contains no signing key. Restoring one creates a new key, even from a backup
// of an earlier version that contains one.
func TestBackupExcludesSigningKey(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		addUser(t, s, "ada@example.com")
		if _, err := s.SigningKeys(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RotateSigningKey(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Exec(ctx, `INSERT INTO setting (name, value) VALUES ('other', 'stays')`); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Rows(ctx, 2, `SELECT name, value FROM setting`)
		if err != nil || len(rows) != 3 {
			t.Fatalf("settings %v (%v)", rows, err)
		}
		var file bytes.Buffer
		if _, err := s.Backup(ctx, &file); err != nil {
			t.Fatal(err)
		}
		zip, err := gzip.NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row[0] != "other" && (bytes.Contains(text, []byte(row[0])) || bytes.Contains(text, []byte(row[1]))) {
				t.Errorf("the backup contains %s", row[0])
			}
		}
		// As written by earlier versions.
		held := strings.Replace(string(text), `{"row":["other","stays"]}`, `{"row":["signing_key","b2xk"]}`, 1)
		for name, backup := range map[string]string{"new": string(text), "old": held} {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			io.WriteString(zip, backup)
			zip.Close()
			target := storetest.SQLite(t)
			if storage.Engine == "postgres" {
				target = storetest.Postgres(t)
			}
			restored, err := store.Connect(ctx, target.Data, target.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { restored.Close() })
			if _, err := restored.Restore(ctx, &packed); err != nil {
				t.Fatal(err)
			}
			keys, err := restored.SigningKeys(ctx)
			if err != nil || len(keys.Current) != 32 || keys.Previous != nil {
				t.Errorf("%s: keys %v (%v)", name, keys, err)
			}
			if got, err := restored.Rows(ctx, 1, `SELECT value FROM setting WHERE name = 'other'`); err != nil || len(got) != map[string]int{"new": 1, "old": 0}[name] {
				t.Errorf("%s: other settings %v (%v)", name, got, err)
			}
		}
	})
}
