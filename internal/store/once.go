package store

import (
	"time"

	"formulary/internal/fault"
)

// Once makes a creation happen once, however often it is asked for. It comes
// from the Idempotency-Key of a request; the zero value changes nothing.
type Once struct {
	App  string // keys of two applications never meet
	Key  string
	Hash string // of the request's body; empty finds what was made with any
}

// OnceKept is how long a key is remembered.
const OnceKept = 24 * time.Hour

const (
	insertOnceSQL = `INSERT INTO idempotency (account_id, app_id, key, hash, resource_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, app_id, key) DO NOTHING`
	onceSQL = `SELECT hash, resource_id FROM idempotency WHERE account_id = $1 AND app_id = $2 AND key = $3`
)

// claim takes the key for the resource about to be made, or returns the id of
// the one that was made with it before.
func (o Once) claim(t tx, owner, id string, now time.Time) (earlier string, err error) {
	if o.Key == "" {
		return "", nil
	}
	return o.claimKey(t, owner, id, now)
}

func (o Once) claimKey(t tx, owner, id string, now time.Time) (earlier string, err error) {
	n, err := t.Exec(insertOnceSQL, owner, o.App, o.Key, o.Hash, id, ms(now))
	if err != nil || n == 1 {
		return "", err
	}
	return o.earlier(t.Query, owner)
}

// earlier is the id of what was made with the key.
func (o Once) earlier(q querier, owner string) (id string, err error) {
	var hash string
	if err := one(q, onceSQL, []any{owner, o.App, o.Key}, &hash, &id); err != nil {
		return "", err
	}
	if o.Hash != "" && hash != o.Hash {
		return "", fault.New(fault.KeyReused, "This Idempotency-Key was already used with another body.")
	}
	return id, nil
}
