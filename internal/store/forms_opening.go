package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// A form accepts responses while its status is open and its opening date has passed. The
// events form.opened and form.closed say when that begins and ends, so they alternate.
// form.opening_due is the opening date of an open form until form.opened is stored.

const (
	// dueOpeningsSQL reads all accounts, and so all shards of a distributed database.
	// It is for background work only.
	dueOpeningsSQL   = `SELECT account_id, id FROM form WHERE opening_due > 0 AND opening_due <= $1 LIMIT $2`
	openingDueSQL    = `SELECT opening_due FROM form WHERE account_id = $1 AND id = $2`
	setOpeningDueSQL = `UPDATE form SET opening_due = $3 WHERE account_id = $1 AND id = $2`
	openDueSQL       = `UPDATE form SET opening_due = 0
		WHERE account_id = $1 AND id = $2 AND opening_due > 0 AND opening_due <= $3 RETURNING version, status`
)

// OpenDueForms stores form.opened for the forms of all accounts whose opening date has
// passed. They accept responses anyway.
func (s *Store) OpenDueForms(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "open due forms")
	return s.eachDue(ctx, dueOpeningsSQL, []any{toMillis(now), dueBatch}, func(f dueForm) error { return s.openDue(ctx, f, now) })
}

// openDue stores form.opened for a form that has opened by itself. Of several nodes that try,
// one finds the form due.
func (s *Store) openDue(ctx context.Context, f dueForm, now time.Time) error {
	opened := false
	err := s.db.Write(ctx, func(t db.Tx) error {
		var version int64
		var status string
		err := queryOne(t.Query, openDueSQL, []any{f.owner, f.id, toMillis(now)}, &version, &status)
		// An earlier version of the service may have closed it without a note here.
		if opened = err == nil && form.Status(status) == form.Open; !opened {
			return replaceNotFound(err, nil)
		}
		return addEvents(t, f.owner, f.id, now, newEvent{kind: FormOpened, version: version})
	})
	if opened || isUncertain(err) {
		s.db.Invalidate(f.owner)
	}
	return err
}

// openBeforeSubmission makes sure that form.opened comes before the first response.
func (s *Store) openBeforeSubmission(ctx context.Context, p *PublicForm, at time.Time) error {
	if p.openingDue.IsZero() || at.Before(p.openingDue) {
		return nil
	}
	return s.openDue(forRespondents(ctx, p.Owner), dueForm{p.Owner, p.ID}, at)
}

// trackOpening stores which events follow from a change of a form's status or opening date.
// The transaction has locked the form's row and stored the change; before is the status
// before it.
func trackOpening(t db.Tx, owner string, f form.Form, before form.Status, now time.Time) error {
	var due int64
	if err := queryOne(t.Query, openingDueSQL, []any{owner, f.ID}, &due); err != nil {
		return err
	}
	var events []newEvent
	isOpened := before == form.Open && due == 0
	if before == form.Open && due > 0 && due <= toMillis(now) {
		events, isOpened = append(events, newEvent{kind: FormOpened, version: f.Version}), true
	}
	accepts := f.Status == form.Open && !now.Before(f.OpensAt)
	switch {
	case accepts && !isOpened:
		events = append(events, newEvent{kind: FormOpened, version: f.Version})
	case !accepts && isOpened:
		events = append(events, newEvent{kind: FormClosed, version: f.Version})
	}
	var next int64
	if f.Status == form.Open && !accepts {
		next = toMillis(f.OpensAt)
	}
	if next != due {
		if _, err := t.Exec(setOpeningDueSQL, owner, f.ID, next); err != nil {
			return err
		}
	}
	return addEvents(t, owner, f.ID, now, events...)
}

const dueBatch = 100

// dueForm is a form whose opening or closing date has passed.
type dueForm struct{ owner, id string }

// eachDue calls do for the forms that a statement finds, until it finds no more. do must
// change each so that it is not found again.
func (s *Store) eachDue(ctx context.Context, sql string, args []any, do func(dueForm) error) error {
	for {
		var due []dueForm
		err := s.db.Query(ctx, sql, func(r db.Row) error {
			var f dueForm
			err := r.Scan(&f.owner, &f.id)
			due = append(due, f)
			return err
		}, args...)
		if err != nil {
			return err
		}
		for _, f := range due {
			if err := do(f); err != nil && !errors.Is(err, fault.NotFound) {
				return err
			}
		}
		if len(due) < dueBatch {
			return nil
		}
	}
}
