package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// When somebody disables, enables or deletes an application, the logs of all spaces that it has
// access to say so. There may be very many of them, so this is background work: the transaction
// that changes the application notes it in app_change, and RecordAppChanges writes the logs. The
// tokens of the application stop working, or work again, at once.

const (
	noteAppChangeSQL = `INSERT INTO app_change (id, name, actor, person_id, person_name, changed_at)
		SELECT id, name, $2, $3, $4, $5 FROM app WHERE id = $1
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, actor = excluded.actor, person_id = excluded.person_id,
		person_name = excluded.person_name, changed_at = excluded.changed_at`
	appChangesSQL = `SELECT n.id, n.name, n.actor, n.person_id, n.person_name, n.changed_at, COALESCE(app.disabled_at, -1)
		FROM app_change n LEFT JOIN app ON app.id = n.id ORDER BY n.changed_at LIMIT $1`
	endAppChangeSQL = `DELETE FROM app_change WHERE id = $1 AND changed_at = $2`
	// grantersSQL reads all accounts; see webhookAccountsSQL.
	grantersSQL = `SELECT DISTINCT account_id FROM consent WHERE app_id = $1 AND account_id > $2 AND ended_at <= 0 AND ($3 OR suspended <> $4)
		ORDER BY account_id LIMIT $5`
	endWithAppSQL = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND app_id = $2 AND ended_at <= 0
		AND NOT EXISTS (SELECT 1 FROM app WHERE id = $2)`
	suspendSQL = `UPDATE consent SET suspended = $3 WHERE account_id = $1 AND app_id = $2 AND ended_at <= 0 AND suspended <> $3
		AND EXISTS (SELECT 1 FROM app WHERE id = $2 AND (disabled_at > 0) = $3)`
)

// AppDeletedReason is the reason of a grant that ended because its application was deleted.
const AppDeletedReason = "application_deleted"

// appChangeAge is how long a change stays noted. A request that began before the change may give
// the application access after it; such grants are found too.
const appChangeAge = time.Minute

// appChange is an application that was disabled, enabled or deleted.
type appChange struct {
	id, name          string
	actor             Actor // without the address, which is not for the logs of others
	at                int64
	deleted, disabled bool // what it is now
}

// noteAppChange notes, before an application is changed, that RecordAppChanges has work.
func noteAppChange(ctx context.Context, t db.Tx, appID string, now time.Time) error {
	a := actorOf(ctx)
	_, err := t.Exec(noteAppChangeSQL, appID, string(a.Kind), a.PersonID, cutText(a.PersonName), toMillis(now))
	return err
}

// NotedAppChanges receives a value when RecordAppChanges has work.
func (s *Store) NotedAppChanges() <-chan struct{} { return s.appChanges }

// signalAppChange says that RecordAppChanges has work.
func (s *Store) signalAppChange() {
	select {
	case s.appChanges <- struct{}{}:
	default: // it has work already
	}
}

// RecordAppChanges records in the logs of all spaces that applications with access to them were
// disabled, enabled or deleted, and ends the grants of those that were deleted.
func (s *Store) RecordAppChanges(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "record changes of applications")
	var changes []appChange
	if err := s.db.Query(ctx, appChangesSQL, func(r db.Row) error {
		var c appChange
		var kind string
		var disabled int64
		err := r.Scan(&c.id, &c.name, &kind, &c.actor.PersonID, &c.actor.PersonName, &c.at, &disabled)
		c.actor.Kind, c.deleted, c.disabled = ActorKind(kind), disabled < 0, disabled > 0
		changes = append(changes, c)
		return err
	}, cleanupBatch); err != nil {
		return err
	}
	for _, c := range changes {
		if err := s.recordAppChange(ctx, c, now); err != nil {
			return err
		}
		if now.Sub(fromMillis(c.at)) < appChangeAge {
			continue
		}
		if err := s.db.Write(ctx, func(t db.Tx) error {
			_, err := t.Exec(endAppChangeSQL, c.id, c.at)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// recordAppChange records a change in the logs of all spaces, one person after the other.
func (s *Store) recordAppChange(ctx context.Context, c appChange, now time.Time) error {
	as := WithActor(ctx, c.actor)
	for last := ""; ; {
		var people []string
		if err := s.db.Query(ctx, grantersSQL, func(r db.Row) error {
			err := r.Scan(&last)
			people = append(people, last)
			return err
		}, c.id, last, c.deleted, c.disabled, cleanupBatch); err != nil {
			return err
		}
		for _, person := range people {
			if err := s.write(ctx, person, func(t db.Tx) error { return c.record(as, t, person, now) }); err != nil {
				return err
			}
			if c.deleted {
				s.pauseElsewhere(ctx, person, now)
			}
		}
		if len(people) < cleanupBatch {
			return nil
		}
	}
}

// record changes the grants of a person and records it, unless the application has changed again.
func (c appChange) record(ctx context.Context, t db.Tx, person string, now time.Time) error {
	e := AuditEntry{Action: AuditGrantResumed, ObjectName: c.name}
	switch {
	case c.deleted:
		e.Action, e.Details = AuditGrantEnded, details{"reason": AppDeletedReason}
		if _, err := changeGrants(ctx, t, e, endWithAppSQL, person, c.id, toMillis(now)); err != nil {
			return err
		}
		return endGrantWebhooks(t, person, now)
	case c.disabled:
		e.Action = AuditGrantSuspended
	}
	_, err := changeGrants(ctx, t, e, suspendSQL, person, c.id, c.disabled)
	return err
}
