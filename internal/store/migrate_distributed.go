package store

import (
	"context"
	"errors"
	"fmt"

	"formulary/internal/db"
)

// Sharding of tables if one machine is not enough for PostgreSQL, by an extension such
// as Citus. The rows of an account are on one machine, by account_id. Tables that are
// read without knowing the account, or for all accounts, are small, and replicated to
// every machine.

// replicated are the tables that every machine has a copy of: account is read by email
// address, app, app_secret and app_change by client_id, form_address by the address of a form,
// guess by limiter and key, delivery_lease and delivery_node by node, picture by its ID.
var replicated = []string{"migration", "setting", "account", "app", "app_secret", "app_change", "form_address", "account_purge", "guess", "delivery_lease", "delivery_node", "picture"}

// distributed are the tables that are sharded by account_id.
var distributed = []string{
	"session", "device", "link", "ticket", "consent", "code", "access_token", "refresh_token", "idempotency",
	"form", "form_count", "list_block", "form_draft", "form_version", "response", "form_summary", "option_count",
	"trash", "app_call", "form_event", "webhook", "delivery", "mail", "mail_suppression", "form_mail", "form_recipient", "file", "file_garbage", "theme",
	"response_tag", "form_mark", "response_note", "form_retention",
	"response_view", "response_layout", "personal_token", "form_visit",
	"space_member", "membership", "form_share", "membership_form", "invitation", "consent_form", "audit", "form_editor", "form_move",
}

const (
	canDistributeSQL = `SELECT COUNT(*) FROM (SELECT to_regproc('create_distributed_table') AS f) AS here WHERE f IS NOT NULL`
	isDistributedSQL = `SELECT COUNT(*) FROM pg_dist_partition WHERE logicalrelid = CAST($1 AS regclass)`
	replicateSQL     = `SELECT create_reference_table($1)`
	distributeSQL    = `SELECT create_distributed_table($1, 'account_id', colocate_with => $2)`
	// Distributing copies the rows; the coordinator has the old copy until it is
	// truncated.
	dropLocalCopy = `SELECT truncate_local_data_after_distributing_table($1)`
)

var errNotCitus = errors.New("this database cannot distribute tables: the Citus extension is not installed (CREATE EXTENSION citus)")

// orderedSchema replaced the table of responses, which is impossible once it is
// distributed.
const orderedSchema = 6

var errDistributeTooEarly = errors.New("the tables were distributed before schema 6 and cannot be upgraded in place; back up with the earlier version, restore into an empty database and run migrate --distributed again")

// checkUpgradable returns an error for upgrades that distributed tables do not support.
func (s *Store) checkUpgradable(t db.Tx, at int64) error {
	if at == 0 || at >= orderedSchema || !s.MultiNode() {
		return nil
	}
	var functions, spread int64
	if err := queryOne(t.Query, canDistributeSQL, nil, &functions); err != nil || functions == 0 {
		return err
	}
	err := queryOne(t.Query, isDistributedSQL, []any{"response"}, &spread)
	return errorWhen(err, spread > 0, errDistributeTooEarly)
}

var errServing = errors.New("stop all servers first: the feed can miss responses that are stored while a table is moved")

// Distribute shards the tables and returns the names of those that it moved. Each table
// is moved in its own transaction: after an interruption, the next run continues.
func (s *Store) Distribute(ctx context.Context) ([]string, error) {
	if !s.MultiNode() {
		return nil, errNotCitus
	}
	var functions int64
	if err := queryOne(s.query(ctx), canDistributeSQL, nil, &functions); err != nil {
		return nil, err
	}
	if functions == 0 {
		return nil, errNotCitus
	}
	var moved []string
	move := func(table, sql string, args ...any) error {
		isMoved := false
		err := s.db.Exclusive(ctx, func(t db.Tx) error {
			isMoved = false
			var n int64
			if err := queryOne(t.Query, isDistributedSQL, []any{table}, &n); err != nil || n > 0 {
				return err
			}
			if idle, err := db.NoNodeServes(t); err != nil || !idle {
				return errorWhen(err, !idle, errServing)
			}
			isMoved = true
			ignore := func(db.Row) error { return nil }
			if err := t.Query(sql, ignore, append([]any{table}, args...)...); err != nil {
				return err
			}
			return t.Query(dropLocalCopy, ignore, table)
		})
		if err != nil {
			return fmt.Errorf("distribute %s: %w", table, err)
		}
		if isMoved {
			moved = append(moved, table)
		}
		return nil
	}
	for _, table := range replicated {
		if err := move(table, replicateSQL); err != nil {
			return moved, err
		}
	}
	// Colocated, so that a transaction of one account uses one machine.
	for i, table := range distributed {
		with := distributed[0]
		if i == 0 {
			with = "none"
		}
		if err := move(table, distributeSQL, with); err != nil {
			return moved, err
		}
	}
	return moved, nil
}
