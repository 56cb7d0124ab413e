package store

import (
	"context"
	"time"

	"formulary/internal/account"
)

// spentKept is how long what has ended is kept, so that an expired token is
// still told from an unknown one and a code's second use is still noticed.
const spentKept = 30 * 24 * time.Hour

// expiredTokenKept is how long an expired access token is answered with 401005. After
// that it is unknown (401001), and clients refresh at either.
const expiredTokenKept = 7 * 24 * time.Hour

// sweepBatch is how many rows one transaction removes, so that no request waits
// for long behind it.
const sweepBatch = 500

// byID ends a statement that removes rows of a table keyed by account and id.
const byID = ` LIMIT $2)`

var sweepSQL = []struct {
	sql string
	age time.Duration
}{
	{`DELETE FROM ticket WHERE (account_id, id) IN (SELECT account_id, id FROM ticket WHERE expires_at < $1` + byID, time.Hour},
	{`DELETE FROM link WHERE (account_id, id) IN (SELECT account_id, id FROM link WHERE expires_at < $1` + byID, time.Hour},
	{`DELETE FROM code WHERE (account_id, id) IN (SELECT account_id, id FROM code WHERE expires_at < $1` + byID, spentKept},
	{`DELETE FROM access_token WHERE (account_id, id) IN (SELECT account_id, id FROM access_token WHERE expires_at < $1` + byID, expiredTokenKept},
	{`DELETE FROM consent WHERE (account_id, id) IN (SELECT account_id, id FROM consent WHERE ended_at > 0 AND ended_at < $1` + byID, spentKept},
	{`DELETE FROM session WHERE (account_id, id) IN (SELECT account_id, id FROM session WHERE used_at < $1` + byID, account.SessionIdle},
	{`DELETE FROM session WHERE (account_id, id) IN (SELECT account_id, id FROM session WHERE created_at < $1` + byID, account.SessionAbsolute},
	{`DELETE FROM device WHERE (account_id, id) IN (SELECT account_id, id FROM device WHERE used_at < $1` + byID, account.DeviceIdle},
	{`DELETE FROM guess WHERE (limiter, key) IN (SELECT limiter, key FROM guess WHERE until_at < $1` + byID, 0},
	{`DELETE FROM idempotency WHERE (account_id, app_id, key) IN
		(SELECT account_id, app_id, key FROM idempotency WHERE created_at < $1` + byID, OnceKept},
}

// Swept when nobody has used them for longer than a refresh token lives.
const (
	sweepRefreshSQL = `DELETE FROM refresh_token WHERE (account_id, id) IN (SELECT account_id, id FROM refresh_token WHERE used_at < $1` + byID
	sweepConsentSQL = `DELETE FROM consent WHERE (account_id, id) IN (SELECT account_id, id FROM consent WHERE used_at < $1` + byID
)

// Sweep removes what nobody can use any more, a few rows at a time.
func (s *Store) Sweep(ctx context.Context, now time.Time, refreshIdle time.Duration) error {
	if err := s.finishErasures(ctx); err != nil {
		return err
	}
	if err := s.emptyTrash(ctx, now.Add(-trashKept)); err != nil {
		return err
	}
	if err := s.sweep(ctx, sweepReleasedSlugsSQL, now.Add(-slugHold)); err != nil {
		return err
	}
	for _, kind := range sweepSQL {
		if err := s.sweep(ctx, kind.sql, now.Add(-kind.age)); err != nil {
			return err
		}
	}
	if err := s.countGuesses(ctx); err != nil {
		return err
	}
	unused := now.Add(-refreshIdle - spentKept)
	if err := s.sweep(ctx, sweepRefreshSQL, unused); err != nil {
		return err
	}
	return s.sweep(ctx, sweepConsentSQL, unused)
}

func (s *Store) sweep(ctx context.Context, sql string, before time.Time) error {
	return s.repeat(ctx, sql, ms(before))
}
