package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Deleted data is not visible anywhere, and is restored unchanged.
func TestRestoreDeleted(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner, other := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		now := time.Now()
		p := openForm(t, s, owner, small)
		updateForm(t, s, owner, p.ID, func(f *form.FormInput) { f.Slug = "mine" })
		openForm(t, s, owner, small)
		var ids []string
		for i := range 5 {
			r, err := submit(s, p, i)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		snapshot := func() string {
			list, total, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{}, store.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			sum, err := s.Summary(ctx, owner, p.ID)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal([]any{list, total, sum})
			return string(text)
		}
		original := snapshot()
		if n, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, ids[1:3], now); err != nil || n != 2 {
			t.Fatalf("%d deleted (%v)", n, err)
		}
		if _, err := s.Response(ctx, owner, p.ID, ids[1]); !errors.Is(err, fault.NotFound) {
			t.Errorf("a deleted response: %v", err)
		}
		if n, err := s.RestoreResponses(ctx, other, p.ID, ids, now); !errors.Is(err, fault.NotFound) {
			t.Errorf("another user restores %d (%v)", n, err)
		}
		if n, err := s.RestoreResponses(ctx, owner, p.ID, ids[1:3], now); err != nil || n != 2 || snapshot() != original {
			t.Errorf("restored %d (%v)\n%s\n%s", n, err, snapshot(), original)
		}
		if n, err := s.RestoreResponses(ctx, owner, p.ID, ids[1:3], now); err != nil || n != 0 {
			t.Errorf("restored twice: %d (%v)", n, err)
		}

		// Invalid IDs are ignored, and cause no database error.
		if n, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, []string{"\xff", "\x00", "", p.ID}, now); err != nil || n != 0 {
			t.Errorf("deleted %d that do not exist (%v)", n, err)
		}
		if n, err := s.RestoreResponses(ctx, owner, p.ID, []string{"\xff", "\x00", ""}, now); err != nil || n != 0 {
			t.Errorf("restored %d that do not exist (%v)", n, err)
		}
		if _, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, ids[:1], now); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"deleting": secondError(s.DeleteResponsesWithUndo(ctx, owner, "frm_\xff", ids, now)), "changing": secondError(s.UpdateResponse(ctx, owner, store.ResponseKey{FormID: p.ID + "\xff", ID: ids[1]}, nil, now)), "bringing back": secondError(s.RestoreResponses(ctx, owner, "\x00", ids, now)),
			"a form by bad text": secondError(s.RestoreForm(ctx, owner, "\xff", time.Now())), "a response as a form": secondError(s.RestoreForm(ctx, owner, ids[0], time.Now())),
		} {
			if !errors.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n, err := s.RestoreResponses(ctx, owner, p.ID, ids[:1], now); err != nil || n != 1 || snapshot() != original {
			t.Errorf("restored %d (%v)", n, err)
		}

		before, err := s.Form(ctx, owner, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteForm(ctx, owner, p.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"form": secondError(s.Form(ctx, owner, p.ID)), "page": secondError(s.PublicForm(ctx, p.ID)), "page by slug": secondError(s.PublicForm(ctx, "mine")),
			"response": secondError(s.Response(ctx, owner, p.ID, ids[0])), "summary": secondError(s.Summary(ctx, owner, p.ID)), "version": secondError(s.Version(ctx, owner, p.ID, 1)),
			"submission": secondError(submit(s, p, 9)), "change": secondError(s.UpdateForm(ctx, owner, store.FormRevision{ID: p.ID}, func(*form.FormInput) error { return nil }, now)),
			"restoring by another user": secondError(s.RestoreForm(ctx, other, p.ID, time.Now())),
		} {
			if code := fault.Wrap(err).Code; code != fault.NotFoundInAccount && code != fault.FormNotOpen {
				t.Errorf("%s of a deleted form: %v", what, err)
			}
		}
		if _, total, err := s.Forms(ctx, owner, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 10}); err != nil || total != 1 {
			t.Errorf("%d forms are left (%v)", total, err)
		}
		deleted, err := s.DeletedForms(ctx, owner)
		if err != nil || len(deleted) != 1 {
			t.Fatalf("deleted forms: %+v (%v)", deleted, err)
		}
		if deleted[0].ID != p.ID || deleted[0].Title != before.Title {
			t.Errorf("deleted form %s %q, want %s %q", deleted[0].ID, deleted[0].Title, p.ID, before.Title)
		}
		if others, err := s.DeletedForms(ctx, other); err != nil || len(others) != 0 {
			t.Errorf("deleted forms of another user: %v (%v)", others, err)
		}
		restored, err := s.RestoreForm(ctx, owner, p.ID, time.Now())
		before.Revision++ // deleting counts as a change
		if err != nil || restored != before || snapshot() != original {
			t.Errorf("restored %+v\nbefore   %+v (%v)", restored, before, err)
		}
		if _, err := s.PublicForm(ctx, "mine"); err != nil {
			t.Errorf("its slug: %v", err)
		}
		forms, total, err := s.Forms(ctx, owner, store.FormFilter{Status: "open"}, store.NewestFirst, store.Page{Limit: 10})
		if err != nil || total != 2 || len(forms) != 2 {
			t.Fatalf("%d forms, %v (%v)", total, forms, err)
		}
		if forms[1].ID != p.ID {
			t.Errorf("the second form is %s, want %s", forms[1].ID, p.ID)
		}

		// After the retention time it is deleted permanently, with everything that
		// belongs to it.
		if err := s.DeleteForm(ctx, owner, p.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now.Add(30*time.Minute), time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RestoreForm(ctx, owner, p.ID, time.Now()); err != nil {
			t.Errorf("too early: %v", err)
		}
		if err := s.DeleteForm(ctx, owner, p.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now.Add(2*time.Hour), 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RestoreForm(ctx, owner, p.ID, time.Now()); !errors.Is(err, fault.NotFound) {
			t.Errorf("after the cleanup: %v", err)
		}
		if list, err := s.ResponsesAfter(ctx, owner, p.ID, "", 10); err != nil || len(list) != 0 {
			t.Errorf("%d responses are left after their form was deleted (%v)", len(list), err)
		}
	})
}

func secondError[T any](_ T, err error) error { return err }

func TestRequestLog(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		for i := range 120 {
			s.LogRequest(owner, "app_x", store.RequestLogEntry{Method: "GET", Path: fmt.Sprint("/api/v1/", i), Status: 200, Took: time.Millisecond, RequestID: "r", At: now.Add(time.Duration(i) * time.Millisecond)})
			if i == 60 {
				if _, err := s.RecentRequests(ctx, owner, "app_x"); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.LogRequest(owner, "app_y", store.RequestLogEntry{Method: "GET", Path: "/", Status: 403, At: now})
		calls, err := s.RecentRequests(ctx, owner, "app_x")
		if err != nil || len(calls) != 50 {
			t.Fatalf("%d requests (%v)", len(calls), err)
		}
		if calls[0].Path != "/api/v1/119" || calls[49].Path != "/api/v1/70" || calls[0].Took != time.Millisecond {
			t.Errorf("from %+v to %+v", calls[0], calls[49])
		}
		if calls, err := s.RecentRequests(ctx, "usr_other", "app_x"); err != nil || len(calls) != 0 {
			t.Errorf("another user sees %d requests (%v)", len(calls), err)
		}
		// Close stores the last logged requests.
		s.LogRequest(owner, "app_y", store.RequestLogEntry{Method: "POST", Path: "/last", Status: 201, At: now.Add(time.Second)})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if calls, err := storetest.Open(t, storage).RecentRequests(ctx, owner, "app_y"); err != nil || len(calls) != 2 || calls[0].Path != "/last" {
			t.Errorf("%+v (%v)", calls, err)
		}
	})
}

func TestOldestFirstAndNeighbors(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		var ids []string
		for i := range 7 {
			r, err := submit(s, p, i)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		for _, filter := range []store.ResponseFilter{{Oldest: true}, {Oldest: true, Version: 1}} {
			for offset, want := range map[int64][]string{0: ids[:3], 3: ids[3:6], 6: ids[6:], 7: nil} {
				list, total, err := s.Responses(ctx, owner, p.ID, filter, store.Page{Limit: 3, Offset: offset})
				if err != nil || total != 7 || len(list) != len(want) {
					t.Fatalf("%d of %d from %d (%v)", len(list), total, offset, err)
				}
				for i, r := range list {
					if r.ID != want[i] {
						t.Errorf("from %d: %s at %d", offset, r.ID, i)
					}
				}
			}
		}
		r, err := s.Response(ctx, owner, p.ID, ids[3])
		if err != nil {
			t.Fatal(err)
		}
		newer, older, err := s.Neighbors(ctx, owner, r)
		if err != nil || newer != ids[4] || older != ids[2] {
			t.Errorf("neighbors of %s: %s and %s (%v)", r.ID, newer, older, err)
		}
		days, err := s.FormActivity(ctx, owner, []string{p.ID})
		if a := days[p.ID]; err != nil || a.Days[time.Now().UTC().Format(time.DateOnly)]+a.Days[time.Now().UTC().Add(-time.Minute).Format(time.DateOnly)] < 7 || a.Last.IsZero() {
			t.Errorf("%+v (%v)", a, err)
		}
	})
}
