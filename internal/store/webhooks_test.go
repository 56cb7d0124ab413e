package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func addWebhook(t *testing.T, s *store.Store, owner, formID string) store.Webhook {
	t.Helper()
	w, _, err := s.AddWebhook(ctx, owner, store.Webhook{
		WebhookKey: store.WebhookKey{FormID: formID, ID: id.New(id.Webhook, time.Now())}, URL: "https://example.com/", Secret: "sealed",
		Events: store.EventKinds, Status: store.WebhookActive,
	}, store.IdempotencyKey{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// delivered stores an event as delivered, and moves the webhook there.
func delivered(t *testing.T, s *store.Store, owner string, w store.Webhook, responseID string) {
	t.Helper()
	position := responseID[len(id.Response):]
	if err := s.CommitDeliveries(ctx, owner, store.DeliveryCommit{Key: w.WebhookKey, From: w.Position, Position: position, Deliveries: []store.Delivery{{
		Event: store.Event{Position: position, Kind: store.ResponseCreated, ResponseID: responseID, Version: 1}, Status: store.Delivered, Attempt: 1, FirstAt: time.Now(), LastAt: time.Now(),
	}}}); err != nil {
		t.Fatal(err)
	}
}

// webhookRows counts the rows of an account in the tables of webhooks.
func webhookRows(t *testing.T, s *store.Store, owner string) string {
	t.Helper()
	var counts []string
	for _, table := range []string{"webhook", "delivery", "form_event"} {
		rows, err := s.Rows(ctx, 1, "SELECT CAST(COUNT(*) AS TEXT) FROM "+table+" WHERE account_id = $1", owner)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, rows[0][0])
	}
	return strings.Join(counts, " ")
}

// Webhooks stay with a form in the trash, are part of backups, and disappear with the form,
// or with its owner.
func TestWebhookLifetime(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		var owners, forms []string
		for i := range 2 {
			owner := addUser(t, s, fmt.Sprintf("user%d@example.com", i)).ID
			f := openForm(t, s, owner, small)
			w := addWebhook(t, s, owner, f.ID)
			r, err := submit(s, f, 1)
			if err != nil {
				t.Fatal(err)
			}
			delivered(t, s, owner, w, r.ID)
			if _, err := s.CloseForm(ctx, owner, f.ID, 0, time.Now()); err != nil {
				t.Fatal(err)
			}
			owners, forms = append(owners, owner), append(forms, f.ID)
		}
		rows := func(when string, want ...string) {
			t.Helper()
			for i, owner := range owners {
				if got := webhookRows(t, s, owner); got != want[i] {
					t.Errorf("%s: user %d has %s, want %s", when, i, got, want[i])
				}
			}
		}
		rows("at first", "1 1 1", "1 1 1")
		var backup bytes.Buffer
		if _, err := s.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		copied, err := store.Connect(ctx, t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		if _, err := copied.Restore(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		if got := webhookRows(t, copied, owners[0]); got != "1 1 1" {
			t.Errorf("restored from a backup: %s", got)
		}

		now := time.Now()
		if err := s.DeleteForm(ctx, owners[0], forms[0], 0, now); err != nil {
			t.Fatal(err)
		}
		rows("in the trash", "1 1 1", "1 1 1")
		if _, _, err := s.Webhooks(ctx, owners[0], forms[0], store.Page{Limit: 10}); !errors.Is(err, fault.NotFound) {
			t.Errorf("webhooks of a deleted form: %v", err)
		}
		if list, err := s.ActiveWebhooks(ctx, owners[0]); err != nil || len(list) != 0 {
			t.Errorf("%d of a deleted form are active (%v)", len(list), err)
		}
		if _, err := s.RestoreForm(ctx, owners[0], forms[0], now); err != nil {
			t.Fatal(err)
		}
		if list, err := s.ActiveWebhooks(ctx, owners[0]); err != nil || len(list) != 1 || !list[0].Behind {
			t.Errorf("after the form was restored: %+v (%v)", list, err)
		}
		if err := s.DeleteForm(ctx, owners[0], forms[0], 0, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now.Add(2*time.Hour), time.Hour); err != nil {
			t.Fatal(err)
		}
		rows("deleted for good", "0 0 0", "1 1 1")
		if complete, err := s.DeleteUser(ctx, owners[1], now); err != nil || !complete {
			t.Fatal(complete, err)
		}
		rows("without its owner", "0 0 0", "0 0 0")
	})
}

// A dispatcher that knows a webhook as it was before its owner changed it gets no events.
func TestEventsForChangedWebhook(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		known := addWebhook(t, s, owner, f.ID)
		if _, err := submit(s, f, 1); err != nil {
			t.Fatal(err)
		}
		part := store.EventRange{After: known.Position, Limit: 10, Kinds: store.EventKinds}
		read := func(when string, w store.Webhook, want error) {
			t.Helper()
			list, _, err := s.EventsFor(ctx, owner, w, part)
			if !errors.Is(err, want) || err == nil && len(list) != 1 {
				t.Errorf("%s: %d events (%v)", when, len(list), err)
			}
		}
		at := time.Now()
		set := func(change func(*store.Webhook)) store.Webhook {
			t.Helper()
			at = at.Add(time.Millisecond)
			w, err := s.UpdateWebhook(ctx, owner, known.WebhookKey, store.WebhookChange{Apply: func(w *store.Webhook) error {
				change(w)
				return nil
			}}, at)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		read("unchanged", known, nil)
		paused := set(func(w *store.Webhook) { w.Status = store.WebhookPaused })
		read("paused", known, store.ErrWebhookChanged)
		read("known to be paused", paused, store.ErrWebhookChanged)
		moved := set(func(w *store.Webhook) { w.URL, w.Status = "https://example.org/", store.WebhookActive })
		read("another address", known, store.ErrWebhookChanged)
		read("known with it", moved, nil)
		if err := s.DeleteWebhook(ctx, owner, known.WebhookKey); err != nil {
			t.Fatal(err)
		}
		read("deleted", moved, store.ErrWebhookChanged)
	})
}

// A dispatcher whose webhook another one has moved changes nothing.
func TestCommitIsFenced(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		w := addWebhook(t, s, owner, f.ID)
		r, err := submit(s, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		delivered(t, s, owner, w, r.ID)
		late := store.DeliveryCommit{Key: w.WebhookKey, From: w.Position, Position: w.Position, Disable: "late", Deliveries: []store.Delivery{{
			Event: store.Event{Position: r.ID[len(id.Response):], Kind: store.ResponseCreated, ResponseID: r.ID}, Status: store.DeliveryFailed, Stored: true,
		}}}
		if err := s.CommitDeliveries(ctx, owner, late); !errors.Is(err, store.ErrPositionMoved) {
			t.Errorf("a late commit: %v", err)
		}
		if got, err := s.Webhook(ctx, owner, w.WebhookKey); err != nil || got.Status != store.WebhookActive {
			t.Errorf("after it: %+v (%v)", got, err)
		}
		if list, _, err := s.Deliveries(ctx, owner, w.WebhookKey, "", store.Page{Limit: 10}); err != nil || len(list) != 1 || list[0].Status != store.Delivered {
			t.Errorf("after it: %+v (%v)", list, err)
		}
		if err := s.DeleteWebhook(ctx, owner, w.WebhookKey); err != nil {
			t.Fatal(err)
		}
		if err := s.CommitDeliveries(ctx, owner, late); !errors.Is(err, store.ErrPositionMoved) {
			t.Errorf("to a deleted webhook: %v", err)
		}
		if got := webhookRows(t, s, owner); got != "0 0 0" {
			t.Errorf("left: %s", got)
		}
	})
}

// The log keeps the latest deliveries, and fewer of the answers.
func TestDeliveriesAreTrimmed(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		w := addWebhook(t, s, owner, openForm(t, s, owner, small).ID)
		now := time.Now()
		c := store.DeliveryCommit{Key: w.WebhookKey, From: w.Position, Position: w.Position, Trim: true}
		for i := range 1300 {
			status := store.DeliveryFailed
			if i >= 1200 {
				status = store.DeliveryPending
			}
			at := now.Add(time.Duration(i) * time.Second)
			c.Deliveries = append(c.Deliveries, store.Delivery{
				Event: store.Event{Position: id.New("", at), Kind: store.ResponseCreated}, Status: status, Attempt: 1, Answer: "why", FirstAt: at, LastAt: at, NextAt: at,
			})
		}
		if err := s.CommitDeliveries(ctx, owner, c); err != nil {
			t.Fatal(err)
		}
		list, total, err := s.Deliveries(ctx, owner, w.WebhookKey, "", store.Page{Limit: 2000})
		if err != nil || total != 1100 || len(list) != 1100 || list[0].LastAt.Before(list[1].LastAt) {
			t.Fatalf("%d of %d deliveries are left (%v)", len(list), total, err)
		}
		answers := 0
		for _, d := range list {
			if d.Answer != "" {
				answers++
			}
		}
		if answers != 100 || list[0].Answer == "" {
			t.Errorf("%d answers are left", answers)
		}
		due, err := s.DueDeliveries(ctx, owner, w.WebhookKey, now.Add(1210*time.Second), 100)
		if err != nil || len(due) != 11 || due[0].NextAt.After(due[1].NextAt) {
			t.Errorf("%d are due (%v)", len(due), err)
		}
	})
}
