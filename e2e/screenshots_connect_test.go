//go:build screenshots

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	"formulary/internal/id"
	"formulary/internal/store"
)

// createWebhooks gives a form two webhooks, one of them with deliveries of every status, and
// returns the address of its page.
func (w demoData) createWebhooks(formID string) string {
	w.t.Helper()
	ctx := context.Background()
	responses, _, err := w.db.Responses(ctx, w.owner, formID, store.ResponseFilter{}, store.Page{Limit: 9})
	if err != nil {
		w.t.Fatal(err)
	}
	var hook store.Webhook
	for _, h := range []store.Webhook{
		{URL: "https://lists.example.org/sign-ups", Events: []store.EventKind{store.ResponseCreated, store.ResponseUpdated}, Status: store.WebhookPaused},
		{URL: "https://hooks.example.com/formulary/feedback", Events: store.EventKinds, Status: store.WebhookActive},
	} {
		h.WebhookKey, h.Secret = store.WebhookKey{FormID: formID, ID: id.New(id.Webhook, time.Now())}, "sealed"
		if hook, _, err = w.db.AddWebhook(ctx, w.owner, h, store.IdempotencyKey{}, w.now.AddDate(0, 0, -12)); err != nil {
			w.t.Fatal(err)
		}
	}
	commit := store.DeliveryCommit{Key: hook.WebhookKey, From: hook.Position, Position: hook.Position, FailingSince: w.now.Add(-20 * time.Minute)}
	for i, r := range responses {
		at := w.now.Add(-time.Duration(4+i*i*37) * time.Minute)
		d := store.Delivery{
			Event:  store.Event{Position: strings.TrimPrefix(r.ID, id.Response), Kind: store.ResponseCreated, ResponseID: r.ID, Version: r.Version},
			Status: store.Delivered, Attempt: 1, ResponseStatus: 204, FirstAt: at, LastAt: at,
		}
		switch i {
		case 0, 1:
			d.Status, d.Attempt, d.ResponseStatus, d.NextAt = store.DeliveryPending, int64(2+i), 503, w.now.Add(time.Duration(5+i*25)*time.Minute)
			d.Error, d.Answer = "The receiver answered with status 503.", "Down for maintenance. Back at 18:00."
		case 4:
			d.Status, d.Attempt, d.ResponseStatus = store.DeliveryFailed, 10, 0
			d.Error = "The receiver did not answer within 15 seconds."
		case 6:
			d.Attempt, d.Kind = 2, store.ResponseUpdated
		}
		commit.Deliveries = append(commit.Deliveries, d)
	}
	closed := w.now.Add(-30 * time.Hour)
	commit.Deliveries = append(commit.Deliveries, store.Delivery{
		Event: store.Event{Position: id.New("", closed), Kind: store.FormPublished, Version: 1}, Status: store.Delivered, Attempt: 1, ResponseStatus: 200, FirstAt: closed, LastAt: closed,
	})
	if err := w.db.CommitDeliveries(ctx, w.owner, commit); err != nil {
		w.t.Fatal(err)
	}
	return "/forms/" + formID + "/connect/" + hook.ID
}

// createNotifications gives a form recipients and a receipt, and returns the address of the page.
func (w demoData) createNotifications(formID string) string {
	w.t.Helper()
	links := map[string]string{}
	change := store.NotificationChange{When: store.NotifyEach, To: []string{ada, "studio@example.org", "tomasz@example.net"}}
	change.Confirm = func(link store.RecipientLink) (store.Mail, error) {
		links[link.Email] = link.String()
		return store.Mail{ID: id.New(id.Mail, w.now), Kind: "test", FormID: formID, Recipient: link.Email, Language: "en", Data: "{}", CreatedAt: w.now}, nil
	}
	ctx := context.Background()
	if _, err := w.db.SetNotifications(ctx, w.owner, formID, change, w.now); err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.ConfirmRecipient(ctx, links["studio@example.org"], w.now); err != nil {
		w.t.Fatal(err)
	}
	receipt := store.Receipt{Active: true, Field: "email", Subject: "See you at the open studio", Text: "We look forward to seeing you.\n\n**Lindenstraße 12**, from 10 to 18 h", Answers: true}
	if err := w.db.SetReceipt(ctx, w.owner, formID, store.ReceiptChange{Receipt: receipt}, w.now); err != nil {
		w.t.Fatal(err)
	}
	return "/forms/" + formID + "/connect/notify"
}

// waitForPreviews waits for some previews of mails.
func waitForPreviews(b *tab, n int) {
	b.wait(fmt.Sprintf(`performance.getEntriesByType("resource").filter((e) => e.initiatorType === "iframe" && e.responseEnd > 0).length >= %d`, n))
}
