package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// invite returns the secret of an invitation; to is an email address or empty.
func invite(t *testing.T, s *store.Store, i store.Invitation) account.Secret {
	t.Helper()
	now := time.Now()
	secret := account.NewSecret(account.InvitationKey, i.Space, now)
	if err := s.Invite(ctx, store.NewInvitation{Invitation: i, Secret: secret}, now); err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestInvitations(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, eve := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "eve@example.com")
		space := addSpace(t, s, "Team", ada)
		now := time.Now()
		mailed := store.Invitation{Space: space, Email: "Bob@example.com", Role: account.Editor, InvitedBy: ada.ID}
		first := invite(t, s, mailed)
		second := invite(t, s, mailed)
		if _, err := s.CheckInvitation(ctx, first.Text, now); !errors.Is(err, store.ErrInvitation) {
			t.Errorf("an invitation that another one replaced: %v", err)
		}
		if list, err := s.Invitations(ctx, space, ""); err != nil || len(list) != 1 || list[0].Email != mailed.Email || list[0].Role != account.Editor {
			t.Errorf("invitations: %v, %v", list, err)
		}
		if _, err := s.AcceptInvitation(ctx, second.Text, eve, now); !errors.Is(err, store.ErrOtherRecipient) {
			t.Errorf("eve accepts the invitation of bob: %v", err)
		}
		if _, err := s.AcceptInvitation(ctx, second.Text, bob, now.Add(store.InvitationTTL+time.Minute)); !errors.Is(err, store.ErrInvitation) {
			t.Errorf("an expired invitation: %v", err)
		}
		if _, err := s.AcceptInvitation(ctx, second.Text, bob, now); err != nil {
			t.Fatal(err)
		}
		if got := roleOf(t, s, bob, space); got != account.Editor {
			t.Errorf("bob is %q", got)
		}
		if _, err := s.AcceptInvitation(ctx, second.Text, bob, now); !errors.Is(err, store.ErrInvitation) {
			t.Errorf("an invitation is accepted twice: %v", err)
		}
		secret := account.NewSecret(account.InvitationKey, space, now)
		if err := s.Invite(ctx, store.NewInvitation{Invitation: mailed, Secret: secret}, now); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("a member is invited: %v", err)
		}
		// A member cannot use up a link.
		link := invite(t, s, store.Invitation{Space: space, Role: account.Viewer, InvitedBy: ada.ID})
		if _, err := s.AcceptInvitation(ctx, link.Text, bob, now); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("a member accepts an invitation: %v", err)
		}
		if _, err := s.CheckInvitation(ctx, link.Text, now); err != nil {
			t.Errorf("a link that a member tried: %v", err)
		}
		if err := s.WithdrawInvitation(ctx, space, link.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AcceptInvitation(ctx, link.Text, eve, now); !errors.Is(err, store.ErrInvitation) {
			t.Errorf("a withdrawn invitation: %v", err)
		}
	})
}

// An owner who is removed or demoted cannot come back with an invitation that they have kept.
func TestInvitationsOfFormerOwners(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, eve := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "eve@example.com")
		for name, end := range map[string]func(space string) error{
			"removed": func(space string) error { return s.RemoveMember(ctx, space, bob.ID, time.Now()) },
			"demoted": func(space string) error { return s.SetMember(ctx, space, bob.ID, account.Viewer, time.Now()) },
		} {
			space := addSpace(t, s, "Team", ada)
			if err := s.SetMember(ctx, space, bob.ID, account.Owner, time.Now()); err != nil {
				t.Fatal(err)
			}
			kept := invite(t, s, store.Invitation{Space: space, Role: account.Owner, InvitedBy: bob.ID})
			other := invite(t, s, store.Invitation{Space: space, Role: account.Viewer, InvitedBy: ada.ID})
			if err := end(space); err != nil {
				t.Fatal(err)
			}
			late := store.NewInvitation{Invitation: store.Invitation{Space: space, Role: account.Owner, InvitedBy: bob.ID}, Secret: account.NewSecret(account.InvitationKey, space, time.Now())}
			if err := s.Invite(ctx, late, time.Now()); err == nil {
				t.Errorf("%s, and invites", name)
			}
			if _, err := s.AcceptInvitation(ctx, kept.Text, eve, time.Now()); !errors.Is(err, store.ErrInvitation) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.AcceptInvitation(ctx, other.Text, eve, time.Now()); err != nil {
				t.Errorf("%s: the invitation of another owner: %v", name, err)
			}
		}
	})
}

// Of several people who accept an invitation at the same time, on two nodes, one does.
func TestInvitationAcceptedTwice(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		nodes := []*store.Store{s, storetest.Open(t, storage)}
		ada := addUser(t, s, "ada@example.com")
		people := make([]account.User, 4)
		for i := range people {
			people[i] = addUser(t, s, fmt.Sprintf("p%d@example.com", i))
		}
		space := addSpace(t, s, "Team", ada)
		link := invite(t, s, store.Invitation{Space: space, Role: account.Viewer, InvitedBy: ada.ID})
		var wait sync.WaitGroup
		errs := make([]error, len(people))
		for i, person := range people {
			wait.Go(func() { _, errs[i] = nodes[i%2].AcceptInvitation(ctx, link.Text, person, time.Now()) })
		}
		wait.Wait()
		accepted := 0
		for i, err := range errs {
			switch role := roleOf(t, s, people[i], space); {
			case err == nil && role == account.Viewer:
				accepted++
			case !errors.Is(err, store.ErrInvitation) || role != "":
				t.Errorf("%s is %q: %v", people[i].Email, role, err)
			}
		}
		if accepted != 1 {
			t.Errorf("%d people accepted the invitation", accepted)
		}
		// The same person, twice.
		person := addUser(t, s, "twice@example.com")
		link = invite(t, s, store.Invitation{Space: space, Role: account.Editor, InvitedBy: ada.ID})
		for i := range 2 {
			wait.Go(func() { _, errs[i] = nodes[i].AcceptInvitation(ctx, link.Text, person, time.Now()) })
		}
		wait.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || roleOf(t, s, person, space) != account.Editor {
			t.Errorf("accepted twice: %v, %v", errs[0], errs[1])
		}
		if _, total, err := s.Members(ctx, space, store.Page{Limit: 10}); err != nil || total != 3 {
			t.Errorf("%d members, %v", total, err)
		}
	})
}

func TestInvitationToForm(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		formID := mustForm(t, s, ada.ID, "Shared")
		i := store.Invitation{Space: ada.ID, FormID: formID, Email: bob.Email, Role: account.Editor, InvitedBy: ada.ID}
		if _, err := s.AcceptInvitation(ctx, invite(t, s, i).Text, bob, time.Now()); err != nil {
			t.Fatal(err)
		}
		access, err := s.Access(ctx, bob.ID, ada.ID)
		if err != nil || access.Forms[formID] != account.Editor {
			t.Errorf("access of bob: %v, %v", access, err)
		}
		// A person's own space has no members, only people with forms.
		secret := account.NewSecret(account.InvitationKey, ada.ID, time.Now())
		whole := store.Invitation{Space: ada.ID, Email: "eve@example.com", Role: account.Editor, InvitedBy: ada.ID}
		if err := s.Invite(ctx, store.NewInvitation{Invitation: whole, Secret: secret}, time.Now()); !errors.Is(err, fault.NotFound) {
			t.Errorf("an invitation to a person's own space: %v", err)
		}
	})
}

func TestInvitationLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		now := time.Now()
		add := func(at time.Time) error {
			i := store.Invitation{Space: space, Role: account.Viewer, InvitedBy: ada.ID}
			return s.Invite(ctx, store.NewInvitation{Invitation: i, Secret: account.NewSecret(account.InvitationKey, space, at)}, at)
		}
		for range store.MaxInvitations {
			if err := add(now); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(now); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("one too many: %v", err)
		}
		if err := add(now.Add(store.InvitationTTL)); err != nil {
			t.Errorf("after the others have expired: %v", err)
		}
		if err := s.Cleanup(ctx, now.Add(2*store.InvitationTTL+time.Minute), 90*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := tableRows(t, s, "invitation"); n != "1" {
			t.Errorf("%s invitations are left", n)
		}
	})
}

// Deleting a space with many members removes them in batches.
func TestDeleteSpaceWithManyMembers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		formID := mustForm(t, s, space, "Shared")
		for i := range 120 {
			person := addUser(t, s, fmt.Sprintf("p%d@example.com", i))
			var err error
			if i%2 == 0 {
				err = s.SetMember(ctx, space, person.ID, account.Owner, time.Now())
			} else {
				err = s.ShareForm(ctx, space, formID, person.ID, account.Viewer, time.Now())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.DeleteSpace(ctx, space, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"space_member", "membership", "form_share", "membership_form"} {
			if n := tableRows(t, s, table); n != "0" {
				t.Errorf("%s has %s rows", table, n)
			}
		}
	})
}

// All owners of a shared space get the mails about it, if their address is confirmed.
func TestMailsToOwners(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, eve := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "eve@example.com")
		space := addSpace(t, s, "Team", ada)
		for person, role := range map[string]account.Role{bob.ID: account.Owner, eve.ID: account.Editor} {
			if err := s.SetMember(ctx, space, person, role, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.VerifyEmail(ctx, bob, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.AddOwnerMail(ctx, space, store.Mail{Kind: store.MailStorageFull, Data: "{}"}); err != nil {
			t.Fatal(err)
		}
		list, err := s.DueMails(ctx, space, time.Now(), 10)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, m := range list {
			got[m.Recipient] = true
		}
		if len(list) != 2 || !got[ada.Email] || !got[bob.Email] {
			t.Errorf("mails to %v", got)
		}
	})
}

// The confirmed address of a member needs no other confirmation, until they leave.
func TestNotificationsOfMembers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob, eve := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com"), addUser(t, s, "eve@example.com")
		space := addSpace(t, s, "Team", ada)
		if err := s.SetMember(ctx, space, bob.ID, account.Viewer, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, person := range []account.User{bob, eve} {
			if err := s.VerifyEmail(ctx, person, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		formID := mustForm(t, s, space, "Survey")
		receives := func() string {
			n, err := s.Notifications(ctx, space, formID)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, r := range n.Recipients {
				if r.Receives() {
					list = append(list, r.Email)
				}
			}
			return strings.Join(list, " ")
		}
		if _, err := s.SetNotifications(ctx, space, formID, store.NotificationChange{When: store.NotifyEach, To: []string{bob.Email, eve.Email}, Confirm: confirmation}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := receives(); got != bob.Email {
			t.Errorf("notified: %s", got)
		}
		if err := s.RemoveMember(ctx, space, bob.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := receives(); got != "" {
			t.Errorf("notified after bob was removed: %s", got)
		}
	})
}
