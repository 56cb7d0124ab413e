package store

import (
	"context"
	"time"

	"formulary/internal/account"
)

// spentKept is how long what has ended is kept, so that an expired token is
// still told from an unknown one and a code's second use is still noticed.
const spentKept = 30 * 24 * time.Hour

var sweepSQL = []struct {
	sql string
	age time.Duration
}{
	{`DELETE FROM ticket WHERE expires_at < $1`, time.Hour},
	{`DELETE FROM link WHERE expires_at < $1`, time.Hour},
	{`DELETE FROM code WHERE expires_at < $1`, spentKept},
	{`DELETE FROM access_token WHERE expires_at < $1`, spentKept},
	{`DELETE FROM consent WHERE ended_at > 0 AND ended_at < $1`, spentKept},
	{`DELETE FROM idempotency WHERE created_at < $1`, onceKept},
	{`DELETE FROM session WHERE used_at < $1`, account.SessionIdle},
	{`DELETE FROM session WHERE created_at < $1`, account.SessionAbsolute},
}

// Sweep removes what nobody can use any more, each kind in a transaction of its
// own so that it never holds up a request for long.
func (s *Store) Sweep(ctx context.Context, now time.Time, refreshIdle time.Duration) error {
	sweep := func(sql string, age time.Duration) error {
		return s.db.Write(ctx, func(t tx) error {
			_, err := t.Exec(sql, ms(now.Add(-age)))
			return err
		})
	}
	for _, kind := range sweepSQL {
		if err := sweep(kind.sql, kind.age); err != nil {
			return err
		}
	}
	return sweep(`DELETE FROM refresh_token WHERE used_at < $1`, refreshIdle+spentKept)
}
