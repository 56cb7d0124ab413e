package store

import (
	"context"
	"errors"
	"fmt"
)

// How the tables lie when one machine is not enough for PostgreSQL, and an
// extension such as Citus spreads them over several. What an account owns lies
// together, found by account_id. What is looked up without knowing the account,
// or for all of them, is small and lies on every machine.

// everywhere are the tables of which each machine has a copy: account is found by
// its e-mail address, app and app_secret by the client_id, form_address by the
// address of a form.
var everywhere = []string{"migration", "setting", "account", "app", "app_secret", "form_address"}

// spread are the tables that are spread by account_id.
var spread = []string{
	"session", "link", "ticket", "consent", "code", "access_token", "refresh_token", "idempotency",
	"form", "form_count", "list_block", "form_draft", "form_version", "response", "form_summary", "option_count",
	"trash", "app_call",
}

const (
	canSpreadSQL    = `SELECT COUNT(*) FROM (SELECT to_regproc('create_distributed_table') AS f) AS here WHERE f IS NOT NULL`
	isSpreadSQL     = `SELECT COUNT(*) FROM pg_dist_partition WHERE logicalrelid = CAST($1 AS regclass)`
	putEverywhere   = `SELECT create_reference_table($1)`
	spreadByAccount = `SELECT create_distributed_table($1, 'account_id', colocate_with => $2)`
)

var errOneMachine = errors.New("this database cannot spread tables over machines: it has no create_distributed_table, which the Citus extension brings (CREATE EXTENSION citus)")

// Distribute spreads the tables over the machines of the database and returns the
// names of those that it moved. Each is moved in a transaction of its own: ended
// half-way it goes on where it stopped.
func (s *Store) Distribute(ctx context.Context) ([]string, error) {
	if !s.Several() {
		return nil, errOneMachine
	}
	var functions int64
	if err := one(s.query(ctx), canSpreadSQL, nil, &functions); err != nil {
		return nil, err
	}
	if functions == 0 {
		return nil, errOneMachine
	}
	var moved []string
	move := func(table, sql string, args ...any) error {
		did := false
		err := s.db.Exclusive(ctx, func(t tx) error {
			did = false
			var n int64
			if err := one(t.Query, isSpreadSQL, []any{table}, &n); err != nil || n > 0 {
				return err
			}
			did = true
			return t.Query(sql, func(row) error { return nil }, append([]any{table}, args...)...)
		})
		if err != nil {
			return fmt.Errorf("spread %s: %w", table, err)
		}
		if did {
			moved = append(moved, table)
		}
		return nil
	}
	for _, table := range everywhere {
		if err := move(table, putEverywhere); err != nil {
			return moved, err
		}
	}
	// What lies together is found together: a transaction of one account stays on
	// one machine.
	for i, table := range spread {
		with := spread[0]
		if i == 0 {
			with = "none"
		}
		if err := move(table, spreadByAccount, with); err != nil {
			return moved, err
		}
	}
	return moved, nil
}
