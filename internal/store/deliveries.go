package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// DeliveryStatus says what became of a delivery.
type DeliveryStatus string

// The states of a delivery.
const (
	DeliveryPending DeliveryStatus = "pending" // it will be tried again
	Delivered       DeliveryStatus = "delivered"
	DeliveryFailed  DeliveryStatus = "failed"
	// DeliverySkipped is not stored: there is nothing to deliver any more.
	DeliverySkipped DeliveryStatus = "skipped"
)

// Delivery is one event for one webhook, with its last attempt.
type Delivery struct {
	Event
	Status         DeliveryStatus
	Attempt        int64
	ResponseStatus int64  // of the receiver's answer; 0: there was none
	Error          string // why it is not delivered
	Answer         string // the beginning of the receiver's answer to a failed attempt
	FirstAt        time.Time
	LastAt         time.Time
	NextAt         time.Time // of a pending delivery
	Stored         bool      // it has a row, as a delivery does that was tried before
}

// ID is the ID of the delivery. Within a webhook there is one for each event.
func (d Delivery) ID() string { return id.Delivery + d.Position }

const deliveryColumns = `position, kind, response_id, version, status, attempt, response_status, error, answer, first_at, at, next_at`

const (
	deliveriesSQL = `SELECT ` + deliveryColumns + ` FROM delivery
		WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND ($4 = '' OR status = $4)
		ORDER BY at DESC, position DESC LIMIT $5 OFFSET $6`
	countDeliveriesSQL = `SELECT COUNT(*) FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND ($4 = '' OR status = $4)`
	dueDeliveriesSQL   = `SELECT ` + deliveryColumns + ` FROM delivery
		WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND status = 'pending' AND next_at <= $4
		ORDER BY next_at, position LIMIT $5`
	deliveredAfterSQL = `SELECT position FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position > $4
		ORDER BY position LIMIT $5`
	resendSQL = `UPDATE delivery SET status = 'pending', attempt = 0, next_at = $5
		WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position = $4`
	restartPendingSQL = `UPDATE delivery SET attempt = 0, next_at = $4
		WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND status = 'pending'`
	insertDeliverySQL = `INSERT INTO delivery (account_id, form_id, webhook_id, ` + deliveryColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`
	deliveryKindSQL = `SELECT kind FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position = $4`
	dropDeliverySQL = `DELETE FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position = $4`
	// Ended deliveries are kept up to a number, and fewer of the answers, which are larger.
	trimDeliveriesSQL = `DELETE FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position IN
		(SELECT position FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND status <> 'pending'
		ORDER BY at DESC, position DESC LIMIT 2000 OFFSET 1000)`
	trimAnswersSQL = `UPDATE delivery SET answer = '' WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position IN
		(SELECT position FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND answer <> ''
		ORDER BY at DESC, position DESC LIMIT 4000 OFFSET 100)`
)

func scanDelivery(r db.Row, more ...any) (Delivery, error) {
	d := Delivery{Stored: true}
	var kind, status string
	var first, last, next int64
	err := r.Scan(append([]any{&d.Position, &kind, &d.ResponseID, &d.Version, &status, &d.Attempt, &d.ResponseStatus, &d.Error, &d.Answer, &first, &last, &next}, more...)...)
	d.Kind, d.Status = EventKind(kind), DeliveryStatus(status)
	d.FirstAt, d.LastAt, d.NextAt = fromMillis(first), fromMillis(last), fromMillis(next)
	return d, err
}

func gatherDeliveries(list *[]Delivery) func(db.Row) error {
	return func(r db.Row) error {
		d, err := scanDelivery(r)
		*list = append(*list, d)
		return err
	}
}

// Deliveries returns a page of a webhook's deliveries, those with the latest attempts first,
// and how many there are. Without a status it has those of all.
func (s *Store) Deliveries(ctx context.Context, owner string, key WebhookKey, status DeliveryStatus, page Page) (list []Delivery, total int64, err error) {
	defer wrap(&err, "list deliveries")
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = nil
		if err := requireForm(t.Query, owner, key.FormID); err != nil {
			return err
		}
		if _, err := readWebhook(t.Query, owner, key); err != nil {
			return err
		}
		args := []any{owner, key.FormID, key.ID, string(status)}
		if err := queryOne(t.Query, countDeliveriesSQL, args, &total); err != nil {
			return err
		}
		return t.Query(deliveriesSQL, gatherDeliveries(&list), append(args, page.Limit, page.Offset)...)
	})
	return list, total, err
}

var errNotReceived = fault.New(fault.Invalid, "The webhook no longer receives this type of event. Add the event to the webhook first.")

// ResendDelivery delivers an event again, as soon as the webhook is active.
func (s *Store) ResendDelivery(ctx context.Context, owner string, key WebhookKey, deliveryID string, now time.Time) (err error) {
	defer wrap(&err, "resend delivery")
	if _, ok := id.Parse(id.Delivery, deliveryID); !ok || !key.valid() {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := requireForm(t.Query, owner, key.FormID); err != nil {
			return err
		}
		w, err := readWebhook(t.Query, owner, key)
		if err != nil {
			return err
		}
		var kind string
		if err := queryOne(t.Query, deliveryKindSQL, []any{owner, key.FormID, key.ID, deliveryID[len(id.Delivery):]}, &kind); err != nil {
			return err
		}
		if !slices.Contains(w.Events, EventKind(kind)) {
			return errNotReceived
		}
		return checkAffected(t.Exec(resendSQL, owner, key.FormID, key.ID, deliveryID[len(id.Delivery):], toMillis(now)))
	})
}

// DueDeliveries returns the pending deliveries whose time has come, the longest due first.
func (s *Store) DueDeliveries(ctx context.Context, owner string, key WebhookKey, now time.Time, limit int64) (list []Delivery, err error) {
	defer wrap(&err, "read due deliveries")
	err = s.db.Query(ctx, dueDeliveriesSQL, gatherDeliveries(&list), owner, key.FormID, key.ID, toMillis(now), limit)
	return list, err
}

// DeliveriesAfter returns the positions of deliveries that were stored ahead of the webhook's
// position.
func (s *Store) DeliveriesAfter(ctx context.Context, owner string, key WebhookKey, position string, limit int64) (known map[string]bool, err error) {
	defer wrap(&err, "read deliveries ahead")
	known = map[string]bool{}
	err = s.db.Query(ctx, deliveredAfterSQL, func(r db.Row) error {
		var at string
		err := r.Scan(&at)
		known[at] = true
		return err
	}, owner, key.FormID, key.ID, position, limit)
	return known, err
}

// DeliveryCommit is what a dispatcher has done for a webhook.
type DeliveryCommit struct {
	Key            WebhookKey
	From, Position string // where the webhook was, and where it is now
	// The same of a replay, unless another one was asked for since. Until is empty when it
	// has ended.
	Replay                      int64 // as Webhook.Replays
	ReplayPosition, ReplayUntil string
	FailingSince                time.Time
	Disable                     string    // why the webhook is disabled; empty: it is not
	At                          time.Time // when it is disabled
	Deliveries                  []Delivery
	Trim                        bool // remove ended deliveries beyond those that are kept
}

// disableWebhookSQL changes nothing if the webhook is disabled already, as it is when one more
// request in flight fails.
const disableWebhookSQL = `UPDATE webhook SET status = 'disabled' WHERE account_id = $1 AND form_id = $2 AND id = $3 AND position = $4 AND status <> 'disabled'`

const commitWebhookSQL = `UPDATE webhook SET position = $5, failing_since = $6,
	status = CASE WHEN $7 <> '' THEN 'disabled' ELSE status END, disabled_reason = CASE WHEN $7 <> '' THEN $7 ELSE disabled_reason END,
	replay_position = CASE WHEN replays = $8 THEN $9 ELSE replay_position END, replay_until = CASE WHEN replays = $8 THEN $10 ELSE replay_until END
	WHERE account_id = $1 AND form_id = $2 AND id = $3 AND position = $4`

// ErrPositionMoved says that another dispatcher has moved the webhook, or that the webhook
// was deleted.
var ErrPositionMoved = errors.New("the webhook's position has moved")

// CommitDeliveries stores what a dispatcher has done, all of it or nothing. The webhook must
// be where the dispatcher found it: that keeps a dispatcher that lost its lease without
// noticing from undoing the work of the next one.
func (s *Store) CommitDeliveries(ctx context.Context, owner string, c DeliveryCommit) (err error) {
	defer wrap(&err, "commit deliveries")
	err = s.commitDeliveries(ctx, owner, c, false)
	if errors.Is(err, db.ErrUnique) {
		err = s.commitDeliveries(ctx, owner, c, true)
	}
	if c.Disable != "" {
		s.mailsAdded()
	}
	return err
}

// commitDeliveries is CommitDeliveries. With replace, it expects rows for all deliveries.
func (s *Store) commitDeliveries(ctx context.Context, owner string, c DeliveryCommit, replace bool) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		var disabled int64
		if c.Disable != "" {
			var err error
			if disabled, err = t.Exec(disableWebhookSQL, owner, c.Key.FormID, c.Key.ID, c.From); err != nil {
				return err
			}
		}
		n, err := t.Exec(commitWebhookSQL, owner, c.Key.FormID, c.Key.ID, c.From, c.Position, toMillis(c.FailingSince), c.Disable,
			c.Replay, c.ReplayPosition, c.ReplayUntil)
		if err != nil || n == 0 {
			return errorWhen(err, n == 0, ErrPositionMoved)
		}
		if disabled > 0 {
			if err := addOwnerMail(t, owner, Mail{Kind: MailWebhookDisabled, FormID: c.Key.FormID, Data: c.Key.ID}, c.At); err != nil {
				return err
			}
		}
		var rows [][]any
		last := map[string]int{} // an event can be both replayed and tried again
		for i, d := range c.Deliveries {
			last[d.Position] = i
		}
		for i, d := range c.Deliveries {
			if d.Stored || replace {
				if _, err := t.Exec(dropDeliverySQL, owner, c.Key.FormID, c.Key.ID, d.Position); err != nil {
					return err
				}
			}
			if d.Status != DeliverySkipped && last[d.Position] == i {
				rows = append(rows, []any{d.Position, string(d.Kind), d.ResponseID, d.Version, string(d.Status), d.Attempt, d.ResponseStatus,
					d.Error, d.Answer, toMillis(d.FirstAt), toMillis(d.LastAt), toMillis(d.NextAt)})
			}
		}
		if err := t.ExecEach(insertDeliverySQL, []any{owner, c.Key.FormID, c.Key.ID}, rows); err != nil || !c.Trim {
			return err
		}
		if _, err := t.Exec(trimDeliveriesSQL, owner, c.Key.FormID, c.Key.ID); err != nil {
			return err
		}
		_, err = t.Exec(trimAnswersSQL, owner, c.Key.FormID, c.Key.ID)
		return err
	})
}
