package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"
)

const (
	// webhookAccountsSQL reads all accounts, and so all machines of a sharded database. It is
	// for background work only.
	webhookAccountsSQL = `SELECT DISTINCT account_id FROM webhook WHERE status = 'active'`
	// A form that was deleted has no row, and its webhooks wait until it is restored.
	activeWebhooksSQL = `SELECT ` + webhookColumns + `, f.title, f.version, f.response_tick,
		COALESCE((SELECT MIN(d.next_at) FROM delivery d
			WHERE d.account_id = w.account_id AND d.form_id = w.form_id AND d.webhook_id = w.id AND d.status = 'pending'), 0)
		FROM webhook w JOIN form f ON f.account_id = w.account_id AND f.id = w.form_id
		WHERE w.account_id = $1 AND f.account_id = $1 AND w.status = 'active'`
	webhookUnchangedSQL = `SELECT 1 FROM webhook w WHERE w.account_id = $1 AND w.form_id = $2 AND w.id = $3 AND w.updated_at = $4 AND w.status = 'active'
		AND (w.app_id = '' OR EXISTS (SELECT 1 FROM app WHERE app.id = w.app_id AND app.disabled_at = 0))`
)

// ActiveWebhook is a webhook that receives events, and what decides whether there are any.
type ActiveWebhook struct {
	Webhook
	FormTitle   string
	FormVersion int64
	LastEvent   id.Tick   // of the form, whatever its kind
	Behind      bool      // the form has events after the webhook's position
	NextRetry   time.Time // zero: no delivery is pending
}

// WebhookAccounts returns the accounts that have active webhooks.
func (s *Store) WebhookAccounts(ctx context.Context) (owners []string, err error) {
	defer wrap(&err, "list accounts with webhooks")
	err = s.db.Query(ctx, webhookAccountsSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	return owners, err
}

// ActiveWebhooks returns the active webhooks of an account.
func (s *Store) ActiveWebhooks(ctx context.Context, owner string) (list []ActiveWebhook, err error) {
	defer wrap(&err, "read active webhooks")
	err = s.db.Query(ctx, activeWebhooksSQL, func(r db.Row) error {
		var w ActiveWebhook
		var tick, next int64
		var err error
		if w.Webhook, err = scanWebhook(r, &w.FormTitle, &w.FormVersion, &tick, &next); err != nil || w.Status != WebhookActive {
			return err
		}
		at, _ := id.Parse("", w.Position)
		w.LastEvent, w.NextRetry = id.Tick(tick), fromMillis(next)
		w.Behind = w.LastEvent > id.TickOf(at)
		list = append(list, w)
		return nil
	}, owner)
	return list, err
}

// ErrWebhookChanged says that a webhook was changed, paused or deleted since it was read.
var ErrWebhookChanged = errors.New("the webhook has changed")

// EventsFor is Events for an active webhook. If the webhook has changed since it was read, it
// returns ErrWebhookChanged, so that the old settings never deliver an event from after the change.
func (s *Store) EventsFor(ctx context.Context, owner string, w Webhook, part EventRange) (list []Event, more bool, err error) {
	same := false
	list, more, err = s.events(ctx, owner, w.FormID, part, db.Statement{
		SQL: webhookUnchangedSQL, Args: []any{owner, w.FormID, w.ID, toMillis(w.UpdatedAt)}, Scan: func(r db.Row) error {
			var one int64
			same = true
			return r.Scan(&one)
		},
	})
	if err == nil && !same {
		err = ErrWebhookChanged
	}
	return list, more, err
}

// webhookOwners is the invalidation key of the list of accounts that have active webhooks.
const webhookOwners = "webhooks"

// WebhookGeneration returns a number that differs once WebhookAccounts may be different; false
// if that cannot be known without a query.
func (s *Store) WebhookGeneration() (uint64, bool) { return s.db.Generation(webhookOwners) }

// EventGeneration returns a number that differs once an account may have new events or
// other webhooks; false if that cannot be known without a query.
func (s *Store) EventGeneration(owner string) (uint64, bool) {
	all, ok := s.db.Generation(owner)
	responses, _ := s.db.Generation(responsesOf(owner))
	return all + responses, ok
}

const (
	// oldEventFormsSQL reads all accounts; see webhookAccountsSQL.
	oldEventFormsSQL = `SELECT e.account_id, e.form_id FROM form_event e WHERE e.position < $1
		AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = e.account_id AND w.form_id = e.form_id AND w.position < e.position)
		ORDER BY e.position LIMIT $2`
	dropEventsSQL = `DELETE FROM form_event WHERE account_id = $1 AND form_id = $2 AND position IN
		(SELECT e.position FROM form_event e WHERE e.account_id = $1 AND e.form_id = $2 AND e.position < $3
		AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = $1 AND w.form_id = $2 AND w.position < e.position)
		ORDER BY e.position LIMIT $4)`
)

// eventRetention is how long events are kept for replays. Those that a webhook has not
// received yet are kept until it has.
const eventRetention = 30 * 24 * time.Hour

// dropOldEvents deletes the events of all accounts before a time, in small batches.
func (s *Store) dropOldEvents(ctx context.Context, before time.Time) error {
	last := id.First("", before)
	for {
		forms := map[[2]string]bool{}
		err := s.db.Query(ctx, oldEventFormsSQL, func(r db.Row) error {
			var f [2]string
			err := r.Scan(&f[0], &f[1])
			forms[f] = true
			return err
		}, last, cleanupBatch)
		if err != nil || len(forms) == 0 {
			return err
		}
		for f := range forms {
			if err := s.dropEvents(ctx, f[0], f[1], last); err != nil {
				return err
			}
		}
	}
}

// dropEvents deletes some events of a form and gives back what they count for.
func (s *Store) dropEvents(ctx context.Context, owner, formID, last string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		// The form's row first, as everywhere. That of a deleted form is in the trash.
		if _, err := t.Exec(addStoredSQL, owner, formID, 0); err != nil {
			return err
		}
		n, err := t.Exec(dropEventsSQL, owner, formID, last, cleanupBatch)
		if err != nil {
			return err
		}
		_, err = t.Exec(dropCountSQL, owner, formID, 0, n*eventBytes)
		return err
	})
}
