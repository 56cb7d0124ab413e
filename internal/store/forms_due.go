package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	// dueSQL looks at all accounts. It is for the background: where accounts are spread
	// over machines, it needs every one of them.
	dueSQL   = `SELECT account_id, id FROM form WHERE closes_at > 0 AND closes_at <= $1 AND status = 'open' LIMIT $2`
	dueOfSQL = `SELECT account_id, id FROM form WHERE account_id = $3 AND closes_at > 0 AND closes_at <= $1 AND status = 'open' LIMIT $2`
)

const dueBatch = 100

// dueForm is an open form whose closing date has passed.
type dueForm struct{ owner, id string }

// CloseDue closes the forms of all accounts whose closing date has passed. Respondents
// cannot submit to them anyway; this is for lists and counts.
func (s *Store) CloseDue(ctx context.Context, now time.Time) error {
	return s.closeDue(ctx, now, dueSQL, ms(now), dueBatch)
}

// CloseDueOf closes those of one account, before its forms are listed by their status.
func (s *Store) CloseDueOf(ctx context.Context, owner string, now time.Time) error {
	return s.closeDue(ctx, now, dueOfSQL, ms(now), dueBatch, owner)
}

func (s *Store) closeDue(ctx context.Context, now time.Time, sql string, args ...any) error {
	for {
		var due []dueForm
		err := s.db.Query(ctx, sql, func(r row) error {
			var f dueForm
			err := r.Scan(&f.owner, &f.id)
			due = append(due, f)
			return err
		}, args...)
		if err != nil {
			return err
		}
		for _, f := range due {
			if err := s.closeIfDue(ctx, f, now); err != nil && !errors.Is(err, fault.NotFound) {
				return err
			}
		}
		if len(due) < dueBatch {
			return nil
		}
	}
}

func (s *Store) closeIfDue(ctx context.Context, f dueForm, now time.Time) error {
	return s.write(ctx, f.owner, func(t tx) error {
		locked, err := lockForm(t, f.owner, f.id, 0)
		if err != nil || locked.Status != form.Open || locked.At(now).Status == form.Open {
			return err
		}
		return moveTo(t, f.owner, &locked, form.Closed, now)
	})
}
