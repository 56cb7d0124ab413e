package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// checkPublished checks that version 1 is open, and the revision of the form.
func checkPublished(t *testing.T, name string, f form.Form, revision int64) {
	t.Helper()
	if f.Version != 1 || f.Status != form.Open || f.Revision != revision {
		t.Fatalf("%s: %+v, want revision %d", name, f, revision)
	}
}

// Publishing an unchanged draft creates no new version, but opens a closed form.
func TestPublishUnchanged(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		first := getForm(t, s, owner, openForm(t, s, owner, small).ID)
		again, err := s.Publish(ctx, owner, store.FormRevision{ID: first.ID}, store.IdempotencyKey{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		checkPublished(t, "published again", again, first.Revision)
		closed, err := s.CloseForm(ctx, owner, first.ID, 0, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		reopened, err := s.Publish(ctx, owner, store.FormRevision{ID: first.ID, Revision: closed.Revision}, store.IdempotencyKey{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		checkPublished(t, "published while closed", reopened, closed.Revision+1)
		if _, total, err := s.Forms(ctx, owner, store.FormFilter{Status: "open"}, store.NewestFirst, store.Page{Limit: 10}); err != nil || total != 1 {
			t.Errorf("%d forms count as open, %v", total, err)
		}
		rename(t, s, owner, first.ID, "Another title")
		changed, err := s.Publish(ctx, owner, store.FormRevision{ID: first.ID}, store.IdempotencyKey{}, time.Now())
		if err != nil || changed.Version != 2 {
			t.Errorf("published with another title: %+v, %v", changed, err)
		}
	})
}

func getForm(t *testing.T, s *store.Store, owner, id string) form.Form {
	t.Helper()
	f, err := s.Form(ctx, owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Invalid changes and empty changes keep the revision. A change for an old revision is
// rejected before it is computed.
func TestInvalidChange(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := getForm(t, s, owner, openForm(t, s, owner, small).ID)
		refusal := errors.New("refused")
		if _, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(*form.FormInput) error { return refusal }, time.Now()); !errors.Is(err, refusal) {
			t.Errorf("invalid change: %v", err)
		}
		same, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID, Revision: f.Revision}, func(*form.FormInput) error { return nil }, time.Now())
		if err != nil || same.Revision != f.Revision || !same.UpdatedAt.Equal(f.UpdatedAt) {
			t.Errorf("empty change: %+v, %v", same, err)
		}
		moved := rename(t, s, owner, f.ID, "Moved")
		if moved.Revision != f.Revision+1 {
			t.Errorf("revision %d became %d", f.Revision, moved.Revision)
		}
		_, err = s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID, Revision: f.Revision}, func(*form.FormInput) error {
			t.Error("a change of an old revision was computed")
			return nil
		}, time.Now())
		if fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("old revision: %v", err)
		}
	})
}

// Computing a change takes no lock: another request can write at the same time, and the
// change is computed again from its result.
func TestChangeRunsOutsideTransaction(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		runs := 0
		changed, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(p *form.FormInput) error {
			if runs++; runs == 1 {
				// If this change held the writer, this would wait forever.
				rename(t, s, owner, f.ID, "Theirs")
			}
			p.Title += " and ours"
			return nil
		}, time.Now())
		if err != nil || runs != 2 || changed.Title != "Theirs and ours" {
			t.Errorf("after %d runs the title is %q, %v", runs, changed.Title, err)
		}
		_, err = s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID}, func(p *form.FormInput) error {
			p.Title = strings.Repeat("x", 10) + rename(t, s, owner, f.ID, time.Now().String()).Title
			return nil
		}, time.Now())
		if fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("a form that changes all the time: %v", err)
		}
	})
}
