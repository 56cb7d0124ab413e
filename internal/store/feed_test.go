package store_test

import (
	"errors"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Pages of the feed and chunks of an export are limited in bytes: with large responses,
// both still return each response once, in order.
func TestFeedIsBoundedInBytes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		const n, length = 50, 200_000
		var want []string
		for range n {
			r, err := addText(t, s, f, strings.Repeat("x", length))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, r.ID)
		}
		var got []string
		pages := 0
		for after, more := "", true; more; pages++ {
			page, err := s.Feed(ctx, owner, f.ID, store.ResponseFilter{}, store.FeedPage{After: after, Limit: 1000})
			list := page.Responses
			if err != nil || len(list) == 0 {
				t.Fatalf("after %d: %d responses, %v", len(got), len(list), err)
			}
			if len(list)*length > 5<<20 {
				t.Errorf("a page of %d responses", len(list))
			}
			more, after = page.More, page.Next
			for _, r := range list {
				got = append(got, r.ID)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || pages < 2 {
			t.Errorf("%d pages have %d of %d responses, or the order is wrong", pages, len(got), n)
		}
		for name, filter := range map[string]store.ResponseFilter{"newest": {}, "oldest": {Oldest: true}, "search": {Search: "xx"}} {
			if list, total, err := s.Responses(ctx, owner, f.ID, filter, store.Page{Limit: 25}); err != nil || len(list) != 25 || total != n {
				t.Errorf("%s: a page has %d of %d, %v", name, len(list), total, err)
			}
			if _, _, err := s.Responses(ctx, owner, f.ID, filter, store.Page{Limit: n}); !errors.Is(err, store.ErrPageTooLarge) {
				t.Errorf("%s: a page of 10 MB: %v", name, err)
			}
		}
		var exported []string
		if err := s.StreamResponses(ctx, owner, f.ID, store.ResponseFilter{}, func(r form.Response) error {
			exported = append(exported, r.ID)
			return nil
		}); err != nil || strings.Join(exported, " ") != strings.Join(want, " ") {
			t.Errorf("exported %d of %d, or in the wrong order, %v", len(exported), n, err)
		}
	})
}
