package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func addSpace(t *testing.T, s *store.Store, name string, owner account.User) string {
	t.Helper()
	space := store.Space{Key: id.New(id.User, time.Now()), Name: name}
	if err := s.AddSpace(ctx, space, owner, time.Now()); err != nil {
		t.Fatal(err)
	}
	return space.Key
}

func mustForm(t *testing.T, s *store.Store, owner, title string) string {
	t.Helper()
	f, err := s.CreateForm(ctx, owner, form.Header{Title: title, Language: "en"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// roleOf returns the role of a person in a space; empty: none.
func roleOf(t *testing.T, s *store.Store, person account.User, space string) account.Role {
	t.Helper()
	access, err := s.Access(ctx, person.ID, space)
	if errors.Is(err, fault.NotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return access.Role
}

func TestMembers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space := addSpace(t, s, "Team", ada)
		now := time.Now()
		if got := roleOf(t, s, ada, ada.ID); got != account.Owner {
			t.Errorf("ada is %q in her own space", got)
		}
		if got := roleOf(t, s, bob, space); got != "" {
			t.Errorf("bob is %q before he is a member", got)
		}
		if users, err := s.Users(ctx); err != nil || len(users) != 2 {
			t.Errorf("a space is among the users: %v, %v", users, err)
		}
		if err := s.SetMember(ctx, space, bob.ID, account.Viewer, now); err != nil {
			t.Fatal(err)
		}
		if got := roleOf(t, s, bob, space); got != account.Viewer {
			t.Errorf("bob is %q", got)
		}
		list, total, err := s.Members(ctx, space, store.Page{Limit: 10})
		if err != nil || total != 2 || len(list) != 2 || list[1].Email != bob.Email || list[1].Role != account.Viewer {
			t.Errorf("members: %v of %d, %v", list, total, err)
		}
		spaces, err := s.Spaces(ctx, bob.ID)
		if err != nil || len(spaces) != 1 || spaces[0].Name != "Team" || spaces[0].Role != account.Viewer || !strings.HasPrefix(spaces[0].ID(), "spc_") {
			t.Errorf("spaces of bob: %v, %v", spaces, err)
		}
		// The last owner stays, by whatever way they would leave.
		for what, err := range map[string]error{
			"removed": s.RemoveMember(ctx, space, ada.ID, now),
			"demoted": s.SetMember(ctx, space, ada.ID, account.Editor, now),
			"deleted": func() error { _, err := s.DeleteUser(ctx, ada.ID, now); return err }(),
		} {
			if fault.Wrap(err).Code != fault.Conflict || !strings.Contains(err.Error(), "Team") {
				t.Errorf("the last owner is %s: %v", what, err)
			}
		}
		if err := s.SetMember(ctx, space, bob.ID, account.Owner, now); err != nil {
			t.Fatal(err)
		}
		if err := s.RemoveMember(ctx, space, ada.ID, now); err != nil {
			t.Fatal(err)
		}
		if got := roleOf(t, s, ada, space); got != "" {
			t.Errorf("ada is %q after she was removed", got)
		}
		if _, err := s.DeleteUser(ctx, ada.ID, now); err != nil {
			t.Errorf("delete ada: %v", err)
		}
		mustForm(t, s, space, "Kept")
		if _, err := s.DeleteSpace(ctx, bob.ID, now); !errors.Is(err, fault.NotFound) {
			t.Errorf("a person's own space is deleted: %v", err)
		}
		if _, err := s.DeleteSpace(ctx, space, now); err != nil {
			t.Fatal(err)
		}
		if got := roleOf(t, s, bob, space); got != "" {
			t.Errorf("bob is %q in a deleted space", got)
		}
		for _, table := range []string{"space_member", "membership", "form"} {
			if n := tableRows(t, s, table); n != "0" {
				t.Errorf("%s has %s rows", table, n)
			}
		}
	})
}

// Of two owners who remove each other at the same time, on two nodes, one stays.
func TestOwnersRemoveEachOther(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		nodes := []*store.Store{s, storetest.Open(t, storage)}
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		for range 5 {
			space := addSpace(t, s, "Team", ada)
			if err := s.SetMember(ctx, space, bob.ID, account.Owner, time.Now()); err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			errs := make([]error, 2)
			for i, other := range []account.User{ada, bob} {
				wait.Go(func() { errs[i] = nodes[i].RemoveMember(ctx, space, other.ID, time.Now()) })
			}
			wait.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("removing both: %v, %v", errs[0], errs[1])
			}
			if _, total, err := s.Members(ctx, space, store.Page{Limit: 10}); err != nil || total != 1 {
				t.Fatalf("%d members are left, %v", total, err)
			}
			if left := (roleOf(t, s, ada, space) != "") != (roleOf(t, s, bob, space) != ""); !left {
				t.Fatal("both sides of a membership differ")
			}
		}
	})
}

func TestShareForm(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		now := time.Now()
		shared, other := mustForm(t, s, ada.ID, "Shared"), mustForm(t, s, ada.ID, "Private")
		if err := s.ShareForm(ctx, ada.ID, shared, bob.ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		access, err := s.Access(ctx, bob.ID, ada.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			needed account.Scope
			form   string
			want   fault.Code
		}{
			{account.FormsWrite, shared, 0},
			{account.ResponsesWrite, shared, 0},
			{account.SpaceManage, shared, fault.MissingRole},
			{account.FormsRead, other, fault.NotFoundInAccount},
			{account.FormsRead, "", 0},
			{account.FormsWrite, "", fault.MissingRole},
			{account.ResponsesRead, "", fault.MissingRole},
		} {
			var got fault.Code
			if err := access.Check(c.needed, c.form); err != nil {
				got = fault.Wrap(err).Code
			}
			if got != c.want {
				t.Errorf("%s of %q: %d, want %d", c.needed, c.form, got, c.want)
			}
		}
		for search, want := range map[string]int64{"": 1, "share": 1, "private": 0} {
			list, total, err := s.Forms(ctx, ada.ID, store.FormFilter{Only: access.FormList, Search: search}, store.NewestFirst, store.Page{Limit: 10})
			if err != nil || total != want || int64(len(list)) != want {
				t.Errorf("search %q: %d of %d forms, %v", search, len(list), total, err)
			}
		}
		if err := s.EndShare(ctx, ada.ID, shared, bob.ID, now); err != nil {
			t.Fatal(err)
		}
		if got := roleOf(t, s, bob, ada.ID); got != "" {
			t.Errorf("bob is %q after the last share ended", got)
		}
		// A member needs no share.
		space := addSpace(t, s, "Team", ada)
		third := mustForm(t, s, space, "Third")
		if err := s.ShareForm(ctx, space, third, bob.ID, account.Viewer, now); err != nil {
			t.Fatal(err)
		}
		if err := s.SetMember(ctx, space, bob.ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		if list, err := s.FormShares(ctx, space, third); err != nil || len(list) != 0 {
			t.Errorf("a member has shares: %v, %v", list, err)
		}
		if err := s.ShareForm(ctx, space, third, bob.ID, account.Viewer, now); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("a form is shared with a member: %v", err)
		}
	})
}
