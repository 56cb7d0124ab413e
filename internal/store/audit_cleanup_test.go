package store_test

import (
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Nobody gets rid of what the log says of them, or of others, by filling it with something else.
func TestAuditCannotBeFlooded(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space := addSpace(t, s, "Team", ada)
		as := func(u account.User, action store.AuditAction, n int) {
			actor := store.WithActor(ctx, store.Actor{Kind: store.ActorPerson, PersonID: u.ID, PersonName: u.Email})
			for range n {
				if err := s.RecordAudit(actor, space, store.AuditEntry{Action: action, ObjectID: "frm_x"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		as(ada, store.AuditFormPublished, 10)
		as(bob, store.AuditFormDeleted, 1)
		as(bob, store.AuditResponsesDeleted, 3)
		as(bob, store.AuditResponsesExported, 700)
		last := auditLog(t, s, space, store.AuditFilter{})[0].ID
		if err := s.TrimAudit(ctx, space, 100); err != nil {
			t.Fatal(err)
		}
		left := map[store.AuditAction]int{}
		list := auditLog(t, s, space, store.AuditFilter{})
		for _, e := range list {
			left[e.Action]++
		}
		if len(list) != 100 || left[store.AuditFormDeleted] != 1 || left[store.AuditResponsesDeleted] != 3 || left[store.AuditFormPublished] != 10 || left[store.AuditSpaceCreated] != 1 {
			t.Errorf("%d entries are left: %v", len(list), left)
		}
		if list[0].ID != last {
			t.Error("the newest entry is deleted")
		}
		// When there is nothing else, the oldest of all are.
		if err := s.TrimAudit(ctx, space, 5); err != nil {
			t.Fatal(err)
		}
		if list = auditLog(t, s, space, store.AuditFilter{}); len(list) != 5 || list[0].ID != last {
			t.Errorf("%d entries are left", len(list))
		}
	})
}

// What ends by itself is recorded too, with the service as its actor, and so is a guest who leaves.
func TestAuditOfEnds(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space, now := addSpace(t, s, "Team", ada), time.Now()
		formID := mustForm(t, s, space, "Order")
		newest := func(action store.AuditAction, object string, kind store.ActorKind) {
			t.Helper()
			if e := auditLog(t, s, space, store.AuditFilter{})[0]; e.Action != action || e.ObjectID != object || e.Actor.Kind != kind {
				t.Errorf("got %s of %s by %s, want %s of %s by %s", e.Action, e.ObjectID, e.Actor.Kind, action, object, kind)
			}
		}
		if err := s.ShareForm(ctx, space, formID, bob.ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		app := newApp(t, s, ada.ID)
		allow(t, s, bob.ID, app, store.GrantLimits{Space: space, Ends: now.Add(time.Minute)}, now)
		if err := s.EndExpiredGrants(ctx, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		newest(store.AuditGrantEnded, app.ID, store.ActorService)

		longAgo := now.Add(-grantIdle - time.Hour)
		access, _ := allow(t, s, bob.ID, app, store.GrantLimits{Space: space}, longAgo)
		token, err := s.AccessToken(ctx, access)
		if err != nil {
			t.Fatal(err)
		}
		w := store.Webhook{
			WebhookKey: store.WebhookKey{FormID: formID, ID: id.New(id.Webhook, now)}, URL: "https://example.com/", Secret: "sealed", Events: store.EventKinds, Status: store.WebhookActive,
			AppID: app.ID, GrantID: token.GrantID, PersonID: bob.ID,
		}
		if _, _, err := s.AddWebhook(ctx, space, w, store.IdempotencyKey{}, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now, grantIdle); err != nil {
			t.Fatal(err)
		}
		newest(store.AuditGrantEnded, app.ID, store.ActorService)

		actor := store.WithActor(ctx, store.Actor{Kind: store.ActorPerson, PersonID: bob.ID, PersonName: bob.Email})
		if err := s.EndShares(actor, space, bob.ID, now); err != nil {
			t.Fatal(err)
		}
		newest(store.AuditMemberLeft, bob.ID, store.ActorPerson)
		before := len(auditLog(t, s, space, store.AuditFilter{}))
		if err := s.EndShares(actor, space, bob.ID, now); err == nil {
			t.Error("a guest leaves twice")
		}
		if got := len(auditLog(t, s, space, store.AuditFilter{})); got != before {
			t.Errorf("%d entries for nothing", got-before)
		}
	})
}
