package store_test

import (
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// grantIdle is how long a grant of these tests lives without use.
const grantIdle = 90 * 24 * time.Hour

// grantedWebhook is a webhook that an application created.
type grantedWebhook struct {
	store.Webhook
	app             account.Application
	access, refresh account.SecretRef
}

func addGrantedWebhook(t *testing.T, s *store.Store, owner, formID string, granted time.Time) grantedWebhook {
	t.Helper()
	w := grantedWebhook{app: newApp(t, s, owner)}
	w.access, w.refresh = connectAppAt(t, s, owner, w.app, granted)
	token, err := s.AccessToken(ctx, w.access)
	if err != nil {
		t.Fatal(err)
	}
	w.Webhook, _, err = s.AddWebhook(ctx, owner, store.Webhook{
		WebhookKey: store.WebhookKey{FormID: formID, ID: id.New(id.Webhook, time.Now())}, URL: "https://example.com/", Secret: "sealed",
		Events: store.EventKinds, Status: store.WebhookActive, AppID: w.app.ID, GrantID: token.GrantID,
	}, store.IdempotencyKey{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Whatever ends the access of an application pauses its webhooks, and no others.
func TestEndedGrantPausesWebhooks(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		now := time.Now()
		longAgo := now.Add(-grantIdle - time.Hour)
		for name, c := range map[string]struct {
			granted time.Time
			end     func(owner string, w grantedWebhook) error
			want    store.WebhookStatus
		}{
			"revoked":      {now, func(owner string, w grantedWebhook) error { return s.RevokeRefresh(ctx, w.refresh, w.app.ID, now) }, "paused"},
			"disconnected": {now, func(owner string, w grantedWebhook) error { return s.Disconnect(ctx, owner, w.app.ID, now) }, "paused"},
			"password reset": {now, func(owner string, w grantedWebhook) error {
				return s.SetPassword(ctx, store.PasswordChange{Owner: owner, Hash: "another"}, now)
			}, "paused"},
			"application deleted":  {now, func(owner string, w grantedWebhook) error { return s.DeleteApp(ctx, owner, w.app.ID, now) }, "paused"},
			"application disabled": {now, func(owner string, w grantedWebhook) error { return s.SetAppDisabled(ctx, owner, w.app.ID, true, now) }, "paused"},
			"not used for too long": {longAgo, func(owner string, w grantedWebhook) error {
				return s.Cleanup(ctx, now, grantIdle)
			}, "paused"},
			"created while it was revoked": {now, func(owner string, w grantedWebhook) error {
				if err := s.RevokeRefresh(ctx, w.refresh, w.app.ID, now); err != nil {
					return err
				}
				if err := s.Exec(ctx, "UPDATE webhook SET status = 'active' WHERE account_id = $1 AND id = $2", owner, w.ID); err != nil {
					return err
				}
				return s.Cleanup(ctx, now, grantIdle)
			}, "paused"},
			"used just in time": {longAgo.Add(2 * time.Hour), func(owner string, w grantedWebhook) error {
				return s.Cleanup(ctx, now, grantIdle)
			}, "active"},
			"used since": {longAgo, func(owner string, w grantedWebhook) error {
				if err := s.MarkGrantUsed(ctx, w.access, w.GrantID, now.Add(-time.Hour)); err != nil {
					return err
				}
				return s.Cleanup(ctx, now, grantIdle)
			}, "active"},
			"with a valid token": {now.Add(-time.Minute), func(owner string, w grantedWebhook) error {
				return s.Cleanup(ctx, now, time.Second)
			}, "active"},
			"a password change that keeps grants": {now, func(owner string, w grantedWebhook) error {
				return s.SetPassword(ctx, store.PasswordChange{Owner: owner, Hash: "another", KeepGrants: true}, now)
			}, "active"},
		} {
			owner := addUser(t, s, id.New("u", now)+"@example.com").ID
			f := openForm(t, s, owner, small)
			own := addWebhook(t, s, owner, f.ID)
			w := addGrantedWebhook(t, s, owner, f.ID, c.granted)
			if err := c.end(owner, w); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := s.Webhook(ctx, owner, w.WebhookKey)
			if err != nil || got.Status != c.want {
				t.Errorf("%s: it is %s, want %s (%v)", name, got.Status, c.want, err)
			}
			active := map[string]bool{}
			list, err := s.ActiveWebhooks(ctx, owner)
			for _, a := range list {
				active[a.ID] = true
			}
			if err != nil || active[w.ID] != (c.want == store.WebhookActive) || !active[own.ID] {
				t.Errorf("%s: active are %v (%v)", name, active, err)
			}
		}
	})
}

// A webhook depends on the grant that created it, until another one changes where it leads, or
// activates it after the first has ended.
func TestWebhookDependsOnItsGrant(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		now := time.Now()
		first, second := addGrantedWebhook(t, s, owner, f.ID, now), addGrantedWebhook(t, s, owner, f.ID, now)
		byOwner, bySecond := store.WebhookChange{}, store.WebhookChange{AppID: second.app.ID, GrantID: second.GrantID}
		update := func(by store.WebhookChange, change func(w *store.Webhook)) {
			t.Helper()
			by.Apply = func(w *store.Webhook) error {
				change(w)
				return nil
			}
			if _, err := s.UpdateWebhook(ctx, owner, first.WebhookKey, by, now); err != nil {
				t.Fatal(err)
			}
		}
		check := func(name, grant string, status store.WebhookStatus) {
			t.Helper()
			if w, err := s.Webhook(ctx, owner, first.WebhookKey); err != nil || w.GrantID != grant || w.Status != status {
				t.Errorf("%s: %s with the grant %q, want %s with %q (%v)", name, w.Status, w.GrantID, status, grant, err)
			}
		}
		pause := func(w *store.Webhook) { w.Status = store.WebhookPaused }
		resume := func(w *store.Webhook) { w.Status = store.WebhookActive }
		update(byOwner, pause)
		update(byOwner, resume)
		check("paused for a while", first.GrantID, "active")
		update(bySecond, func(w *store.Webhook) { w.StrictOrder = true })
		check("other settings", first.GrantID, "active")
		if err := s.RevokeRefresh(ctx, first.refresh, first.app.ID, now); err != nil {
			t.Fatal(err)
		}
		check("revoked", first.GrantID, "paused")
		update(byOwner, resume)
		check("activated by its owner", "", "active")
		if err := s.SetAppDisabled(ctx, owner, first.app.ID, true, now); err != nil {
			t.Fatal(err)
		}
		check("without the application", "", "active")
		update(bySecond, func(w *store.Webhook) { w.URL = "https://second.example.com/" })
		check("led elsewhere", second.GrantID, "active")
		if err := s.Disconnect(ctx, owner, second.app.ID, now); err != nil {
			t.Fatal(err)
		}
		check("disconnected", second.GrantID, "paused")
	})
}
