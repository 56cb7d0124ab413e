package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// IdempotencyKey makes a request create something only once, even if it is repeated.
// It comes from the Idempotency-Key header; the zero value has no effect.
type IdempotencyKey struct {
	App  string // separates the keys of different applications
	Key  string
	Hash string // of the request body; empty: matches any
}

// IdempotencyKeyTTL is how long a key is stored.
const IdempotencyKeyTTL = 24 * time.Hour

const (
	claimKeySQL = `INSERT INTO idempotency (account_id, app_id, key, hash, resource_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, app_id, key) DO NOTHING`
	keySQL = `SELECT hash, resource_id FROM idempotency WHERE account_id = $1 AND app_id = $2 AND key = $3`
	// Updating the key's row makes the commit wait until the row is durable on the
	// server that stores it. The row may come from a commit that was interrupted while
	// it waited for a standby.
	confirmKeySQL = `UPDATE idempotency SET resource_id = resource_id WHERE account_id = $1 AND app_id = $2 AND key = $3
		RETURNING hash, resource_id`
)

// isRepeated reports whether the key was used before.
func (s *Store) isRepeated(ctx context.Context, owner string, key IdempotencyKey) bool {
	if key.Key == "" {
		return false
	}
	_, err := key.firstResult(s.query(ctx), owner)
	return err == nil
}

// claim stores the key for the resource about to be created, or returns the ID of the
// resource that was created with it.
func (o IdempotencyKey) claim(t db.Tx, owner, id string, now time.Time) (earlier string, err error) {
	if o.Key == "" {
		return "", nil
	}
	return o.claimKey(t, owner, id, now)
}

func (o IdempotencyKey) claimKey(t db.Tx, owner, id string, now time.Time) (earlier string, err error) {
	n, err := t.Exec(claimKeySQL, owner, o.App, o.Key, o.Hash, id, toMillis(now))
	if err != nil || n == 1 {
		return "", err
	}
	return o.confirm(t, owner)
}

// firstResult returns the ID of the resource created with the key. It may not be
// durable yet: see confirm.
func (o IdempotencyKey) firstResult(q querier, owner string) (id string, err error) {
	return o.resource(q, keySQL, owner)
}

// confirm is firstResult in a transaction whose commit makes the key durable.
func (o IdempotencyKey) confirm(t db.Tx, owner string) (id string, err error) {
	return o.resource(t.Query, confirmKeySQL, owner)
}

func (o IdempotencyKey) resource(q querier, sql, owner string) (id string, err error) {
	var hash string
	if err := queryOne(q, sql, []any{owner, o.App, o.Key}, &hash, &id); err != nil {
		return "", err
	}
	if o.Hash != "" && hash != o.Hash {
		return "", fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was already used with a different request body.")
	}
	return id, nil
}
