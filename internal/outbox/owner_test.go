package outbox_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/id"
	"formulary/internal/mail/mailtest"
	"formulary/internal/store"
)

// An owner is told that a webhook was disabled, unless it is active again.
func TestWebhookDisabled(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Order", "en")
		for range 2 {
			hook, _, err := w.AddWebhook(ctx, w.owner.ID, store.Webhook{
				WebhookKey: store.WebhookKey{FormID: f.ID, ID: id.New(id.Webhook, time.Now())}, URL: "https://hooks.example.net/x", Events: store.EventKinds, Status: store.WebhookActive,
			}, store.IdempotencyKey{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			c := store.DeliveryCommit{Key: hook.WebhookKey, From: hook.Position, Position: hook.Position, Disable: "It is gone.", At: time.Now()}
			if err := w.CommitDeliveries(ctx, w.owner.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		list, _, err := w.Webhooks(ctx, w.owner.ID, f.ID, store.Page{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		activate := store.WebhookChange{Apply: func(h *store.Webhook) error { h.Status = store.WebhookActive; return nil }}
		if _, err := w.UpdateWebhook(ctx, w.owner.ID, list[0].WebhookKey, activate, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.run(w.service)
		w.waitFor("all have ended", func() bool { return w.waiting() == 0 })
		got := w.server.WaitFor(1)
		m := mailtest.Parse(t, got[0])
		must(t, "subject", m.Subject, "A webhook of “Order” is disabled")
		must(t, "text", m.Text, "https://hooks.example.net/x", "It is gone.", "/forms/"+f.ID+"/connect/"+list[1].ID)
		if len(got) != 1 || got[0].To != "ada@example.com" {
			t.Errorf("%d mails, to %s", len(got), got[0].To)
		}
	})
}

// An owner is told once that there is little storage left.
func TestStorageFull(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Order", "en")
		w.submit(f, map[string]any{"text": strings.Repeat("x", 10_000)})
		used, err := w.Usage(ctx, w.owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.SetQuotas(store.Quotas{Bytes: used.Bytes + 1000})
		w.run(w.service)
		w.submit(f, map[string]any{"text": "x"})
		m := mailtest.Parse(t, w.server.WaitFor(1)[0])
		must(t, "text", m.Text, "Your storage is nearly full", "Your forms use", "https://forms.example.com")
	})
}
