package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Each test here runs two operations at the same time.

// A form that is restored while the trash is emptied is either complete or deleted.
func TestRestoreDuringCleanup(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		const forms, responses = 12, 40
		var all []*store.PublicForm
		for range forms {
			p := openForm(t, s, owner, small)
			for i := range responses {
				if _, err := submit(s, p, i); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.DeleteForm(ctx, owner, p.ID, 0, now.Add(-2*time.Hour)); err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		var group sync.WaitGroup
		group.Go(func() {
			if err := s.Cleanup(ctx, now, 1000*time.Hour); err != nil {
				t.Error(err)
			}
		})
		restored := map[string]bool{}
		for i := range all {
			p := all[len(all)-1-i]
			_, err := s.RestoreForm(ctx, owner, p.ID, time.Now())
			if restored[p.ID] = err == nil; err != nil && !errors.Is(err, fault.NotFound) {
				t.Error(err)
			}
		}
		group.Wait()
		for _, p := range all {
			list, total, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{}, store.Page{Limit: responses})
			if restored[p.ID] && (err != nil || total != responses || len(list) != responses) {
				t.Errorf("a restored form has %d of its %d responses (%v)", len(list), total, err)
			}
			if !restored[p.ID] && !errors.Is(err, fault.NotFound) {
				t.Errorf("a form is neither restored nor deleted: %v", err)
			}
		}
		if deleted, err := s.DeletedForms(ctx, owner); err != nil || len(deleted) != 0 {
			t.Errorf("%d deleted forms are left (%v)", len(deleted), err)
		}
	})
}

// Deleting an account deletes everything, including what is stored at the same time.
func TestDeleteUserDuringSubmissions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		for n := range 5 {
			owner := addUser(t, s, fmt.Sprintf("ada%d@example.com", n)).ID
			p := openForm(t, s, owner, small)
			stored := make(chan bool, 1000)
			var senders sync.WaitGroup
			for range 4 {
				senders.Go(func() {
					for i := 0; ; i++ {
						if _, err := submit(s, p, i); err != nil {
							return
						}
						select {
						case stored <- true:
						default:
						}
					}
				})
			}
			for range 20 {
				<-stored
			}
			if _, err := s.DeleteUser(ctx, owner, time.Now()); err != nil {
				t.Fatal(err)
			}
			senders.Wait()
			for _, table := range []string{"response", "form_version", "form_summary", "idempotency"} {
				rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM `+table+` WHERE account_id = $1`, owner)
				if err != nil || rows[0][0] != "0" {
					t.Errorf("%v rows of %s are left after the account was deleted (%v)", rows, table, err)
				}
			}
		}
	})
}

func rename(t *testing.T, s *store.Store, owner, id, title string) form.Form {
	t.Helper()
	return updateForm(t, s, owner, id, func(f *form.FormInput) { f.Title = title })
}

func updateForm(t *testing.T, s *store.Store, owner, id string, change func(*form.FormInput)) form.Form {
	t.Helper()
	f, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: id}, func(f *form.FormInput) error { change(f); return nil }, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Concurrent requests with the same idempotency key get the same result.
func TestPublishOnce(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		for n := range 10 {
			f := openForm(t, s, owner, small)
			rename(t, s, owner, f.ID, fmt.Sprintf("Order %d", n)) // without a change there is nothing to publish
			var group sync.WaitGroup
			var got [4]form.Form
			for i := range got {
				group.Go(func() {
					var err error
					if got[i], err = s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{App: "app", Key: fmt.Sprint(n), Hash: "h"}, time.Now()); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			for _, f := range got {
				if f.Version != 2 || f != got[0] {
					t.Fatalf("results of the same publication differ: %+v and %+v", got[0], f)
				}
			}
		}
	})
}

// A restored response counts against the response limit, and closes the form if it
// reaches it.
func TestRestoreReachesResponseLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		p := openForm(t, s, owner, `{"fields": [{"key": "c", "kind": "single_choice", "options": [{"value": "a", "cap": 1}, {"value": "b"}]}]}`)
		choose := func(value string) (form.Response, error) {
			var err error
			if p, err = s.PublicForm(ctx, p.ID); err != nil {
				t.Fatal(err)
			}
			return s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"c": value}, At: time.Now()})
		}
		updateForm(t, s, owner, p.ID, func(f *form.FormInput) { f.ResponseLimit = 2 })
		first, err := choose("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, []string{first.ID}, now); err != nil {
			t.Fatal(err)
		}
		if _, err := choose("a"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.RestoreResponses(ctx, owner, p.ID, []string{first.ID}, now); err != nil || n != 1 {
			t.Fatalf("restored %d (%v)", n, err)
		}
		f, err := s.Form(ctx, owner, p.ID)
		if err != nil || f.Status != form.Closed || f.ResponseCount != 2 {
			t.Errorf("a full form is %s with %d responses (%v)", f.Status, f.ResponseCount, err)
		}
		if p, err = s.PublicForm(ctx, p.ID); err != nil || p.IsOpenAt(time.Now()) {
			t.Errorf("respondents see the status %s (%v)", p.Status, err)
		}
	})
}

func TestCloseManyExpiredForms(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		for range 130 {
			p := openForm(t, s, owner, small)
			updateForm(t, s, owner, p.ID, func(f *form.FormInput) { f.ClosesAt = now.Add(time.Minute) })
		}
		if err := s.CloseExpiredForms(ctx, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, total, err := s.Forms(ctx, owner, store.FormFilter{Status: "open"}, store.NewestFirst, store.Page{Limit: 20}); err != nil || total != 0 {
			t.Errorf("%d forms are still open (%v)", total, err)
		}
	})
}
