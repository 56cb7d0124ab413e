package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"formulary/internal/id"
)

// addForms makes a person with very many forms. On PostgreSQL those of one person
// wait for each other, so there all but the first are copies of it.
func (s *survey) addForms(ctx context.Context, n int) (err error) {
	made := n
	if s.at.url != "" {
		made = 1
	}
	if s.many, err = s.person(ctx, "many@example.com", int64(made)); err != nil || made == n {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.at.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // after a commit it does nothing
	// In the order of their serials, after the one that was made now.
	ids := make([]string, n-made)
	for i := range ids {
		ids[i] = id.New(id.Form, time.Now().Add(time.Duration(i+1)*time.Millisecond))
	}
	for table, id := range map[string]string{"form": "id", "form_address": "address"} {
		if err := copyRows(ctx, tx, table, id, s.many.ID, ids); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE account SET form_serial = $2, form_last_id = $3 WHERE id = $1", s.many.ID, n, ids[len(ids)-1]); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE form_count SET n = $2 WHERE account_id = $1", s.many.ID, n); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ANALYZE form, form_address")
	return err
}

// copyRows copies the one row of an owner for each of the ids.
func copyRows(ctx context.Context, tx pgx.Tx, table, key, owner string, ids []string) error {
	rows, err := tx.Query(ctx, "SELECT * FROM "+table+" WHERE account_id = $1", owner)
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
	_, err = tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
		serial++
		for c, column := range columns {
			switch column {
			case key, "form_id":
				values[c] = ids[i]
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
