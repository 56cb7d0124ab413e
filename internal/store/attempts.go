package store

import (
	"context"
	"sync/atomic"
	"time"

	"formulary/internal/db"
)

// Attempt is the stored state of one key of a limiter: the time at which its allowance
// is full again.
type Attempt struct {
	Limiter string
	Key     string
	Until   time.Time
}

// maxAttempts limits the number of rows. Above it, failed attempts are counted in
// memory only: a flood from many addresses must not fill the database.
const maxAttempts = 100_000

const (
	saveAttemptSQL = `INSERT INTO guess (limiter, key, until_at) VALUES ($1, $2, $3)
		ON CONFLICT (limiter, key) DO UPDATE SET
		until_at = CASE WHEN guess.until_at > $4 THEN guess.until_at + $5 ELSE $3 END`
	attemptsSQL     = `SELECT limiter, key, until_at FROM guess WHERE until_at > $1 LIMIT $2`
	attemptCountSQL = `SELECT COUNT(*) FROM guess`
)

// attemptRows estimates how many rows there are: counted when attempts are read and after
// every cleanup, and incremented with every attempt.
type attemptRows struct{ n atomic.Int64 }

// SaveAttempt stores a failed attempt, which uses cost of the key's allowance. It
// returns when the attempt is durable, so that a crash does not refund it.
func (s *Store) SaveAttempt(ctx context.Context, limiter, key string, cost time.Duration, now time.Time) (err error) {
	defer wrap(&err, "save attempts")
	if s.attempts.n.Add(1) > maxAttempts {
		return nil
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(saveAttemptSQL, limiter, key, toMillis(now.Add(cost)), toMillis(now), cost.Milliseconds())
		return err
	})
}

// Attempts lists the state that limiters load when the service starts.
func (s *Store) Attempts(ctx context.Context, now time.Time) (_ []Attempt, err error) {
	defer wrap(&err, "read attempts")
	var list []Attempt
	err = s.db.Query(ctx, attemptsSQL, func(r db.Row) error {
		var g Attempt
		var until int64
		err := r.Scan(&g.Limiter, &g.Key, &until)
		g.Until = fromMillis(until)
		list = append(list, g)
		return err
	}, toMillis(now), maxAttempts)
	if err == nil {
		err = s.countAttempts(ctx)
	}
	return list, err
}

func (s *Store) countAttempts(ctx context.Context) error {
	var n int64
	err := queryOne(s.query(ctx), attemptCountSQL, nil, &n)
	if err == nil {
		s.attempts.n.Store(n)
	}
	return err
}
