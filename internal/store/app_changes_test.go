package store_test

import (
	"net/netip"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// The logs of all spaces that an application has access to say once for each person that it was
// disabled, enabled or deleted, and by whom; with the application, its grants and webhooks end.
func TestAppChanges(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		now := time.Now()
		ada, bob, dev := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "dev@example.com")
		space := addSpace(t, s, "Team", ada)
		if err := s.SetMember(ctx, space, bob.ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		app, other := newApp(t, s, dev.ID), newApp(t, s, dev.ID)
		for range 2 {
			allow(t, s, ada.ID, app, store.GrantLimits{}, now)
			allow(t, s, ada.ID, app, store.GrantLimits{Space: space}, now)
		}
		allow(t, s, bob.ID, app, store.GrantLimits{Space: space}, now)
		allow(t, s, ada.ID, other, store.GrantLimits{}, now)
		grants, err := s.Grants(ctx, bob.ID, store.LiveGrants{Now: now})
		if err != nil || len(grants) != 1 {
			t.Fatal(grants, err)
		}
		f := openForm(t, s, space, small)
		hook := store.Webhook{
			WebhookKey: store.WebhookKey{FormID: f.ID, ID: id.New(id.Webhook, now)}, URL: "https://hooks.example/", Secret: "sealed", Events: store.EventKinds,
			Status: store.WebhookActive, AppID: app.ID, GrantID: grants[0].ID, PersonID: bob.ID,
		}
		if _, _, err := s.AddWebhook(ctx, space, hook, store.IdempotencyKey{}, now); err != nil {
			t.Fatal(err)
		}
		as := store.WithActor(ctx, store.Actor{Kind: store.ActorPerson, PersonID: dev.ID, PersonName: "Dev", Address: netip.MustParseAddr("192.0.2.7")})
		spaces := map[string][]account.User{ada.ID: {ada}, space: {ada, bob}, bob.ID: nil}
		for i, step := range []struct {
			change func(at time.Time) error
			want   store.AuditAction
			reason string
		}{
			{func(at time.Time) error { return s.SetAppDisabled(as, dev.ID, app.ID, true, at) }, store.AuditGrantSuspended, ""},
			{func(at time.Time) error { return s.SetAppDisabled(as, dev.ID, app.ID, false, at) }, store.AuditGrantResumed, ""},
			{func(at time.Time) error { return s.DeleteApp(as, dev.ID, app.ID, at) }, store.AuditGrantEnded, store.AppDeletedReason},
		} {
			before := map[string]int{}
			for space := range spaces {
				before[space] = len(auditLog(t, s, space, store.AuditFilter{}))
			}
			at := now.Add(time.Duration(i+1) * time.Hour)
			if err := step.change(at); err != nil {
				t.Fatal(err)
			}
			<-s.NotedAppChanges()
			for _, later := range []time.Duration{0, time.Second, 2 * time.Minute, 3 * time.Minute} {
				if err := s.RecordAppChanges(ctx, at.Add(later)); err != nil {
					t.Fatal(err)
				}
				if want := map[bool]string{true: "1", false: "0"}[later < time.Minute]; tableRows(t, s, "app_change") != want {
					t.Errorf("%s: %s changes are noted %v later, want %s", step.want, tableRows(t, s, "app_change"), later, want)
				}
			}
			for space, people := range spaces {
				list := auditLog(t, s, space, store.AuditFilter{})
				list = list[:len(list)-before[space]]
				if len(list) != len(people) {
					t.Errorf("%s: recorded %+v, want %d entries", step.want, list, len(people))
					continue
				}
				named := map[string]string{}
				for _, e := range list {
					named[e.Details["person_id"]] = e.Details["person"]
					if e.Action != step.want || e.ObjectID != app.ID || e.ObjectName != "App" || e.Details["reason"] != step.reason ||
						e.Actor != (store.Actor{Kind: store.ActorPerson, PersonID: dev.ID, PersonName: "Dev"}) {
						t.Errorf("%s: recorded %+v", step.want, e)
					}
				}
				for _, u := range people {
					if named[u.ID] != u.DisplayName() {
						t.Errorf("%s: the entries name %v, not %s", step.want, named, u.DisplayName())
					}
				}
			}
			hook, err := s.Webhook(ctx, space, hook.WebhookKey)
			if want := step.want != store.AuditGrantResumed; err != nil || (hook.Status == store.WebhookPaused) != want {
				t.Errorf("%s: the webhook is %s (%v)", step.want, hook.Status, err)
			}
		}
		if grants, err := s.Grants(ctx, ada.ID, store.LiveGrants{Now: now}); err != nil || len(grants) != 1 || grants[0].App.ID != other.ID {
			t.Errorf("Ada has the grants %+v (%v)", grants, err)
		}
	})
}

// An application that is disabled and enabled again before anybody looks leaves no entry; access
// that was being given while it was deleted ends; and deleting an account deletes its applications.
func TestAppChangesBesideOthers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		now := time.Now()
		ada, dev := addUser(t, s, "ada@example.com"), addUser(t, s, "dev@example.com")
		app, late := newApp(t, s, dev.ID), newApp(t, s, dev.ID)
		allow(t, s, ada.ID, app, store.GrantLimits{}, now)
		entries := func() []store.AuditEntry { return auditLog(t, s, ada.ID, store.AuditFilter{}) }
		before := len(entries())
		for _, disabled := range []bool{true, false} {
			if err := s.SetAppDisabled(ctx, dev.ID, app.ID, disabled, now); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RecordAppChanges(ctx, now); err != nil || len(entries()) != before {
			t.Errorf("recorded %+v (%v)", entries(), err)
		}

		if err := s.DeleteApp(ctx, dev.ID, late.ID, now); err != nil {
			t.Fatal(err)
		}
		if err := s.RecordAppChanges(ctx, now); err != nil || len(entries()) != before {
			t.Errorf("recorded %+v (%v)", entries(), err)
		}
		allow(t, s, ada.ID, late, store.GrantLimits{}, now) // as if its request had begun before
		if err := s.RecordAppChanges(ctx, now.Add(20*time.Second)); err != nil {
			t.Fatal(err)
		}
		if e := entries()[0]; e.Action != store.AuditGrantEnded || e.ObjectID != late.ID || len(entries()) != before+2 {
			t.Errorf("recorded %+v", entries())
		}

		if _, err := s.DeleteUser(ctx, dev.ID, now); err != nil {
			t.Fatal(err)
		}
		if err := s.RecordAppChanges(ctx, now); err != nil {
			t.Fatal(err)
		}
		if e := entries()[0]; e.Action != store.AuditGrantEnded || e.ObjectID != app.ID || e.ObjectName != "App" || e.Details["reason"] != store.AppDeletedReason || e.Actor.Kind != store.ActorService {
			t.Errorf("recorded %+v", e)
		}
	})
}
