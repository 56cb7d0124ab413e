package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

const (
	suppressSQL = `INSERT INTO mail_suppression (account_id, recipient_key, reason, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, recipient_key) DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at`
	expireMailsSQL = `UPDATE mail SET status = 'failed', error = $3, ended_at = $4, data = '' WHERE account_id = $1 AND status = 'waiting' AND created_at < $2`
	suppressedSQL  = `SELECT reason FROM mail_suppression WHERE account_id = $1 AND recipient_key = $2`
	trimMailsSQL   = `DELETE FROM mail WHERE account_id = $1 AND id IN
		(SELECT id FROM mail WHERE account_id = $1 AND status <> 'waiting' AND ended_at < $2 ORDER BY id DESC LIMIT 2000 OFFSET 1000)`
	allowSQL = `DELETE FROM mail_suppression WHERE account_id = $1 AND recipient_key = $2`
)

// firstOf returns the only element of a list; there may be none.
func firstOf[T any](list []T) (T, error) {
	if len(list) == 0 {
		var none T
		return none, fault.NotFound
	}
	return list[0], nil
}

// ExpireMails gives up on mails that were created before a time and could not be sent since.
func (s *Store) ExpireMails(ctx context.Context, owner string, before time.Time, reason string, now time.Time) (err error) {
	defer wrap(&err, "expire mails")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(expireMailsSQL, owner, toMillis(before), reason, toMillis(now))
		return err
	})
}

// MailSuppressed returns why an account sends no mails of forms to an address; empty: it does.
func (s *Store) MailSuppressed(ctx context.Context, owner, key string) (reason string, err error) {
	defer wrap(&err, "read suppression")
	err = queryOne(s.query(ctx), suppressedSQL, []any{owner, key}, &reason)
	return reason, replaceNotFound(err, nil)
}

// AllowMail sends mails of forms to an address again.
func (s *Store) AllowMail(ctx context.Context, owner, key string) (err error) {
	defer wrap(&err, "allow mail")
	return s.write(ctx, owner, func(t db.Tx) error {
		_, err := t.Exec(allowAddressSQL, owner, key)
		return err
	})
}

// How long mails that have ended are kept, and for how long all of them are, because they
// count for the limits of an address. Of older ones an account keeps 1,000.
const (
	mailRetention   = 7 * 24 * time.Hour
	mailLimitWindow = time.Hour
	// suppressionRetention is after how long an address is tried again.
	suppressionRetention = 90 * 24 * time.Hour
)
