package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Only a published form claims its custom link. After it is released, other accounts
// cannot claim it for 30 days.
func TestSlugsAreHeld(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner, other := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		slug := func(owner string, f form.Form, slug string, now time.Time) error {
			_, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(p *form.FormInput) error { p.Slug = slug; return nil }, now)
			return err
		}
		draft := func(owner string) form.Form {
			t.Helper()
			var d form.Definition
			d.Fields = append(d.Fields, &form.Field{Kind: "short_text", Label: "Name"})
			if err := d.Normalize(); err != nil {
				t.Fatal(err)
			}
			f, err := s.CreateForm(ctx, owner, form.Header{Title: "Party", Language: "en"}, &d, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		publish := func(owner string, f form.Form, now time.Time) error {
			_, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, now)
			return err
		}
		now := time.Now()
		othersForm, ownForm := draft(other), draft(owner)
		if err := slug(other, othersForm, "summer-party", now); err != nil {
			t.Fatal(err)
		}
		if err := slug(owner, ownForm, "summer-party", now); err != nil {
			t.Errorf("a draft blocks a link for other accounts: %v", err)
		}
		if err := publish(owner, ownForm, now); err != nil {
			t.Fatal(err)
		}
		if p, err := s.PublicForm(ctx, "summer-party"); err != nil || p.ID != ownForm.ID {
			t.Errorf("the link leads to %+v, %v", p, err)
		}
		if err := publish(other, othersForm, now); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("publishing with a taken link: %v", err)
		}
		if err := s.DeleteForm(ctx, owner, ownForm.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		if _, err := s.PublicForm(ctx, "summer-party"); fault.Wrap(err).Code != fault.NotFoundInAccount {
			t.Errorf("the link of a deleted form: %v", err)
		}
		if err := publish(other, othersForm, now.Add(29*24*time.Hour)); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("after 29 days: %v", err)
		}
		again := draft(owner)
		if err := slug(owner, again, "summer-party", now); err != nil {
			t.Errorf("its own account: %v", err)
		}
		if err := publish(owner, again, now); err != nil {
			t.Errorf("its own account: %v", err)
		}
		if _, err := s.DeleteUser(ctx, owner, now); err != nil {
			t.Fatal(err)
		}
		if err := publish(other, othersForm, now.Add(time.Hour)); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("an hour after the account was deleted: %v", err)
		}
		if err := publish(other, othersForm, now.Add(31*24*time.Hour)); err != nil {
			t.Errorf("after 31 days: %v", err)
		}
	})
}

// A draft claims no custom link, not even after it was deleted and restored; its page
// is found by ID.
func TestDraftsClaimNothing(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f, err := s.CreateForm(ctx, owner, form.Header{Title: "Party", Language: "en"}, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, slug := range []string{"first-link", "second-link"} {
			changed, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(p *form.FormInput) error { p.Slug = slug; return nil }, time.Now())
			if err != nil || changed.Address() != f.ID {
				t.Errorf("the address of a draft is %s, %v", changed.Address(), err)
			}
			if err := s.DeleteForm(ctx, owner, f.ID, 0, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.RestoreForm(ctx, owner, f.ID, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := s.Rows(ctx, 1, `SELECT address FROM form_address WHERE address <> form_id`)
		if err != nil || len(rows) != 0 {
			t.Errorf("a draft has claimed %v, %v", rows, err)
		}
	})
}

// Addresses that forms no longer have are removed from the cache.
func TestReleasedAddressesLeaveCache(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	owner := addUser(t, s, "ada@example.com").ID
	p := openForm(t, s, owner, small)
	for n := range 50 {
		slug := fmt.Sprintf("slug-%d", n)
		updateForm(t, s, owner, p.ID, func(f *form.FormInput) { f.Slug = slug })
		if _, err := s.PublicForm(ctx, slug); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			if _, err := s.PublicForm(ctx, fmt.Sprintf("slug-%d", n-1)); !errors.Is(err, fault.NotFound) {
				t.Errorf("a released address: %v", err)
			}
		}
	}
	if n := s.Addresses(); n != 2 { // its ID and its custom link
		t.Errorf("%d addresses are cached", n)
	}
}
