package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// WebhookStatus says whether a webhook receives events.
type WebhookStatus string

// The states of a webhook.
const (
	WebhookActive   WebhookStatus = "active"
	WebhookPaused   WebhookStatus = "paused"   // by its owner, or because the grant that created it has ended
	WebhookDisabled WebhookStatus = "disabled" // by the service, which says why
)

// MaxWebhooks is how many webhooks a form may have.
const MaxWebhooks = 20

// WebhookKey names a webhook of a form.
type WebhookKey struct {
	FormID, ID string
}

// valid says whether it can be the key of a webhook. PostgreSQL would fail on text that is
// not valid.
func (k WebhookKey) valid() bool {
	_, okForm := id.Parse(id.Form, k.FormID)
	_, ok := id.Parse(id.Webhook, k.ID)
	return ok && okForm
}

// Webhook is a receiver of a form's events.
type Webhook struct {
	WebhookKey
	URL            string
	Events         []EventKind
	StrictOrder    bool // an event waits until those before it are delivered
	Status         WebhookStatus
	DisabledReason string
	AppID, GrantID string // that it depends on; empty: on its owner alone
	PersonID       string // whose grant it is, in a space of others; empty: the owner's
	Secret         string // encrypted, as is OldSecret
	OldSecret      string // signs too, until OldSecretUntil
	OldSecretUntil time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Pending        int64 // deliveries that are to be tried again

	// Position is up to where every event is delivered or pending.
	Position string
	// What is between these positions is delivered again; until is empty: nothing is.
	ReplayPosition, ReplayUntil string
	Replays                     int64 // how often a replay was asked for
	// FailingSince is when the first attempt failed since the last success.
	FailingSince time.Time
}

// webhookColumns are for statements whose first argument is the owner. An application that is
// disabled or deleted receives nothing, whatever the status.
const webhookColumns = `w.form_id, w.id, w.url, w.events, w.strict_order,
	CASE WHEN w.status = 'active' AND w.app_id <> '' AND NOT EXISTS (SELECT 1 FROM app WHERE app.id = w.app_id AND app.disabled_at = 0) THEN 'paused' ELSE w.status END,
	w.disabled_reason, w.app_id, w.grant_id, w.person_id, w.secret, w.old_secret, w.old_secret_until, w.created_at, w.updated_at,
	w.position, w.replay_position, w.replay_until, w.replays, w.failing_since,
	(SELECT COUNT(*) FROM delivery d WHERE d.account_id = $1 AND d.form_id = w.form_id AND d.webhook_id = w.id AND d.status = 'pending')`

const (
	webhookSQL  = `SELECT ` + webhookColumns + ` FROM webhook w WHERE w.account_id = $1 AND w.form_id = $2 AND w.id = $3`
	webhooksSQL = `SELECT ` + webhookColumns + ` FROM webhook w WHERE w.account_id = $1 AND w.form_id = $2
		ORDER BY w.id DESC LIMIT $3 OFFSET $4`
	countWebhooksSQL = `SELECT COUNT(*) FROM webhook WHERE account_id = $1 AND form_id = $2`
	formExistsSQL    = `SELECT 1 FROM form WHERE account_id = $1 AND id = $2`
	insertWebhookSQL = `INSERT INTO webhook
		(account_id, form_id, id, url, events, strict_order, status, app_id, grant_id, secret, created_at, updated_at, position, person_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)`
	updateWebhookSQL = `UPDATE webhook SET url = $4, events = $5, strict_order = $6, status = $7, disabled_reason = $8,
		secret = $9, old_secret = $10, old_secret_until = $11, updated_at = $12, failing_since = $13, app_id = $14, grant_id = $15, person_id = $16
		WHERE account_id = $1 AND form_id = $2 AND id = $3`
	deleteWebhookSQL    = `DELETE FROM webhook WHERE account_id = $1 AND form_id = $2 AND id = $3`
	deleteDeliveriesSQL = `DELETE FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3`
	replayWebhookSQL    = `UPDATE webhook SET replays = replays + 1, replay_position = $4, replay_until = CASE WHEN position > $4 THEN position ELSE '' END, updated_at = $5
		WHERE account_id = $1 AND form_id = $2 AND id = $3`
)

func scanWebhook(r db.Row, more ...any) (Webhook, error) {
	var w Webhook
	var events, status string
	var oldUntil, created, updated, failing int64
	err := r.Scan(append([]any{&w.FormID, &w.ID, &w.URL, &events, &w.StrictOrder, &status, &w.DisabledReason, &w.AppID, &w.GrantID, &w.PersonID,
		&w.Secret, &w.OldSecret, &oldUntil, &created, &updated, &w.Position, &w.ReplayPosition, &w.ReplayUntil, &w.Replays, &failing, &w.Pending}, more...)...)
	w.Status, w.Events = WebhookStatus(status), parseEvents(events)
	w.OldSecretUntil, w.CreatedAt, w.UpdatedAt, w.FailingSince = fromMillis(oldUntil), fromMillis(created), fromMillis(updated), fromMillis(failing)
	return w, err
}

func parseEvents(text string) []EventKind {
	var kinds []EventKind
	for _, name := range strings.Fields(text) {
		kinds = append(kinds, EventKind(name))
	}
	return kinds
}

func formatEvents(kinds []EventKind) string {
	var names []string
	for _, kind := range EventKinds { // in one order, each once
		if slices.Contains(kinds, kind) {
			names = append(names, string(kind))
		}
	}
	return strings.Join(names, " ")
}

func readWebhook(q querier, owner string, key WebhookKey) (Webhook, error) {
	w, err := Webhook{}, error(fault.NotFound)
	if !key.valid() {
		return w, err
	}
	if e := q(webhookSQL, func(r db.Row) error {
		w, err = scanWebhook(r)
		return err
	}, owner, key.FormID, key.ID); e != nil {
		return w, e
	}
	return w, err
}

// Webhook returns one webhook of a form.
func (s *Store) Webhook(ctx context.Context, owner string, key WebhookKey) (w Webhook, err error) {
	defer wrap(&err, "read webhook")
	err = s.db.Read(ctx, func(t db.Tx) error {
		if err := requireForm(t.Query, owner, key.FormID); err != nil {
			return err
		}
		w, err = readWebhook(t.Query, owner, key)
		return err
	})
	return w, err
}

// requireForm is fault.NotFound for a form that does not exist. What belongs to a deleted
// form is still there, so that the form can be restored.
func requireForm(q querier, owner, formID string) error {
	if _, ok := id.Parse(id.Form, formID); !ok {
		return fault.NotFound
	}
	var one int64
	return queryOne(q, formExistsSQL, []any{owner, formID}, &one)
}

// Webhooks returns a page of a form's webhooks, the newest first, and how many there are.
func (s *Store) Webhooks(ctx context.Context, owner, formID string, page Page) (list []Webhook, total int64, err error) {
	defer wrap(&err, "list webhooks")
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = nil
		if err := requireForm(t.Query, owner, formID); err != nil {
			return err
		}
		if err := queryOne(t.Query, countWebhooksSQL, []any{owner, formID}, &total); err != nil {
			return err
		}
		return t.Query(webhooksSQL, func(r db.Row) error {
			w, err := scanWebhook(r)
			list = append(list, w)
			return err
		}, owner, formID, page.Limit, page.Offset)
	})
	return list, total, err
}

var errTooManyWebhooks = fault.New(fault.QuotaReached, "The form has reached its limit of %d webhooks. Delete one you no longer need.", MaxWebhooks)

// AddWebhook adds a webhook, which receives what happens from now on. A repeated key returns
// the webhook that the first request created, and repeated is true.
func (s *Store) AddWebhook(ctx context.Context, owner string, w Webhook, once IdempotencyKey, now time.Time) (_ Webhook, repeated bool, err error) {
	defer wrap(&err, "add webhook")
	if !w.valid() {
		return w, false, fault.NotFound
	}
	var made Webhook
	err = s.write(ctx, owner, func(t db.Tx) error {
		repeated = false
		// This locks the form's row: additions run one by one, and no event gets lost
		// between the position and the webhook.
		positions, err := drawPositions(t, owner, w.FormID, 1, now)
		if err != nil {
			return err
		}
		earlier, err := once.claim(t, owner, w.ID, now)
		if err != nil {
			return err
		}
		if repeated = earlier != ""; repeated {
			made, err = readWebhook(t.Query, owner, WebhookKey{w.FormID, earlier})
			return replaceNotFound(err, fault.New(fault.NotFoundInAccount, "The object created with this Idempotency-Key has been deleted."))
		}
		if err := checkGrantOf(t, owner, w, now); err != nil {
			return err
		}
		var n int64
		if err := queryOne(t.Query, countWebhooksSQL, []any{owner, w.FormID}, &n); err != nil || n >= MaxWebhooks {
			return errorWhen(err, n >= MaxWebhooks, errTooManyWebhooks)
		}
		if _, err := t.Exec(insertWebhookSQL, owner, w.FormID, w.ID, w.URL, formatEvents(w.Events), w.StrictOrder, string(w.Status),
			w.AppID, w.GrantID, w.Secret, toMillis(now), positions[0], w.PersonID); err != nil {
			return err
		}
		if err := recordWebhook(ctx, t, owner, w, AuditWebhookCreated); err != nil {
			return err
		}
		made, err = readWebhook(t.Query, owner, w.WebhookKey)
		return err
	})
	s.db.Invalidate(webhookOwners)
	return made, repeated, err
}

// WebhookChange changes what an owner chooses of a webhook: its URL, events, order, status and
// secrets.
type WebhookChange struct {
	AppID, GrantID string               // the grant that is used; empty: a user acts
	PersonID       string               // as in Webhook
	Apply          func(*Webhook) error // may run several times
}

// UpdateWebhook changes a webhook. One that becomes active tries its pending deliveries at
// once, and with the whole schedule before them. From then on a webhook depends on the grant
// that changed its URL, or that activated it after the grant before had ended.
func (s *Store) UpdateWebhook(ctx context.Context, owner string, key WebhookKey, change WebhookChange, now time.Time) (w Webhook, err error) {
	defer wrap(&err, "update webhook")
	if !key.valid() {
		return w, fault.NotFound
	}
	err = s.write(ctx, owner, func(t db.Tx) error {
		// The form's row first, as everywhere.
		if err := checkAffected(t.Exec(addStoredSQL, owner, key.FormID, 0)); err != nil {
			return err
		}
		if w, err = readWebhook(t.Query, owner, key); err != nil {
			return err
		}
		before := w
		if err := change.Apply(&w); err != nil {
			return err
		}
		w.UpdatedAt = now.UTC().Truncate(time.Millisecond)
		becomesActive := w.Status == WebhookActive && before.Status != WebhookActive
		moves := w.URL != before.URL
		if becomesActive && !moves {
			if moves, err = hasEnded(t.Query, owner, w, now); err != nil {
				return err
			}
		}
		if moves {
			w.AppID, w.GrantID, w.PersonID = change.AppID, change.GrantID, change.PersonID
			if err := checkGrantOf(t, owner, w, now); err != nil {
				return err
			}
		}
		if becomesActive {
			w.DisabledReason, w.FailingSince = "", time.Time{}
			if _, err := t.Exec(restartPendingSQL, owner, key.FormID, key.ID, toMillis(now)); err != nil {
				return err
			}
		}
		_, err := t.Exec(updateWebhookSQL, owner, key.FormID, key.ID, w.URL, formatEvents(w.Events), w.StrictOrder, string(w.Status), w.DisabledReason,
			w.Secret, w.OldSecret, toMillis(w.OldSecretUntil), toMillis(w.UpdatedAt), toMillis(w.FailingSince),
			w.AppID, w.GrantID, w.PersonID)
		w.Events = parseEvents(formatEvents(w.Events))
		if err != nil {
			return err
		}
		return recordWebhookChange(ctx, t, owner, before, w)
	})
	s.db.Invalidate(webhookOwners)
	return w, err
}

// DeleteWebhook deletes a webhook with its deliveries.
func (s *Store) DeleteWebhook(ctx context.Context, owner string, key WebhookKey) (err error) {
	defer wrap(&err, "delete webhook")
	if !key.valid() {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := checkAffected(t.Exec(addStoredSQL, owner, key.FormID, 0)); err != nil {
			return err
		}
		w, err := readWebhook(t.Query, owner, key)
		if err != nil {
			return err
		}
		if err := checkAffected(t.Exec(deleteWebhookSQL, owner, key.FormID, key.ID)); err != nil {
			return err
		}
		if err := recordWebhook(ctx, t, owner, w, AuditWebhookDeleted); err != nil {
			return err
		}
		_, err = t.Exec(deleteDeliveriesSQL, owner, key.FormID, key.ID)
		return err
	})
}

// ReplayWebhook delivers again what happened after a position, up to what the webhook has
// received. It replaces a replay that is running.
func (s *Store) ReplayWebhook(ctx context.Context, owner string, key WebhookKey, after string, now time.Time) (err error) {
	defer wrap(&err, "replay webhook")
	if !key.valid() {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := requireForm(t.Query, owner, key.FormID); err != nil {
			return err
		}
		return checkAffected(t.Exec(replayWebhookSQL, owner, key.FormID, key.ID, after, toMillis(now)))
	})
}
