package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"formulary/internal/id"
)

// addForms creates a user with n forms. On PostgreSQL, inserts of one user wait for
// each other, so there all but the first are copied.
func (s *survey) addForms(ctx context.Context, n int) (err error) {
	created := n
	if s.location.url != "" {
		created = 1
	}
	if s.largeOwner, err = s.addUser(ctx, "many@example.com", int64(created)); err != nil || created == n {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.location.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // no effect after a commit
	// In the order of their serials, after the form that was just created.
	ids := make([]string, n-created)
	for i := range ids {
		ids[i] = id.New(id.Form, time.Now().Add(time.Duration(i+1)*time.Millisecond))
	}
	for table, key := range map[string]string{"form": "id", "form_address": "address"} {
		if err := (rowCopy{table: table, key: key, owner: s.largeOwner.ID, ids: ids}).run(ctx, tx); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE account SET form_serial = $2, form_last_id = $3 WHERE id = $1", s.largeOwner.ID, n, ids[len(ids)-1]); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE form_count SET n = $2 WHERE account_id = $1", s.largeOwner.ID, n); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ANALYZE form, form_address")
	return err
}

// rowCopy copies the only row of an owner in a table, once for each ID.
type rowCopy struct {
	table, key, owner string
	ids               []string
}

func (r rowCopy) run(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT * FROM "+r.table+" WHERE account_id = $1", r.owner)
	if err != nil {
		return err
	}
	var columns []string
	for _, field := range rows.FieldDescriptions() {
		columns = append(columns, field.Name)
	}
	row, err := pgx.CollectOneRow(rows, pgx.RowToMap)
	if err != nil {
		return err
	}
	serial := int64(1)
	values := make([]any, len(columns))
	_, err = tx.CopyFrom(ctx, pgx.Identifier{r.table}, columns, pgx.CopyFromSlice(len(r.ids), func(i int) ([]any, error) {
		serial++
		for c, column := range columns {
			switch column {
			case r.key, "form_id":
				values[c] = r.ids[i]
			case "serial":
				values[c] = serial
			default:
				values[c] = row[column]
			}
		}
		return values, nil
	}))
	return err
}
