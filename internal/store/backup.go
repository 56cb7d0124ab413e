package store

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// A backup is gzipped JSON Lines: a header, for each table its columns and rows, and an
// end with the number of rows. Then the files follow, as they are (see backup_files.go). It
// does not depend on the engine, so a backup of SQLite can be restored into PostgreSQL and
// vice versa.

// tables lists the tables of a backup, with the schema that added each.
var tables = []struct {
	name  string
	since int
}{
	{"account", 1}, {"session", 1}, {"link", 1}, {"app", 1}, {"app_secret", 1}, {"ticket", 1}, {"consent", 1}, {"code", 1},
	{"access_token", 1}, {"refresh_token", 1}, {"form", 1}, {"form_count", 1}, {"list_block", 1}, {"idempotency", 1},
	{"form_address", 2}, {"form_draft", 2}, {"form_version", 2}, {"response", 2},
	{"form_summary", 3}, {"option_count", 3}, {"setting", 3}, {"trash", 4}, {"app_call", 4}, {"account_purge", 8},
	{"device", 9}, {"guess", 9}, {"form_event", 10}, {"webhook", 10}, {"delivery", 10}, {"mail", 12}, {"mail_suppression", 12}, {"form_mail", 12}, {"form_recipient", 12},
	{"file", 14}, {"file_garbage", 14}, {"picture", 14}, {"theme", 17},
	{"response_tag", 18}, {"form_mark", 18}, {"response_note", 18}, {"form_retention", 18},
	{"response_view", 19}, {"response_layout", 19},
	{"personal_token", 20}, {"form_visit", 21},
	{"space_member", 22}, {"membership", 22}, {"form_share", 22}, {"membership_form", 22}, {"invitation", 22}, {"consent_form", 22}, {"audit", 22}, {"form_move", 22}, {"app_change", 24},
}

// The schemas that added the tables setting and file.
const (
	settingSince = 3
	fileSince    = 14
)

type backupLine struct {
	Format  string   `json:"format,omitempty"`
	Schema  int      `json:"schema,omitempty"`
	Made    string   `json:"made,omitempty"`
	Table   string   `json:"table,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Row     []any    `json:"row,omitempty"`
	End     bool     `json:"end,omitempty"`
	Rows    int64    `json:"rows,omitempty"`
	Files   bool     `json:"files,omitempty"` // files follow
}

const backupFormat = "formulary-backup-1"

// BackupFile writes a backup to a file. Afterwards the file is complete and durable, or
// it does not exist.
func (s *Store) BackupFile(ctx context.Context, name string) (int64, error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".formulary-backup-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	rows, err := s.Backup(ctx, file)
	if err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, err
	}
	return rows, os.Rename(file.Name(), name)
}

// Backup writes a snapshot of the database and returns the number of rows.
func (s *Store) Backup(ctx context.Context, out io.Writer) (int64, error) {
	zip := gzip.NewWriter(out)
	lines := json.NewEncoder(zip)
	lines.SetEscapeHTML(false)
	schema, err := s.SchemaVersion(ctx)
	if err != nil {
		return 0, err
	}
	if err := lines.Encode(backupLine{Format: backupFormat, Schema: schema, Made: time.Now().UTC().Format(time.RFC3339), Files: s.objects != nil}); err != nil {
		return 0, err
	}
	var rows int64
	err = s.db.Read(ctx, func(t db.Tx) error {
		for _, table := range tables {
			n, err := backupTable(t, table.name, lines)
			if err != nil {
				return fmt.Errorf("back up %s: %w", table.name, err)
			}
			rows += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := lines.Encode(backupLine{End: true, Rows: rows}); err != nil {
		return 0, err
	}
	if err := zip.Close(); err != nil || s.objects == nil {
		return rows, err
	}
	return rows, s.backupFiles(ctx, out)
}

func backupTable(t db.Tx, table string, lines *json.Encoder) (int64, error) {
	var rows int64
	var columns []string
	sql, args := "SELECT * FROM "+table, []any(nil)
	if table == "setting" {
		// Secrets are excluded, and where files are: the restored service has its own.
		sql, args = sql+" WHERE name <> $1 AND name <> $2 AND name <> $3", []any{signingKey, previousSigning, fileMoveSetting}
	}
	err := t.Query(sql, func(r db.Row) error {
		if columns == nil {
			columns = r.Columns()
			if err := lines.Encode(backupLine{Table: table, Columns: columns}); err != nil {
				return err
			}
		}
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		rows++
		return lines.Encode(backupLine{Row: values})
	}, args...)
	return rows, err
}

var errNotEmpty = errors.New("the target is not empty; restore into an empty database")

// Restore reads a backup into an empty database in one transaction, then migrates it if
// the backup has an older schema.
func (s *Store) Restore(ctx context.Context, in io.Reader) (int64, error) {
	source := bufio.NewReaderSize(in, backupBuffer)
	zip, err := gzip.NewReader(source)
	if err != nil {
		return 0, fmt.Errorf("not a backup file: %w", err)
	}
	zip.Multistream(false) // files follow
	lines := json.NewDecoder(zip)
	lines.UseNumber()
	var head backupLine
	if err := lines.Decode(&head); err != nil || head.Format != backupFormat {
		return 0, errors.New("not a Formulary backup")
	}
	if head.Schema < 1 || head.Schema > len(migrations()) {
		return 0, fmt.Errorf("the backup uses schema %d, but this version supports up to %d; upgrade Formulary first", head.Schema, len(migrations()))
	}
	if err := s.migrateEmpty(ctx, head.Schema); err != nil {
		return 0, err
	}
	var rows int64
	err = s.db.Exclusive(ctx, func(t db.Tx) error {
		if exists, err := hasUsers(t.Query); err != nil || exists {
			return errorWhen(err, exists, errNotEmpty)
		}
		// A running server may have stored rows of its own in the empty database.
		for _, table := range tables {
			if table.since > head.Schema {
				continue
			}
			if _, err := t.Exec("DELETE FROM " + table.name); err != nil {
				return err
			}
		}
		if rows, err = restoreRows(t, lines); err != nil {
			return err
		}
		if head.Files {
			// The rows are committed once the files are durable.
			if err := s.restoreFiles(ctx, zip, source); err != nil {
				return err
			}
		}
		if head.Schema >= fileSince {
			// Thumbnails are not in the backup: they are made again.
			if _, err := t.Exec("UPDATE file SET thumbnail = ''"); err != nil {
				return err
			}
		}
		if head.Schema < settingSince {
			return nil
		}
		// Backups of earlier versions contain the signing key.
		_, err = t.Exec(dropSecretsSQL, signingKey, previousSigning)
		return err
	})
	if err != nil {
		return 0, err
	}
	_, err = s.Migrate(ctx)
	return rows, err
}

// migrateEmpty migrates an empty database to the schema of the backup.
func (s *Store) migrateEmpty(ctx context.Context, schema int) error {
	at, err := s.SchemaVersion(ctx)
	if err != nil && fault.Wrap(err).Code == fault.DatabaseUnreachable {
		return err
	}
	switch {
	case err != nil || at == 0:
		_, err = s.migrateTo(ctx, schema)
		return err
	case at != schema:
		return errNotEmpty
	}
	return nil
}

var columnName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func restoreRows(t db.Tx, lines *json.Decoder) (int64, error) {
	var rows int64
	var insert string
	var width int
	for {
		var line backupLine
		if err := lines.Decode(&line); err != nil {
			return 0, fmt.Errorf("the backup is incomplete or damaged: %w", err)
		}
		switch {
		case line.End:
			if line.Rows != rows {
				return 0, fmt.Errorf("the backup is incomplete: expected %d rows, found %d", line.Rows, rows)
			}
			return rows, nil
		case line.Table != "":
			var err error
			if insert, err = insertInto(line.Table, line.Columns); err != nil {
				return 0, err
			}
			width = len(line.Columns)
		default:
			if insert == "" || len(line.Row) != width {
				return 0, errors.New("the backup is damaged: a row does not match its table")
			}
			if err := plain(line.Row); err != nil {
				return 0, err
			}
			if _, err := t.Exec(insert, line.Row...); err != nil {
				return 0, err
			}
			rows++
		}
	}
}

// insertInto builds the statement for a table of the backup. The names are validated,
// because the file is input.
func insertInto(table string, columns []string) (string, error) {
	known := false
	for _, t := range tables {
		known = known || t.name == table
	}
	if !known {
		return "", fmt.Errorf("the backup contains an unknown table %q", table)
	}
	placeholders := make([]string, len(columns))
	for i, c := range columns {
		if !columnName.MatchString(c) {
			return "", fmt.Errorf("the backup contains an unknown column %q", c)
		}
		placeholders[i] = fmt.Sprintf("$%d", i+1)
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(placeholders, ", ") + ")", nil
}

// plain converts JSON numbers back to integers.
func plain(values []any) error {
	for i, v := range values {
		number, ok := v.(json.Number)
		if !ok {
			continue
		}
		n, err := number.Int64()
		if err != nil {
			return fmt.Errorf("the backup is damaged: %w", err)
		}
		values[i] = n
	}
	return nil
}
