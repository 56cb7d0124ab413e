package store

import (
	"context"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

const (
	deliverySQL = `SELECT ` + deliveryColumns + ` FROM delivery WHERE account_id = $1 AND form_id = $2 AND webhook_id = $3 AND position = $4`
	// latestDeliveriesSQL reads what is kept of each webhook of a form, which is bounded.
	latestDeliveriesSQL = `SELECT ` + deliveryColumns + `, webhook_id FROM delivery WHERE account_id = $1 AND form_id = $2 AND (webhook_id, position) IN
		(SELECT w.id, (SELECT l.position FROM delivery l WHERE l.account_id = $1 AND l.form_id = $2 AND l.webhook_id = w.id ORDER BY l.at DESC, l.position DESC LIMIT 1)
		FROM webhook w WHERE w.account_id = $1 AND w.form_id = $2)`
)

// Delivery returns one delivery of a webhook.
func (s *Store) Delivery(ctx context.Context, owner string, key WebhookKey, deliveryID string) (_ Delivery, err error) {
	defer wrap(&err, "read delivery")
	if _, ok := id.Parse(id.Delivery, deliveryID); !ok || !key.valid() {
		return Delivery{}, fault.NotFound
	}
	var list []Delivery
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = nil
		if err := requireForm(t.Query, owner, key.FormID); err != nil {
			return err
		}
		return t.Query(deliverySQL, gatherDeliveries(&list), owner, key.FormID, key.ID, deliveryID[len(id.Delivery):])
	})
	if err != nil || len(list) == 0 {
		return Delivery{}, errorWhen(err, len(list) == 0, fault.NotFound)
	}
	return list[0], nil
}

// LatestDeliveries returns, for each webhook of a form, the delivery with the latest attempt.
// Webhooks without deliveries are left out.
func (s *Store) LatestDeliveries(ctx context.Context, owner, formID string) (latest map[string]Delivery, err error) {
	defer wrap(&err, "read latest deliveries")
	latest = map[string]Delivery{}
	err = s.db.Query(ctx, latestDeliveriesSQL, func(r db.Row) error {
		var webhookID string
		d, err := scanDelivery(r, &webhookID)
		latest[webhookID] = d
		return err
	}, owner, formID)
	return latest, err
}
