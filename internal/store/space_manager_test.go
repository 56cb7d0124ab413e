package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Whoever is no owner any more when a change is made cannot make it, although the page has checked
// the role before.
func TestChangesOfFormerOwners(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, eve, guest := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "eve@example.com"), addUser(t, s, "guest@example.com")
		space, now := addSpace(t, s, "Team", ada), time.Now()
		if err := s.SetMember(ctx, space, bob.ID, account.Viewer, now); err != nil {
			t.Fatal(err)
		}
		formID := mustForm(t, s, space, "Order")
		if err := s.ShareForm(ctx, space, formID, guest.ID, account.Viewer, now); err != nil {
			t.Fatal(err)
		}
		invitation := invite(t, s, store.Invitation{Space: space, Role: account.Viewer, InvitedBy: ada.ID})
		for name, c := range map[string]struct {
			person string
			want   fault.Code
		}{"removed": {eve.ID, fault.NotFoundInAccount}, "demoted": {bob.ID, fault.MissingRole}} {
			m := s.ManagedBy(c.person)
			for what, err := range map[string]error{
				"rename":   m.RenameSpace(ctx, space, "Eve's"),
				"promote":  m.SetMember(ctx, space, bob.ID, account.Owner, now),
				"remove":   m.RemoveMember(ctx, space, ada.ID, now),
				"share":    m.ShareForm(ctx, store.FormShare{Owner: space, FormID: formID, Person: eve.ID, Role: account.Editor}, now),
				"unshare":  m.EndShare(ctx, space, formID, guest.ID, now),
				"move":     m.StartMove(ctx, space, formID, c.person, now),
				"withdraw": m.WithdrawInvitation(ctx, space, invitation.ID),
				"delete":   func() error { _, err := m.DeleteSpace(ctx, space, now); return err }(),
			} {
				if got := fault.Wrap(err).Code; err == nil || got != c.want {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
		}
		if found, err := s.Space(ctx, space); err != nil || found.Name != "Team" {
			t.Errorf("the space: %+v, %v", found, err)
		}
		for person, want := range map[account.User]account.Role{ada: account.Owner, bob: account.Viewer, guest: account.Guest, eve: ""} {
			if got := roleOf(t, s, person, space); got != want {
				t.Errorf("%s is %q, want %q", person.Email, got, want)
			}
		}
		if err := s.ManagedBy(ada.ID).StartMove(ctx, space, formID, eve.ID, now); !errors.Is(err, fault.NotFound) {
			t.Errorf("move to a foreign space: %v", err)
		}
		// An owner changes roles, but does not add people: one who was removed meanwhile stays so.
		if err := s.ManagedBy(ada.ID).SetMember(ctx, space, eve.ID, account.Editor, now); !errors.Is(err, fault.NotFound) {
			t.Errorf("the role of somebody who is no member: %v", err)
		}
		if err := s.ManagedBy(ada.ID).SetMember(ctx, space, bob.ID, account.Editor, now); err != nil {
			t.Error(err)
		}
	})
}

// Two owners who remove each other at the same time do not both succeed, also if a third one stays.
func TestTwoOfThreeOwnersRemoveEachOther(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, cy := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "cy@example.com")
		for range 5 {
			space := addSpace(t, s, "Team", ada)
			for _, owner := range []account.User{bob, cy} {
				if err := s.SetMember(ctx, space, owner.ID, account.Owner, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			errs := make([]error, 2)
			var wait sync.WaitGroup
			wait.Go(func() { errs[0] = s.ManagedBy(ada.ID).RemoveMember(ctx, space, bob.ID, time.Now()) })
			wait.Go(func() { errs[1] = s.ManagedBy(bob.ID).RemoveMember(ctx, space, ada.ID, time.Now()) })
			wait.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("removing each other: %v, %v", errs[0], errs[1])
			}
		}
	})
}

// A space is an account too, but no member: as an owner of itself, it would let the last person go.
func TestSpaceIsNoMemberOfItself(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		for _, m := range []store.Manager{s.ManagedBy(ada.ID), s.ManagedBy("")} {
			if err := m.SetMember(ctx, space, space, account.Owner, time.Now()); !errors.Is(err, fault.NotFound) {
				t.Errorf("the space joins itself: %v", err)
			}
		}
		if err := s.RemoveMember(ctx, space, ada.ID, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("the last owner leaves: %v", err)
		}
	})
}

// A guest who keeps another form gets nothing more from the one that is no longer shared.
func TestEndOfOneOfTwoShares(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, now := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), time.Now()
		p, other := openForm(t, s, ada.ID, small), openForm(t, s, ada.ID, small)
		for _, f := range []*store.PublicForm{p, other} {
			if err := s.ShareForm(ctx, ada.ID, f.ID, bob.ID, account.Editor, now); err != nil {
				t.Fatal(err)
			}
			n := notify(t, s, f, store.NotifyEach, bob.Email)
			if err := s.ConfirmRecipient(ctx, store.LinkOf(ada.ID, f.ID, n.Recipients[0]).String(), now); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.EndShare(ctx, ada.ID, p.ID, bob.ID, now); err != nil {
			t.Fatal(err)
		}
		for formID, want := range map[string]int{p.ID: 0, other.ID: 1} {
			if n, err := s.Notifications(ctx, ada.ID, formID); err != nil || len(n.Recipients) != want {
				t.Errorf("%d recipients, want %d (%v)", len(n.Recipients), want, err)
			}
		}
	})
}

// An application keeps no webhook where the role of its user does not allow one any more, and a
// request that was authorized before adds none.
func TestWebhooksEndWithTheRole(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, now := addUser(t, s, "ada@example.com"), time.Now()
		app := newApp(t, s, ada.ID)
		type fixture struct{ space, form, other, bob string }
		share := func(x fixture, formID string, role account.Role) error {
			return s.ShareForm(ctx, x.space, formID, x.bob, role, now)
		}
		member := func(x fixture) error { return s.SetMember(ctx, x.space, x.bob, account.Editor, now) }
		guest := func(x fixture) error {
			return errors.Join(share(x, x.form, account.Editor), share(x, x.other, account.Editor))
		}
		for name, c := range map[string]struct {
			begin, end func(fixture) error
			want       store.WebhookStatus
		}{
			"viewer":        {member, func(x fixture) error { return s.SetMember(ctx, x.space, x.bob, account.Viewer, now) }, "paused"},
			"owner":         {member, func(x fixture) error { return s.SetMember(ctx, x.space, x.bob, account.Owner, now) }, "active"},
			"removed":       {member, func(x fixture) error { return s.RemoveMember(ctx, x.space, x.bob, now) }, "paused"},
			"unshared":      {guest, func(x fixture) error { return s.EndShare(ctx, x.space, x.form, x.bob, now) }, "paused"},
			"other form":    {guest, func(x fixture) error { return s.EndShare(ctx, x.space, x.other, x.bob, now) }, "active"},
			"viewer of it":  {guest, func(x fixture) error { return share(x, x.form, account.Viewer) }, "paused"},
			"joins to view": {guest, func(x fixture) error { return s.SetMember(ctx, x.space, x.bob, account.Viewer, now) }, "paused"},
		} {
			x := fixture{space: addSpace(t, s, "Team", ada), bob: addUser(t, s, id.New("u", now)+"@example.com").ID}
			x.form, x.other = mustForm(t, s, x.space, "One"), mustForm(t, s, x.space, "Two")
			if err := c.begin(x); err != nil {
				t.Fatal(err)
			}
			access, _ := allow(t, s, x.bob, app, store.GrantLimits{Space: x.space}, now)
			token, err := s.AccessToken(ctx, access)
			if err != nil {
				t.Fatal(err)
			}
			add := func() (store.Webhook, error) {
				w, _, err := s.AddWebhook(ctx, x.space, store.Webhook{
					WebhookKey: store.WebhookKey{FormID: x.form, ID: id.New(id.Webhook, time.Now())}, URL: "https://example.com/", Secret: "sealed",
					Events: store.EventKinds, Status: store.WebhookActive, AppID: app.ID, GrantID: token.GrantID, PersonID: x.bob,
				}, store.IdempotencyKey{}, now)
				return w, err
			}
			w, err := add()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.end(x); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := s.Webhook(ctx, x.space, w.WebhookKey); err != nil || got.Status != c.want {
				t.Errorf("%s: it is %s, want %s (%v)", name, got.Status, c.want, err)
			}
			if _, err := add(); (err == nil) != (c.want == "active") || err != nil && !errors.Is(err, fault.NotFound) {
				t.Errorf("%s: another one: %v", name, err)
			}
			resume := func(w *store.Webhook) error { w.Status = store.WebhookActive; return nil }
			change := store.WebhookChange{AppID: app.ID, GrantID: token.GrantID, PersonID: x.bob, Apply: resume}
			if _, err := s.UpdateWebhook(ctx, x.space, w.WebhookKey, change, now); (err == nil) != (c.want == "active") {
				t.Errorf("%s: resumed: %v", name, err)
			}
		}
	})
}

// A space that cannot be deleted now keeps its members.
func TestRefusedDeletionKeepsMembers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space, now := addSpace(t, s, "Team", ada), time.Now()
		if err := s.SetMember(ctx, space, bob.ID, account.Owner, now); err != nil {
			t.Fatal(err)
		}
		if err := s.StartMove(ctx, space, mustForm(t, s, space, "Order"), ada.ID, now); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ManagedBy(bob.ID).DeleteSpace(ctx, space, now); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("deleted during a move: %v", err)
		}
		for _, owner := range []account.User{ada, bob} {
			if got := roleOf(t, s, owner, space); got != account.Owner {
				t.Errorf("%s is %q", owner.Email, got)
			}
		}
	})
}
