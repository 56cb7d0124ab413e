package store_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Guests of a person who is deleted lose access, however many they are. If the person cannot be
// deleted, nobody does.
func TestDeleteUserWithGuests(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space := addSpace(t, s, "Team", ada)
		p := openForm(t, s, ada.ID, small)
		var guests []account.User
		for i := range 2*store.MemberBatch + 3 {
			guest := addUser(t, s, fmt.Sprintf("guest%d@example.com", i))
			if err := s.ShareForm(ctx, ada.ID, p.ID, guest.ID, account.Viewer, time.Now()); err != nil {
				t.Fatal(err)
			}
			guests = append(guests, guest)
		}
		check := func(when string, want account.Role) {
			t.Helper()
			for _, guest := range guests {
				if got := roleOf(t, s, guest, ada.ID); got != want {
					t.Fatalf("%s: %s is %q, want %q", when, guest.Email, got, want)
				}
			}
		}
		if _, err := s.DeleteUser(ctx, ada.ID, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Fatalf("the last owner of a space: %v", err)
		}
		check("the last owner of a space", account.Guest)
		if err := s.SetMember(ctx, space, bob.ID, account.Owner, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.StartMove(ctx, ada.ID, p.ID, space, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DeleteUser(ctx, ada.ID, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Fatalf("during a move: %v", err)
		}
		check("during a move", account.Guest)
		if _, err := s.DeleteSpace(ctx, space, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Fatalf("delete the space during a move: %v", err)
		}
		if got := roleOf(t, s, bob, space); got != account.Owner {
			t.Errorf("bob is %q of a space that was not deleted", got)
		}
		// The form is deleted, so the move ends.
		if err := s.DeleteForm(ctx, ada.ID, p.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.ContinueMoves(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DeleteUser(ctx, ada.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		check("deleted", "")
	})
}
