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

// A refused address costs one mail, and not one for each response.
func TestSkipped(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const gone = "mara@rcpt-550.test"
		f := w.open("Order", "en")
		if err := w.service.SetReceipt(ctx, w.owner.ID, f.ID, store.ReceiptChange{Receipt: store.Receipt{Active: true, Field: "email"}}); err != nil {
			t.Fatal(err)
		}
		w.run(w.service)
		w.submit(f, map[string]any{"email": gone})
		w.waitFor("it is refused", func() bool {
			reason, err := w.MailSuppressed(ctx, w.owner.ID, gone)
			return err == nil && strings.Contains(reason, "550")
		})
		for range 20 {
			w.submit(f, map[string]any{"email": gone})
		}
		w.submit(f, map[string]any{"email": "ben@example.org"})
		w.server.WaitFor(1)
		list, err := w.FailedMails(ctx, w.owner.ID, f.ID, 100)
		if err != nil || len(list) != 1 || list[0].Recipient != gone || !strings.Contains(list[0].Error, "550") {
			t.Errorf("%d failures (%v): %+v", len(list), err, list)
		}
		w.waitFor("skipped mails are counted", func() bool { return w.service.Stats().Skipped == 20 })
		w.waitFor("none waits", func() bool { return w.waiting() == 0 })
	})
}

// An owner is told by email when the first responses will be deleted, and that can be stopped.
func TestRetentionNotice(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Order <b>", "en")
		w.submit(f, map[string]any{"text": "x"})
		now := time.Now()
		if _, err := w.SetRetention(ctx, w.owner.ID, f.ID, store.RetentionChange{Days: 5}, now); err != nil {
			t.Fatal(err)
		}
		w.run(w.service)
		at := now.Add(time.Second)
		for range 3 {
			if err := w.ApplyRetention(ctx, at); err != nil {
				t.Fatal(err)
			}
		}
		got := w.server.WaitFor(1)
		m := mailtest.Parse(t, got[0])
		r, err := w.Retention(ctx, w.owner.ID, f.ID)
		if err != nil || !r.StartsAt.After(at.Add(6*24*time.Hour)) {
			t.Errorf("%+v (%v)", r, err)
		}
		must(t, "subject", m.Subject, "Old responses to “Order <b>” will be deleted")
		must(t, "text", m.Text, "after 5 days", r.StartsAt.UTC().Format("2 January 2006, 15:04"), "https://forms.example.com/forms/"+f.ID+"/share#retention")
		must(t, "HTML", m.HTML, "Order &lt;b&gt;")
		if got[0].To != "ada@example.com" {
			t.Errorf("to %s", got[0].To)
		}
		if _, err := w.SetRetention(ctx, w.owner.ID, f.ID, store.RetentionChange{Days: 0}, at); err != nil {
			t.Fatal(err)
		}
		if err := w.ApplyRetention(ctx, at.Add(90*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if stored, err := w.Form(ctx, w.owner.ID, f.ID); err != nil || stored.ResponseCount != 1 {
			t.Errorf("%d responses are left (%v)", stored.ResponseCount, err)
		}
		w.waitFor("none waits", func() bool { return w.waiting() == 0 })
		if n := len(w.server.WaitFor(1)); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}
