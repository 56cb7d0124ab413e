package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// Retention says how long a form keeps its responses. Older ones are deleted for good, in the
// background.
type Retention struct {
	Days      int64     // 0: until someone deletes them
	StartsAt  time.Time // nothing is deleted before
	Deleted   int64     // responses that were deleted so far
	DeletedAt time.Time // when the last ones were
}

// Limits of retention.
const (
	MaxRetentionDays = 3650
	// retentionNotice is the time between the notice to the owner and the first deletion.
	retentionNotice = 7 * 24 * time.Hour
	// Responses are looked for at least this often, and deletions of one form are at least
	// retentionPause apart.
	retentionInterval = 24 * time.Hour
	retentionPause    = time.Hour
	// retentionBatches bounds the deletions of one form before it is the turn of others.
	retentionBatches = 20
	// retentionDrift is how far the time of the next look can be from now while clocks are right
	// and the service runs. Beyond it, nothing is deleted without another notice.
	retentionDrift = retentionNotice + retentionInterval
)

const (
	retentionSQL    = `SELECT days, starts_at, deleted, deleted_at FROM form_retention WHERE account_id = $1 AND form_id = $2`
	setRetentionSQL = `INSERT INTO form_retention (account_id, form_id, days, set_at, starts_at, next_at) VALUES ($1, $2, $3, $4, $5, $4)
		ON CONFLICT (account_id, form_id) DO UPDATE SET days = excluded.days, set_at = excluded.set_at, starts_at = excluded.starts_at,
		next_at = excluded.next_at, warned_at = 0 WHERE form_retention.days <> excluded.days`
	endRetentionSQL = `DELETE FROM form_retention WHERE account_id = $1 AND form_id = $2`
	// dueRetentionSQL reads all accounts, and so all shards of a distributed database. It is for
	// background work only. A time far ahead was stored while a clock was wrong.
	dueRetentionSQL   = `SELECT account_id, form_id FROM form_retention WHERE next_at <= $1 OR next_at > $2 ORDER BY next_at LIMIT $3`
	retentionStateSQL = `SELECT days, starts_at, warned_at, next_at FROM form_retention WHERE account_id = $1 AND form_id = $2 AND (next_at <= $3 OR next_at > $4)`
	forgetWarningSQL  = `UPDATE form_retention SET warned_at = 0, starts_at = $4, next_at = $3 WHERE account_id = $1 AND form_id = $2`
	retentionIsSQL    = `SELECT 1 FROM form_retention WHERE account_id = $1 AND form_id = $2 AND days = $3 AND starts_at <= $4 AND warned_at > 0`
	retentionNextSQL  = `UPDATE form_retention SET next_at = $4 WHERE account_id = $1 AND form_id = $2 AND days = $3`
	warnRetentionSQL  = `UPDATE form_retention SET warned_at = $4, starts_at = $5, next_at = $5
		WHERE account_id = $1 AND form_id = $2 AND days = $3 AND warned_at = 0`
	retentionLaterSQL = `UPDATE form_retention SET next_at = $3 WHERE account_id = $1 AND form_id = $2`
	countRetentionSQL = `UPDATE form_retention SET deleted = deleted + $3, deleted_at = $4 WHERE account_id = $1 AND form_id = $2`
	responsesUntilSQL = `SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND id < $3 ORDER BY id LIMIT $4`
)

// RetentionChange says for how many days a form keeps its responses; 0: for ever.
type RetentionChange struct {
	Days  int64
	Check func(stored int64) error // nil: whatever is stored is replaced
}

// Retention returns how long a form keeps its responses.
func (s *Store) Retention(ctx context.Context, owner, formID string) (r Retention, err error) {
	defer wrap(&err, "read retention")
	if _, err := responseIDs(formID, nil); err != nil {
		return r, err
	}
	return readRetention(s.query(ctx), owner, formID)
}

func readRetention(q querier, owner, formID string) (r Retention, err error) {
	var starts, deleted int64
	err = queryOne(q, retentionSQL, []any{owner, formID}, &r.Days, &starts, &r.Deleted, &deleted)
	r.StartsAt, r.DeletedAt = fromMillis(starts), fromMillis(deleted)
	return r, replaceNotFound(err, nil)
}

// SetRetention changes how long a form keeps its responses; 0 days: until someone deletes them.
// After each change, nothing is deleted for a week, so that a mistake can be corrected.
func (s *Store) SetRetention(ctx context.Context, owner, formID string, change RetentionChange, now time.Time) (_ Retention, err error) {
	defer wrap(&err, "set retention")
	days := change.Days
	if _, err := responseIDs(formID, nil); err != nil {
		return Retention{}, err
	}
	if days < 0 || days > MaxRetentionDays {
		return Retention{}, fault.InvalidField("days", "enter a number from 1 to %d, or 0 to keep responses", MaxRetentionDays)
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		if err := checkAffected(t.Exec(dropCountSQL, owner, formID, 0, 0)); err != nil {
			return err
		}
		if change.Check != nil {
			stored, err := readRetention(t.Query, owner, formID)
			if err != nil {
				return err
			}
			if err := change.Check(stored.Days); err != nil {
				return err
			}
		}
		sql, args := endRetentionSQL, []any{owner, formID}
		if days > 0 {
			sql, args = setRetentionSQL, append(args, days, toMillis(now), toMillis(now.Add(retentionNotice)))
		}
		if n, err := t.Exec(sql, args...); err != nil || n == 0 {
			return err
		}
		return recordForm(ctx, t, owner, formID, AuditRetentionChanged, details{"days": strconv.FormatInt(days, 10)})
	})
	if err != nil {
		return Retention{}, err
	}
	return s.Retention(ctx, owner, formID)
}

// ApplyRetention deletes the responses of all forms that are older than the form keeps them, and
// tells owners a week before the first deletion.
func (s *Store) ApplyRetention(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "apply retention")
	var failed error
	err = s.eachDue(ctx, dueRetentionSQL, []any{toMillis(now), toMillis(now.Add(retentionDrift)), dueBatch}, func(f dueForm) error {
		err := s.applyRetention(ctx, f, now)
		if err == nil || ctx.Err() != nil || fault.Wrap(err).Code == fault.DatabaseUnreachable {
			return err
		}
		// One form does not keep others from being looked at.
		failed = errors.Join(failed, fmt.Errorf("form %s: %w", f.id, err))
		return s.db.Write(ctx, func(t db.Tx) error {
			_, err := t.Exec(retentionLaterSQL, f.owner, f.id, toMillis(now.Add(retentionPause)))
			return err
		})
	})
	return errors.Join(err, failed)
}

// retentionState is what the next step for a form depends on.
type retentionState struct {
	days             int64
	startsAt, warned time.Time
	next             time.Time // when this was to be looked at
	oldest           time.Time // when the oldest response was submitted; zero: there is none
}

func (r retentionState) age() time.Duration { return time.Duration(r.days) * 24 * time.Hour }

// first is the time of the next deletion.
func (r retentionState) first() time.Time {
	if due := r.oldest.Add(r.age()); due.After(r.startsAt) {
		return due
	}
	return r.startsAt
}

func (s *Store) applyRetention(ctx context.Context, f dueForm, now time.Time) error {
	r, err := s.retentionState(ctx, f, now)
	if err != nil {
		return replaceNotFound(err, nil) // another node was faster, or it was changed
	}
	if r.next.Sub(now) > retentionDrift || !r.warned.IsZero() && now.Sub(r.next) > retentionDrift {
		// A clock is or was wrong, or the service was stopped for long. What seems old may not be.
		return s.db.Write(ctx, func(t db.Tx) error {
			_, err := t.Exec(forgetWarningSQL, f.owner, f.id, toMillis(now), toMillis(now.Add(retentionNotice)))
			return err
		})
	}
	next := now.Add(retentionInterval)
	switch first := r.first(); {
	case r.oldest.IsZero(): // the form has no responses, or is deleted
	case r.warned.IsZero() && first.Sub(now) <= retentionNotice:
		return s.warnOfRetention(ctx, f, r, now)
	case first.After(now) && first.Before(next):
		next = first
	case !first.After(now):
		more, err := s.deleteExpired(ctx, f, r, now)
		if err != nil {
			return err
		}
		if next = now.Add(retentionPause); more {
			next = now
		}
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(retentionNextSQL, f.owner, f.id, r.days, toMillis(next)+1)
		return err
	})
}

func (s *Store) retentionState(ctx context.Context, f dueForm, now time.Time) (r retentionState, err error) {
	var starts, warned, next int64
	args := []any{f.owner, f.id, toMillis(now), toMillis(now.Add(retentionDrift))}
	if err := queryOne(s.query(ctx), retentionStateSQL, args, &r.days, &starts, &warned, &next); err != nil {
		return r, err
	}
	r.startsAt, r.warned, r.next = fromMillis(starts), fromMillis(warned), fromMillis(next)
	if _, err := s.Form(ctx, f.owner, f.id); err != nil {
		return r, replaceNotFound(err, nil) // a deleted form; it can be restored
	}
	var oldest string
	err = queryOne(s.query(ctx), firstResponseSQL, []any{f.owner, f.id, ""}, &oldest)
	if u, ok := id.Parse(id.Response, oldest); ok {
		r.oldest = u.Time()
	}
	return r, replaceNotFound(err, nil)
}

// RetentionNotice is the data of MailRetention.
type RetentionNotice struct {
	Form string // title
	ID   string // of the form
	Days int64
	Date time.Time // of the first deletion
}

// warnOfRetention tells the owner when the first responses will be deleted. That is a week from
// now, or later.
func (s *Store) warnOfRetention(ctx context.Context, f dueForm, r retentionState, now time.Time) error {
	stored, err := s.Form(ctx, f.owner, f.id)
	if err != nil {
		return replaceNotFound(err, nil)
	}
	first := r.first()
	if earliest := now.Add(retentionNotice); first.Before(earliest) {
		first = earliest
	}
	data, err := encodeNotice(RetentionNotice{Form: stored.Title, ID: f.id, Days: r.days, Date: first.UTC()})
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(warnRetentionSQL, f.owner, f.id, r.days, toMillis(now), toMillis(first))
		if err != nil || n == 0 {
			return err
		}
		return addOwnerMail(t, f.owner, Mail{Kind: MailRetention, Data: data}, now)
	})
	s.mailsAdded()
	return err
}

// deleteExpired deletes old responses in batches, and reports whether there may be more. It stops
// when the owner changes the retention.
func (s *Store) deleteExpired(ctx context.Context, f dueForm, state retentionState, now time.Time) (more bool, err error) {
	before := now.Add(-state.age())
	unchanged := func(t db.Tx) error {
		var one int64
		return queryOne(t.Query, retentionIsSQL, []any{f.owner, f.id, state.days, toMillis(now)}, &one)
	}
	audit := newAuditCount(AuditResponsesPurged)
	for range retentionBatches {
		var ids []string
		if err := s.db.Query(ctx, responsesUntilSQL, func(r db.Row) error {
			var responseID string
			err := r.Scan(&responseID)
			ids = append(ids, responseID)
			return err
		}, f.owner, f.id, id.First(id.Response, before), deleteBatch); err != nil {
			return false, err
		}
		if len(ids) == 0 {
			return false, nil
		}
		n, err := s.deleteResponses(ctx, f.owner, f.id, deletion{ids: ids, now: now, check: unchanged, audit: audit})
		if err != nil {
			return false, replaceNotFound(err, nil)
		}
		if err := s.db.Write(ctx, func(t db.Tx) error {
			_, err := t.Exec(countRetentionSQL, f.owner, f.id, n, toMillis(now))
			return err
		}); err != nil {
			return false, err
		}
	}
	return true, nil
}
