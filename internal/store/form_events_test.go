package store_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// feedIDs reads the whole feed in small pages.
func feedIDs(t *testing.T, s *store.Store, owner, formID string, filter store.ResponseFilter, after string) (ids []string, next string) {
	t.Helper()
	for {
		page, err := s.Feed(ctx, owner, formID, filter, store.FeedPage{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Responses {
			ids = append(ids, r.ID)
		}
		if after = page.Next; !page.More {
			return ids, after
		}
	}
}

// A reader of the feed also gets the responses that are restored after it has passed their
// IDs, and a new reader gets each of them once.
func TestFeedHasRestoredResponses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		var ids []string
		add := func() {
			t.Helper()
			r, err := submit(s, f, len(ids))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		for range 6 {
			add()
		}
		trash := func(which ...string) {
			t.Helper()
			if n, err := s.DeleteResponsesWithUndo(ctx, owner, f.ID, which, time.Now()); err != nil || int(n) != len(which) {
				t.Fatal(n, err)
			}
		}
		restore := func(which ...string) {
			t.Helper()
			if n, err := s.RestoreResponses(ctx, owner, f.ID, which, time.Now()); err != nil || int(n) != len(which) {
				t.Fatal(n, err)
			}
		}
		is := func(name string, got []string, want ...string) {
			t.Helper()
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s:\n%v, want\n%v", name, got, want)
			}
		}
		trash(ids[1], ids[2])
		seen, cursor := feedIDs(t, s, owner, f.ID, store.ResponseFilter{}, "")
		is("without the deleted", seen, ids[0], ids[3], ids[4], ids[5])
		restore(ids[2], ids[1])
		add()
		rest, end := feedIDs(t, s, owner, f.ID, store.ResponseFilter{}, cursor)
		is("restored", rest, ids[2], ids[1], ids[6])
		all, _ := feedIDs(t, s, owner, f.ID, store.ResponseFilter{}, "")
		is("all of them", all, ids[0], ids[3], ids[4], ids[5], ids[2], ids[1], ids[6])
		found, _ := feedIDs(t, s, owner, f.ID, store.ResponseFilter{Version: 1}, "")
		is("with a filter", found, all...)

		trash(ids[2])
		restore(ids[2])
		rest, _ = feedIDs(t, s, owner, f.ID, store.ResponseFilter{}, end)
		is("restored again", rest, ids[2])
		all, _ = feedIDs(t, s, owner, f.ID, store.ResponseFilter{}, "")
		is("each once", all, ids[0], ids[3], ids[4], ids[5], ids[1], ids[6], ids[2])
		newest, _, err := s.Responses(ctx, owner, f.ID, store.ResponseFilter{Oldest: true}, store.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var pages []string
		for _, r := range newest {
			pages = append(pages, r.ID)
		}
		is("pages keep the order of submission", pages, ids...)
	})
}
