package store

import (
	"context"
	"sync/atomic"
	"time"
)

// Guess is the stored state of one key of a limiter: when its allowance is whole again.
type Guess struct {
	Limiter string
	Key     string
	Until   time.Time
}

// maxGuesses bounds the rows. While there are more, wrong guesses count in memory
// alone: a flood from very many addresses must not fill the database.
const maxGuesses = 100_000

const (
	keepGuessSQL = `INSERT INTO guess (limiter, key, until_at) VALUES ($1, $2, $3)
		ON CONFLICT (limiter, key) DO UPDATE SET
		until_at = CASE WHEN guess.until_at > $4 THEN guess.until_at + $5 ELSE $3 END`
	guessesSQL    = `SELECT limiter, key, until_at FROM guess WHERE until_at > $1 LIMIT $2`
	guessCountSQL = `SELECT COUNT(*) FROM guess`
)

// guessRows estimates how many rows there are: counted when guesses are read and after
// every sweep, and raised by one with every guess.
type guessRows struct{ n atomic.Int64 }

// KeepGuess stores one wrong guess, which costs the key so much of its allowance. It
// returns when that is durable, so a crash does not give the guess back.
func (s *Store) KeepGuess(ctx context.Context, limiter, key string, cost time.Duration, now time.Time) error {
	if s.guesses.n.Add(1) > maxGuesses {
		return nil
	}
	return s.db.Write(ctx, func(t tx) error {
		_, err := t.Exec(keepGuessSQL, limiter, key, ms(now.Add(cost)), ms(now), cost.Milliseconds())
		return err
	})
}

// Guesses lists what limiters have to know when the service starts.
func (s *Store) Guesses(ctx context.Context, now time.Time) ([]Guess, error) {
	var list []Guess
	err := s.db.Query(ctx, guessesSQL, func(r row) error {
		var g Guess
		var until int64
		err := r.Scan(&g.Limiter, &g.Key, &until)
		g.Until = at(until)
		list = append(list, g)
		return err
	}, ms(now), maxGuesses)
	if err == nil {
		err = s.countGuesses(ctx)
	}
	return list, err
}

func (s *Store) countGuesses(ctx context.Context) error {
	var n int64
	err := one(s.query(ctx), guessCountSQL, nil, &n)
	if err == nil {
		s.guesses.n.Store(n)
	}
	return err
}
