package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

const (
	// expiredFormsSQL reads all accounts, and so all shards of a distributed database.
	// It is for background work only.
	expiredFormsSQL   = `SELECT account_id, id FROM form WHERE closes_at > 0 AND closes_at <= $1 AND status = 'open' LIMIT $2`
	expiredFormsOfSQL = `SELECT account_id, id FROM form WHERE account_id = $3 AND closes_at > 0 AND closes_at <= $1 AND status = 'open' LIMIT $2`
)

// CloseExpiredForms closes the forms of all accounts whose closing date has passed.
// They accept no responses anyway; this updates lists and counts.
func (s *Store) CloseExpiredForms(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "close expired forms")
	return s.closeExpired(ctx, now, expiredFormsSQL, toMillis(now), dueBatch)
}

// CloseExpiredFormsOf is CloseExpiredForms for one account. It runs before its forms
// are listed by status.
func (s *Store) CloseExpiredFormsOf(ctx context.Context, owner string, now time.Time) (err error) {
	defer wrap(&err, "close expired forms of account")
	return s.closeExpired(ctx, now, expiredFormsOfSQL, toMillis(now), dueBatch, owner)
}

func (s *Store) closeExpired(ctx context.Context, now time.Time, sql string, args ...any) error {
	return s.eachDue(ctx, sql, args, func(f dueForm) error { return s.closeIfExpired(ctx, f, now) })
}

func (s *Store) closeIfExpired(ctx context.Context, f dueForm, now time.Time) error {
	return s.write(ctx, f.owner, func(t db.Tx) error {
		locked, err := lockForm(t, f.owner, f.id, 0)
		if err != nil || locked.Status != form.Open || locked.At(now).Status == form.Open {
			return err
		}
		return updateStatus(t, f.owner, &locked, form.Closed, now)
	})
}
