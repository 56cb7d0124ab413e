package store

import (
	"context"
	"time"

	"formulary/internal/account"
)

// spentRetention is how long expired rows are kept, so that an expired token can be
// distinguished from an unknown one, and reuse of a code is detected.
const spentRetention = 30 * 24 * time.Hour

// expiredTokenRetention is how long an expired access token results in 401005. Later it
// is unknown (401001); clients refresh after either.
const expiredTokenRetention = 7 * 24 * time.Hour

// cleanupBatch is the number of rows that one transaction deletes, so that no request
// waits long for it.
const cleanupBatch = 500

// byID ends a statement that deletes rows of a table with account and ID as its key.
const byID = ` LIMIT $2)`

var cleanupSQL = []struct {
	sql string
	age time.Duration
}{
	{`DELETE FROM ticket WHERE (account_id, id) IN (SELECT account_id, id FROM ticket WHERE expires_at < $1` + byID, time.Hour},
	{`DELETE FROM link WHERE (account_id, id) IN (SELECT account_id, id FROM link WHERE expires_at < $1` + byID, time.Hour},
	{`DELETE FROM invitation WHERE (account_id, id) IN (SELECT account_id, id FROM invitation WHERE expires_at < $1` + byID, InvitationTTL},
	{`DELETE FROM code WHERE (account_id, id) IN (SELECT account_id, id FROM code WHERE expires_at < $1` + byID, spentRetention},
	{`DELETE FROM access_token WHERE (account_id, id) IN (SELECT account_id, id FROM access_token WHERE expires_at < $1` + byID, expiredTokenRetention},
	{`DELETE FROM personal_token WHERE (account_id, id) IN (SELECT account_id, id FROM personal_token WHERE expires_at < $1` + byID, spentRetention},
	{`DELETE FROM consent_form WHERE (account_id, consent_id, form_id) IN (SELECT f.account_id, f.consent_id, f.form_id FROM consent c
		JOIN consent_form f ON f.account_id = c.account_id AND f.consent_id = c.id WHERE c.ended_at > 0 AND c.ended_at < $1` + byID, spentRetention},
	{`DELETE FROM consent WHERE (account_id, id) IN (SELECT account_id, id FROM consent WHERE ended_at > 0 AND ended_at < $1` + byID, spentRetention},
	{`DELETE FROM session WHERE (account_id, id) IN (SELECT account_id, id FROM session WHERE used_at < $1` + byID, account.SessionIdle},
	{`DELETE FROM session WHERE (account_id, id) IN (SELECT account_id, id FROM session WHERE created_at < $1` + byID, account.SessionAbsolute},
	{`DELETE FROM device WHERE (account_id, id) IN (SELECT account_id, id FROM device WHERE used_at < $1` + byID, account.DeviceIdle},
	{`DELETE FROM guess WHERE (limiter, key) IN (SELECT limiter, key FROM guess WHERE until_at < $1` + byID, 0},
	{`DELETE FROM mail WHERE (account_id, id) IN (SELECT account_id, id FROM mail WHERE status <> 'waiting' AND ended_at < $1` + byID, mailRetention},
	{`DELETE FROM mail_suppression WHERE (account_id, recipient_key) IN
		(SELECT account_id, recipient_key FROM mail_suppression WHERE created_at < $1` + byID, suppressionRetention},
	{`DELETE FROM idempotency WHERE (account_id, app_id, key) IN
		(SELECT account_id, app_id, key FROM idempotency WHERE created_at < $1` + byID, IdempotencyKeyTTL},
	{`DELETE FROM form_editor WHERE (account_id, form_id, person_id) IN
		(SELECT account_id, form_id, person_id FROM form_editor WHERE seen_at < $1` + byID, time.Minute},
}

// Rows that are unused for longer than the lifetime of a refresh token.
const (
	cleanupRefreshSQL = `DELETE FROM refresh_token WHERE (account_id, id) IN (SELECT account_id, id FROM refresh_token WHERE used_at < $1` + byID
	cleanupFormsSQL   = `DELETE FROM consent_form WHERE (account_id, consent_id, form_id) IN (SELECT f.account_id, f.consent_id, f.form_id FROM consent c
		JOIN consent_form f ON f.account_id = c.account_id AND f.consent_id = c.id WHERE c.used_at < $1` + byID
	cleanupGrantSQL = `DELETE FROM consent WHERE (account_id, id) IN (SELECT account_id, id FROM consent WHERE used_at < $1` + byID
)

// Cleanup deletes expired rows, in small batches.
func (s *Store) Cleanup(ctx context.Context, now time.Time, refreshIdle time.Duration) (err error) {
	defer wrap(&err, "clean up")
	if err := s.finishErasures(ctx); err != nil {
		return err
	}
	if err := s.emptyTrash(ctx, now.Add(-trashRetention)); err != nil {
		return err
	}
	if err := s.dropOldEvents(ctx, now.Add(-eventRetention)); err != nil {
		return err
	}
	if err := s.cleanup(ctx, cleanupSlugsSQL, now.Add(-slugHold)); err != nil {
		return err
	}
	for _, kind := range cleanupSQL {
		if err := s.cleanup(ctx, kind.sql, now.Add(-kind.age)); err != nil {
			return err
		}
	}
	if err := s.cleanupAudit(ctx, now); err != nil {
		return err
	}
	if err := s.countAttempts(ctx); err != nil {
		return err
	}
	if err := s.endLapsedGrants(ctx, now.Add(-refreshIdle), now); err != nil {
		return err
	}
	if err := s.cleanUpSpaceWebhooks(ctx, now.Add(-refreshIdle), now); err != nil {
		return err
	}
	if err := s.endExpiredTokens(ctx, now); err != nil {
		return err
	}
	unused := now.Add(-refreshIdle - spentRetention)
	for _, sql := range []string{cleanupRefreshSQL, cleanupFormsSQL} {
		if err := s.cleanup(ctx, sql, unused); err != nil {
			return err
		}
	}
	return s.cleanup(ctx, cleanupGrantSQL, unused)
}

func (s *Store) cleanup(ctx context.Context, sql string, before time.Time) error {
	return s.repeat(ctx, sql, toMillis(before))
}
